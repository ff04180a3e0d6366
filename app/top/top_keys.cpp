#include "app/top/top_keys.h"

#include <optional>
#include <utility>

namespace fovea::app {
namespace {

constexpr char escape_byte = 27, ctrl_z = 26;

std::optional<TopKey> key_of(char byte) {
  switch (byte) {
    case 'q':
    case 'Q':
      return TopKey::leave;
    case 'h':
    case '?':
      return TopKey::help;
    case ' ':
      return TopKey::hold;
    case 's':
      return TopKey::sort;
    case 'l':
    case '\r':
    case '\n':
      return TopKey::layer;
    case 'k':
      return TopKey::up;
    case 'j':
      return TopKey::down;
    case 'd':
      return TopKey::details;
    case ctrl_z:
      return TopKey::suspend;
    default:
      return std::nullopt;
  }
}

// The last byte of a sequence that is one of the arrows.
std::optional<TopKey> arrow_of(char byte) {
  if (byte == 'A' || byte == 'D') return TopKey::up;
  if (byte == 'B' || byte == 'C') return TopKey::down;
  return std::nullopt;
}

}  // namespace

std::vector<TopKey> TopKeys::read(std::string_view bytes) {
  std::vector<TopKey> keys;
  const auto add = [&keys](std::optional<TopKey> key) {
    if (key) keys.push_back(*key);
  };
  for (const char byte : bytes) {
    if (unread_.empty()) {
      byte == escape_byte ? unread_.push_back(byte) : add(key_of(byte));
    } else if (unread_.size() == 1) {
      const bool goes_on = byte == '[' || byte == 'O';
      if (goes_on) {
        unread_.push_back(byte);
        continue;
      }
      unread_.clear();
      add(TopKey::back);
      byte == escape_byte ? unread_.push_back(byte) : add(key_of(byte));
    } else if (byte >= 0x40 && byte <= 0x7E) {  // its end
      if (unread_.size() == 2) add(arrow_of(byte));
      unread_.clear();
    } else if (unread_.size() < 32) {
      unread_.push_back(byte);
    }
  }
  return keys;
}

std::vector<TopKey> TopKeys::pause() {
  const std::string unread = std::exchange(unread_, {});
  return unread.empty() ? std::vector<TopKey>() : std::vector{TopKey::back};
}

}  // namespace fovea::app
