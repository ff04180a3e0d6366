// Sizes as the command line and the errors of a full disk have them.
#pragma once

#include <cstdint>
#include <string>

namespace fovea::app {

// "18.61 GB", "512.0 MB", "77.3 kB"; in powers of ten, as file managers have it.
std::string size_text(std::int64_t bytes);

}  // namespace fovea::app
