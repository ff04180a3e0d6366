#include "engine/text/character_map.h"

#include <utility>

#include "engine/core/result.h"
#include "engine/text/errors.h"
#include "engine/text/utf8.h"

namespace fovea::text {
namespace {

// A unit of the trie: bits 0-7 and 31 its label, bit 8 whether a key ends there, bit 9 the scale of the
// offset in bits 10-30. The unit of a key's end holds the place of its replacement in bits 0-30.
bool has_leaf(std::uint32_t unit) {
  return (unit >> 8 & 1) != 0;
}
std::uint32_t label(std::uint32_t unit) {
  return unit & (1U << 31 | 0xFF);
}
std::uint32_t offset(std::uint32_t unit) {
  return (unit >> 10) << ((unit & 1U << 9) >> 6);
}
std::uint32_t value(std::uint32_t unit) {
  return unit & ~(1U << 31);
}

std::uint32_t little_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < 4; ++i)
    word |= std::uint32_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  return word;
}

}  // namespace

Result<CharacterMap> CharacterMap::parse(std::string_view bytes, const Phrase& where) {
  const std::size_t trie_bytes = bytes.size() < 4 ? 0 : little_endian(bytes, 0);
  if (bytes.size() < 8 || trie_bytes < 4 || trie_bytes % 4 != 0 || trie_bytes > bytes.size() - 4)
    return fail(where, errors::character_map_size(Bytes{static_cast<std::int64_t>(trie_bytes)},
                                                  Bytes{static_cast<std::int64_t>(bytes.size())}));
  auto tables = std::make_shared<Tables>();
  tables->units.reserve(trie_bytes / 4);
  for (std::size_t at = 4; at < 4 + trie_bytes; at += 4) tables->units.push_back(little_endian(bytes, at));
  tables->replacements = bytes.substr(4 + trie_bytes);
  if (valid_utf8_prefix(tables->replacements) != tables->replacements.size())
    return fail(where, errors::character_map_utf8());
  CharacterMap map;
  map.tables_ = std::move(tables);
  return map;
}

template <bool Longest>
std::optional<CharacterMap::Found> CharacterMap::find(std::string_view text) const {
  const auto& [units, replacements] = *tables_;
  std::optional<Found> found;
  std::size_t node = offset(units[0]);
  for (std::size_t i = 0; i < text.size() && text[i] != '\0'; ++i) {
    const std::uint32_t byte = static_cast<unsigned char>(text[i]);
    node ^= byte;
    if (node >= units.size() || label(units[node]) != byte) break;
    const bool ends = has_leaf(units[node]);
    node ^= offset(units[node]);
    if (!ends) continue;
    const std::size_t place = node < units.size() ? value(units[node]) : replacements.size();
    // A damaged map may point into the middle of a character; such an entry counts as missing.
    if (place > replacements.size() ||
        (place < replacements.size() && (static_cast<unsigned char>(replacements[place]) & 0xC0) == 0x80))
      continue;
    const std::string_view rest = std::string_view(replacements).substr(place);
    found = Found{i + 1, rest.substr(0, rest.find('\0'))};
    if (!Longest) break;
  }
  return found;
}

std::optional<CharacterMap::Found> CharacterMap::shortest(std::string_view text) const {
  return find<false>(text);
}
std::optional<CharacterMap::Found> CharacterMap::longest(std::string_view text) const {
  return find<true>(text);
}

}  // namespace fovea::text
