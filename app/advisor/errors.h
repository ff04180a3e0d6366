// What is said of the model catalogue and of what the advisor measures.
#pragma once

#include "engine/api/errors.h"

namespace fovea::phrases {

FOVEA_PHRASE(catalogue_entry, "the model catalogue, entry {number}");
FOVEA_PHRASE(whole_catalogue, "the model catalogue, the whole");
FOVEA_PHRASE(speed_measurement, "the measurement");
FOVEA_PHRASE(compared_text, "the text of the comparison");

// What an entry's key must be.
FOVEA_PHRASE(catalogue_whole, "a whole number from {min}");
FOVEA_PHRASE(catalogue_percent, "a number from 0 to 100");
FOVEA_PHRASE(catalogue_english, "an object with \"en\"");
FOVEA_PHRASE(catalogue_languages, "texts by language");
FOVEA_PHRASE(catalogue_source, "there with \"file\", or \"made_by\"");
FOVEA_PHRASE(catalogue_known_shape, "one that the planner knows");
FOVEA_PHRASE(catalogue_shape_tiers, "there with \"dense\" where a shape is");

}  // namespace fovea::phrases

namespace fovea::errors {

FOVEA_ERROR(format, catalogue_no_list, "is no JSON object with a list \"models\"", "Mend the file");
FOVEA_ERROR(format, catalogue_no_object, "is no object", "Mend the file");
FOVEA_ERROR(format, catalogue_key, "\"{key}\" must be {expected}", "Mend the file");
FOVEA_ERROR(format, catalogue_twice, "\"{id}\" is there twice", "Mend the file");
FOVEA_ERROR(cancelled, measurement_stopped, "was stopped", "");
FOVEA_ERROR(invalid, compared_text_too_short,
            "it has fewer than {needed} tokens, too few to tell a difference from chance",
            "Choose a longer text");
FOVEA_ERROR(invalid, compared_text_not_utf8, "it is not in UTF-8", "Save it in UTF-8, or choose another one");
FOVEA_ERROR(invalid, compared_otherwise,
            "{first} tokens were scored with one setting and {second} with the other",
            "Choose two settings with the same context");
FOVEA_ERROR(unsupported, comparison_of_lowered_layers,
            "its policy lowers layers while it answers, of which reading a text shows nothing",
            "Open it with another policy, or as its file has it");
FOVEA_ERROR(unsupported, only_size_known, "only its size is known before it is here", "");

}  // namespace fovea::errors
