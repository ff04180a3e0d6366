// What is said of open files, the log and devices.
#pragma once

#include "engine/api/errors.h"

namespace fovea::phrases {

// advice.h
FOVEA_PHRASE(damaged_or_cut_off, "The file is damaged or cut off: download it again");
FOVEA_PHRASE(choose_another_model, "Choose another model, or another version of this one");

// atomic_file.cpp

// Where a device failed, and what to do.
FOVEA_PHRASE(device_case_place, "{device}, {test}");
FOVEA_PHRASE(start_again_and_test_the_device,
             "Restart Fovea; fovea selftest tells you whether the device computes correctly");
FOVEA_PHRASE(conversation_is_kept, "The conversation is kept; restart Fovea to continue it");

// device_words.cpp: what a device was doing.
FOVEA_PHRASE(choosing_the_device, "choosing the device");
FOVEA_PHRASE(asking_for_properties, "asking for the device's properties");
FOVEA_PHRASE(asking_for_free_memory, "asking for free memory");
FOVEA_PHRASE(asking_for_priorities, "asking for stream priorities");
FOVEA_PHRASE(making_a_stream, "making a stream");
FOVEA_PHRASE(making_an_event, "making an event");
FOVEA_PHRASE(recording_an_event, "recording an event");
FOVEA_PHRASE(clearing_memory, "clearing memory");
FOVEA_PHRASE(releasing_memory, "releasing memory");
FOVEA_PHRASE(releasing_pinned_memory, "releasing pinned memory");
FOVEA_PHRASE(copying_to_the_device, "copying to the device");
FOVEA_PHRASE(copying_from_the_device, "copying from the device");
FOVEA_PHRASE(copying_on_the_device, "copying on the device");
FOVEA_PHRASE(starting_a_kernel, "starting a kernel");
FOVEA_PHRASE(running_kernels, "running kernels");
FOVEA_PHRASE(beginning_a_capture, "beginning a capture");
FOVEA_PHRASE(starting_a_graph, "starting a graph");
FOVEA_PHRASE(starting_cublas, "starting cuBLAS");
FOVEA_PHRASE(giving_cublas_its_stream, "giving cuBLAS its stream");
FOVEA_PHRASE(giving_cublas_memory, "giving cuBLAS memory");
FOVEA_PHRASE(telling_cublas_how_to_add, "telling cuBLAS how to add");
FOVEA_PHRASE(multiplying_with_cublas, "multiplying with cuBLAS");

// device_words.cpp: how it failed.
FOVEA_PHRASE(driver_call_failed, "{action} failed: {said}");
FOVEA_PHRASE(cublas_call_failed, "{action} failed: {said} ({library}; FOVEA_CUBLAS=off does without it)");
FOVEA_PHRASE(device_hangs,
             "the device did not finish within {seconds} s; the last kernel that it was given was {kernel}");
FOVEA_PHRASE(emulation_failed, "{said}");

// device_words.cpp: why GPUs, one of them or cuBLAS cannot be used.
FOVEA_PHRASE(gpus_on_linux_only, "GPUs are used on Linux only");
FOVEA_PHRASE(no_nvidia_driver, "there is no NVIDIA driver here");
FOVEA_PHRASE(no_nvidia_driver_said, "there is no NVIDIA driver here ({said})");
FOVEA_PHRASE(nvidia_driver_silent, "the NVIDIA driver cannot be asked for its version: {said}");
FOVEA_PHRASE(nvidia_driver_old,
             "the NVIDIA driver is too old: it knows CUDA {known}, this program needs {needed}, which comes "
             "with driver {driver}");
FOVEA_PHRASE(no_gpu_module,
             "this program was built without its GPU module (it would be one of {files}); build it again on "
             "a machine with nvcc, see README.md");
FOVEA_PHRASE(gpu_module_not_loaded, "the GPU module cannot be loaded: {said}");
FOVEA_PHRASE(gpu_module_foreign, "{file} is not a Fovea module");
FOVEA_PHRASE(gpu_module_of_another_build,
             "{file} is from another build ({found}, expected {expected}); build or install both together");
FOVEA_PHRASE(unknown_gpu_switch, "FOVEA_CUDA_OFF names \"{word}\", which is none of pdl, graph and prefetch");
FOVEA_PHRASE(no_cublas, "{file} is not installed");
FOVEA_PHRASE(cublas_off, "FOVEA_CUBLAS says off");
FOVEA_PHRASE(cublas_not_loaded,
             "FOVEA_CUBLAS names {file}, which cannot be used ({said}): name {right}, or set it to \"off\"");
FOVEA_PHRASE(
    cublas_foreign,
    "FOVEA_CUBLAS names {file}, which is not cuBLAS from CUDA 12 or 13: name {right}, or set it to \"off\"");
FOVEA_PHRASE(no_gpu_found, "the NVIDIA driver finds no GPU: {said}");
FOVEA_PHRASE(no_gpu_listed, "the NVIDIA driver lists no GPU");
FOVEA_PHRASE(gpu_architecture, "its architecture is {architecture}, this build has {built} and later ones");

// device_words.cpp: what multiplies matrices of BF16.
FOVEA_PHRASE(products_by_library, "{library}");
FOVEA_PHRASE(products_by_own_kernels, "Fovea's own kernels, since {obstacle}");

}  // namespace fovea::phrases

namespace fovea::errors {

// atomic_file.cpp
FOVEA_ERROR(io, writing_failed, "writing failed: {said}", "Check the free space of the disk");

// file_descriptor.cpp
FOVEA_ERROR(format, read_cut_off, "the file was cut off while it was being read",
            "Find out what else writes it");
FOVEA_ERROR(io, reading_failed, "cannot read: {said}", "Check the disk");

// log.cpp
FOVEA_ERROR(io, log_not_opened, "the log cannot be opened: {said}",
            "Check that the folder exists and can be written to");

// A device failed, has no memory left, or is not to be had.
FOVEA_ERROR(device, device_failed, "{failure}", "");
FOVEA_ERROR(memory, no_memory_for_stream, "the device has no memory for a stream",
            "Close other programs that use it");
FOVEA_ERROR(not_found, unknown_instruction_set, "this processor cannot run \"{name}\"",
            "Choose one of: {available}");

}  // namespace fovea::errors
