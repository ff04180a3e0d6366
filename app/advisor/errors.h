// What is said of the model catalogue and of what the advisor measures.
#pragma once

#include "engine/api/errors.h"

namespace fovea::phrases {

FOVEA_PHRASE(catalogue_entry, "the model catalogue, entry {number}");
FOVEA_PHRASE(whole_catalogue, "the whole model catalogue");
FOVEA_PHRASE(speed_measurement, "the measurement");
FOVEA_PHRASE(compared_text, "the text of the comparison");

// What an entry's key must be.
FOVEA_PHRASE(catalogue_whole, "a whole number of at least {min}");
FOVEA_PHRASE(catalogue_percent, "a number from 0 to 100");
FOVEA_PHRASE(catalogue_english, "an object with \"en\"");
FOVEA_PHRASE(catalogue_languages, "texts by language");
FOVEA_PHRASE(catalogue_source, "present with \"file\", or replaced by \"made_by\"");
FOVEA_PHRASE(catalogue_known_shape, "one that the planner knows");
FOVEA_PHRASE(catalogue_shape_tiers, "present with \"dense\" where there is a shape");

}  // namespace fovea::phrases

namespace fovea::errors {

FOVEA_ERROR(format, catalogue_no_list, "is not a JSON object with a list \"models\"", "Repair the file");
FOVEA_ERROR(format, catalogue_no_object, "is not an object", "Repair the file");
FOVEA_ERROR(format, catalogue_key, "\"{key}\" must be {expected}", "Repair the file");
FOVEA_ERROR(format, catalogue_twice, "\"{id}\" appears twice", "Repair the file");
FOVEA_ERROR(cancelled, measurement_stopped, "was stopped", "");
FOVEA_ERROR(invalid, compared_text_too_short,
            "it has fewer than {needed} tokens, too few to tell a difference from chance",
            "Choose a longer text");
FOVEA_ERROR(invalid, compared_text_not_utf8, "it is not UTF-8", "Save it as UTF-8, or choose another one");
FOVEA_ERROR(invalid, compared_otherwise,
            "{first} tokens were scored with one setting and {second} with the other",
            "Choose two settings with the same context");
FOVEA_ERROR(unsupported, comparison_of_lowered_layers,
            "its policy lowers layers while it answers, which reading a text cannot show",
            "Open it with another policy, or at its file's precision");
FOVEA_ERROR(unsupported, only_size_known, "only its size is known until it is here", "");

}  // namespace fovea::errors
