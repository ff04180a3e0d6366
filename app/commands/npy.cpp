#include "app/commands/npy.h"

#include <bit>

namespace fovea::app {

std::string npy_header(std::int64_t rows, std::int64_t columns) {
  static_assert(std::endian::native == std::endian::little);
  constexpr std::size_t preamble = 10;   // magic, version, length
  constexpr std::size_t alignment = 64;  // of the values
  std::string dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(rows) +
                           ", " + std::to_string(columns) + "), }";
  const std::size_t used = preamble + dictionary.size() + 1;
  dictionary.append((alignment - used % alignment) % alignment, ' ');
  dictionary += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(dictionary.size() & 0xFF);
  header += static_cast<char>(dictionary.size() >> 8);
  return header + dictionary;
}

}  // namespace fovea::app
