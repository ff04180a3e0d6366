// What is said of the model library: names, files, devices and the user's folders.
#pragma once

#include "engine/api/errors.h"

namespace fovea::phrases {

// device_choice.cpp
FOVEA_PHRASE(described_device_place, "device {device} ({description})");

// sampling_defaults.cpp: where they come from
FOVEA_PHRASE(sampling_of_the_model, "the model's generation_config.json");
FOVEA_PHRASE(sampling_for_small_models, "for small models");
FOVEA_PHRASE(sampling_general, "general");

// What to do.
FOVEA_PHRASE(library_demo_help, "See how the demo model is built: fovea demo-model --help");
FOVEA_PHRASE(library_failing_disk, "The disk may be failing: copy or download the file again");

}  // namespace fovea::phrases

namespace fovea::errors {

// model_library.cpp
FOVEA_ERROR(invalid, library_empty_name, "is empty", "Give a file, a folder or a name");
FOVEA_ERROR(io, library_no_access, "cannot be accessed: {said}",
            "Give yourself permission to read its folder, or name another");
FOVEA_ERROR(not_found, library_no_such_path, "there is no such file or folder",
            "Check the path, or give a name from the model library without a slash");
FOVEA_ERROR(invalid, library_ambiguous_name, "could be any of {paths}",
            "Write the path of the one you mean, with a slash");
FOVEA_ERROR(not_found, library_no_such_name,
            "there is no such file, folder or name; the model library has {names}",
            "Give a path, or put the model into {folder}");
FOVEA_ERROR(not_found, library_nothing_there,
            "there is no such file, folder or name; the model library {folder} is empty",
            "Give a path, or put the model into {folder}");

// model_files.cpp, model_worker.cpp
FOVEA_ERROR(format, library_wrong_checksum, "the content is not what the hub has: its checksum differs",
            "Delete the model and download it again");
FOVEA_ERROR(io, library_no_trash, "cannot be moved to the trash",
            "The disk may have no trash: delete the file in the file manager");
FOVEA_ERROR(invalid, library_empty_text, "the text is empty", "Choose a text of a few thousand words");
FOVEA_ERROR(cancelled, library_stopped_early, "it was stopped before it began", "");

// device_choice.cpp
FOVEA_ERROR(not_found, chosen_device_gone, "it is not available now",
            "Choose another device in the settings");
FOVEA_ERROR(not_found, chosen_device_replaced, "another card has this name now: {card}",
            "Choose another device in the settings");
FOVEA_ERROR(unsupported, chosen_device_unusable, "it cannot be used: {why}",
            "Choose another device in the settings");

}  // namespace fovea::errors
