// An answer of a server that goes on for ever: HTTP, then events. Without a socket, so that any bytes can be
// tried.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/api/error.h"

namespace fovea::app {

// Of one event; a server that sends more is none of ours.
inline constexpr std::size_t max_event_bytes = 16 << 20;

class EventStream {
 public:
  EventStream();
  ~EventStream();
  EventStream(EventStream&&) noexcept;
  EventStream& operator=(EventStream&&) noexcept;

  // What the bytes finish: the data of events, in their order. An error is the last that is heard: the answer
  // is a refusal (server_wants_key, server_not_watched …) or no such stream (server_no_events).
  Result<std::vector<std::string>> read(std::string_view bytes);
  bool is_open() const;    // the head was read, and says that events follow
  bool has_begun() const;  // something was read
  bool has_ended() const;  // as the server wanted it

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace fovea::app
