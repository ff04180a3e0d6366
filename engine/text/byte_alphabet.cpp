// GPT-2 spells bytes as printable characters: printable ones as themselves, the others from U+0100 upwards.
#include <array>

#include "engine/text/bpe.h"
#include "engine/text/utf8.h"

namespace fovea::text {
namespace {

constexpr bool stands_for_itself(int byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || (byte >= 0xAE && byte <= 0xFF);
}

constexpr std::array<char32_t, 256> make_alphabet() {
  std::array<char32_t, 256> alphabet{};
  char32_t next = 0x100;
  for (int byte = 0; byte < 256; ++byte)
    alphabet[static_cast<std::size_t>(byte)] = stands_for_itself(byte) ? static_cast<char32_t>(byte) : next++;
  return alphabet;
}

constexpr std::array<char32_t, 256> alphabet = make_alphabet();
constexpr std::size_t highest = 0x100 + 68;  // 68 bytes do not stand for themselves

constexpr std::array<std::int16_t, highest> make_bytes() {
  std::array<std::int16_t, highest> bytes{};
  bytes.fill(-1);
  for (int byte = 0; byte < 256; ++byte)
    bytes[alphabet[static_cast<std::size_t>(byte)]] = static_cast<std::int16_t>(byte);
  return bytes;
}

constexpr std::array<std::int16_t, highest> bytes_of = make_bytes();

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

char32_t byte_to_character(unsigned char byte) {
  return alphabet[byte];
}
int character_to_byte(char32_t c) {
  return c < highest ? bytes_of[c] : -1;
}

std::string to_byte_alphabet(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char byte : bytes) append_utf8(text, alphabet[static_cast<unsigned char>(byte)]);
  return text;
}

bool from_byte_alphabet(std::string_view text, std::string& bytes) {
  bytes.clear();
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at < end;) {
    const int byte = character_to_byte(next_code_point(at));
    if (byte < 0) return false;
    bytes += static_cast<char>(byte);
  }
  return true;
}

int byte_token(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return -1;
  const int high = hex_digit(text[3]);
  const int low = hex_digit(text[4]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

}  // namespace fovea::text
