// The keys of `fovea top`, from the bytes that a terminal sends for them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::app {

enum class TopKey : std::uint8_t { leave, back, help, hold, sort, layer, up, down, details, suspend };

class TopKeys {
 public:
  // Others than these are passed over. A sequence may come in pieces.
  std::vector<TopKey> read(std::string_view bytes);
  // Nothing came for a moment: an Escape that waits for more was the key.
  std::vector<TopKey> pause();
  bool is_within_sequence() const { return !unread_.empty(); }

 private:
  std::string unread_;  // what begins with an Escape
};

}  // namespace fovea::app
