// SentencePiece's precompiled character map: a double-array trie from byte strings to their replacements.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/api/error.h"

namespace fovea::text {

class CharacterMap {
 public:
  // `bytes`: the trie's size in bytes (u32, little-endian), the trie's units (u32), then the replacements,
  // each ended by a zero byte.
  static Result<CharacterMap> parse(std::string_view bytes, const Phrase& where);

  struct Found {
    std::size_t bytes;  // of the text that is replaced
    std::string_view replacement;
  };
  // The shortest or the longest key that `text` begins with.
  std::optional<Found> shortest(std::string_view text) const;
  std::optional<Found> longest(std::string_view text) const;

 private:
  template <bool Longest>
  std::optional<Found> find(std::string_view text) const;

  struct Tables {
    std::vector<std::uint32_t> units;
    std::string replacements;  // valid UTF-8
  };
  std::shared_ptr<const Tables> tables_;  // shared by copies of the step
};

}  // namespace fovea::text
