// What is said of the settings' file.
#pragma once

#include "engine/api/errors.h"

namespace fovea::phrases {

FOVEA_PHRASE(check_the_folder, "Check the permissions of the folder");

// What is wrong with the whole file.
FOVEA_PHRASE(settings_no_object, "is not a JSON object");
FOVEA_PHRASE(settings_no_json, "is not valid JSON (line {line})");

// What a setting must be.
FOVEA_PHRASE(setting_language, "a language's code, or empty for the system's");
FOVEA_PHRASE(setting_theme, "system, light or dark");
FOVEA_PHRASE(setting_whole_from_to, "a whole number from {min} to {max}");
FOVEA_PHRASE(setting_send_key, "enter or control_enter");
FOVEA_PHRASE(setting_folders, "a list of folders");
FOVEA_PHRASE(setting_paths, "a list of paths");
FOVEA_PHRASE(setting_setups, "a list of setups, each with its model's path");
FOVEA_PHRASE(setting_device, "a device that fovea devices lists, or empty for automatic");
FOVEA_PHRASE(setting_number_or_automatic, "a number, 0 for automatic");
FOVEA_PHRASE(setting_whole_or_automatic, "a whole number, 0 for automatic");
FOVEA_PHRASE(setting_number_or_null, "a number of 0 or more, or null");
FOVEA_PHRASE(setting_share_or_null, "a number from 0 to 1, or null");
FOVEA_PHRASE(setting_whole_or_null, "a whole number of 0 or more, or null");
FOVEA_PHRASE(setting_named_texts, "a list of texts, each with a name");
FOVEA_PHRASE(setting_group, "a group of settings");

// Notices.
FOVEA_PHRASE(setting_unusable,
             "The setting {setting} is {value}, which is not {expected}. The default is used instead.");
FOVEA_PHRASE(long_list, "a list of {count} values");
FOVEA_PHRASE(long_object, "an object of {count} values");
FOVEA_PHRASE(long_text, "a long text");
FOVEA_PHRASE(settings_set_aside,
             "The settings could not be read: {file} {why}. The file is kept as {aside}, and the default "
             "settings are used.");

}  // namespace fovea::phrases

namespace fovea::errors {

FOVEA_ERROR(io, settings_locked, "another Fovea has it locked", "Close the other one");
FOVEA_ERROR(io, settings_not_renamed, "{why}, and it cannot be renamed: {said}",
            "Check the permissions of the folder");

}  // namespace fovea::errors
