// NumPy's array file, version 1.0: float32, little endian, rows first.
#pragma once

#include <cstdint>
#include <string>

namespace fovea::app {

// What stands before the values of an array of shape [rows, columns].
std::string npy_header(std::int64_t rows, std::int64_t columns);

}  // namespace fovea::app
