// UTF-8: decoding of valid text, and the replacement of what is not valid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fovea::text {

// The code point at `at` of valid UTF-8; `at` moves behind it.
inline char32_t next_code_point(const char*& at) {
  const auto byte = [&](int i) { return static_cast<char32_t>(static_cast<unsigned char>(at[i])); };
  const char32_t first = byte(0);
  if (first < 0x80) {
    ++at;
    return first;
  }
  if (first < 0xE0) {
    const char32_t c = ((first & 0x1F) << 6) | (byte(1) & 0x3F);
    at += 2;
    return c;
  }
  if (first < 0xF0) {
    const char32_t c = ((first & 0x0F) << 12) | ((byte(1) & 0x3F) << 6) | (byte(2) & 0x3F);
    at += 3;
    return c;
  }
  const char32_t c =
      ((first & 0x07) << 18) | ((byte(1) & 0x3F) << 12) | ((byte(2) & 0x3F) << 6) | (byte(3) & 0x3F);
  at += 4;
  return c;
}

// Of valid UTF-8.
template <class Function>
void for_each_code_point(std::string_view text, Function function) {
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at < end;) function(next_code_point(at));
}

// The code point that ends before `at`; `at` moves to its first byte. There must be one.
inline char32_t previous_code_point(const char*& at) {
  do --at;
  while ((static_cast<unsigned char>(*at) & 0xC0) == 0x80);
  const char* copy = at;
  return next_code_point(copy);
}

void append_utf8(std::string& out, char32_t c);
inline std::string to_utf8(char32_t c) {
  std::string out;
  append_utf8(out, c);
  return out;
}

bool is_ascii(std::string_view text);

// What begins a byte string: `bytes` of a character (valid), of an invalid sequence that one U+FFFD stands
// for (Unicode's "maximal subpart", as Rust's and Python's lossy decoders count), or of a character whose
// rest may still come (unfinished).
struct Utf8Prefix {
  enum class Kind : std::uint8_t { valid, invalid, unfinished } kind;
  std::size_t bytes;
};
Utf8Prefix utf8_prefix(std::string_view text);  // text is not empty

std::size_t valid_utf8_prefix(std::string_view text);  // bytes
// Every invalid sequence becomes U+FFFD.
std::string replace_invalid_utf8(std::string_view text);

}  // namespace fovea::text
