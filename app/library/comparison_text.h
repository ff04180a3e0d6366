// A text of our own that two settings are compared on: as many kinds as calibration_text() has, and none of
// its sentences, so that a store which was calibrated with that one has no advantage here.
#pragma once

#include <string_view>

namespace fovea::app {

std::string_view comparison_text();

}  // namespace fovea::app
