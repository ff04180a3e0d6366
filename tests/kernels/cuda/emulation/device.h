// A device whose kernels run on the host, one thread after the other, and are watched while they do
// (block.h). Its memory is out of the host's reach, what is given to a stream is done later: a program that
// works on it without being stopped treats a GPU's memory and streams rightly.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "kernels/api/device.h"
#include "tests/kernels/cuda/emulation/block.h"

namespace fovea::kernels::cuda::emulation {

struct EmulationOptions {
  std::uint64_t seed = 1;   // of the order in which blocks, threads and streams get on
  int multiprocessors = 4;  // small, so that small tests divide their work as large ones do on a GPU
  std::int64_t scratch_bytes = std::int64_t{32} << 20;
  std::int64_t memory_bytes = std::int64_t{1} << 40;  // more than this cannot be allocated
  bool captures = true;                               // whether its streams do
  // Told what a kernel did wrong, once for each launch, and what may not be done during a capture. Null: it
  // is printed and the program aborts.
  std::function<void(const std::string&)> on_error = nullptr;
  // Where given, kernels are not run, but told to it.
  std::function<void(const Launch&)> on_launch = nullptr;
};

std::unique_ptr<Device> emulated_device(EmulationOptions = {});

// How many kernels an emulated device has run.
std::int64_t kernels_run(const Device&);

}  // namespace fovea::kernels::cuda::emulation
