// What fuzz targets share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

#include "engine/api/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

// A property that must hold for every input. Unlike assert(), it is there in every build.
#define fuzz_check(condition)                                                                 \
  do {                                                                                        \
    if (!(condition)) {                                                                       \
      std::fprintf(stderr, "fuzz_check failed: %s:%d: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                           \
    }                                                                                         \
  } while (false)

namespace fovea::fuzz {

inline std::span<const std::byte> bytes_of(const std::uint8_t* data, std::size_t size) {
  return std::as_bytes(std::span(data, size));
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// An error from reading a file: never a bug, always with a place, words and what to do.
inline void check_error(const Error& error) {
  fuzz_check(error.kind != ErrorKind::internal);
  fuzz_check(!error.where.empty());
  fuzz_check(!error.what.empty());
  fuzz_check(error.has_advice());
  fuzz_check(error.message().size() < 4096);
}

}  // namespace fovea::fuzz
