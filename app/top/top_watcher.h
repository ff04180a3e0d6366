// Stays with what is watched: looks for it, waits for it where it is not there (any more), and tells what it
// shows.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/server/experts.h"
#include "app/server/experts_client.h"

namespace fovea::app {

struct TopSource {
  std::optional<ExpertsAddress> address = {};  // none: the newest chat of this user, else the usual server
  std::filesystem::path doors = {};            // where chats are looked for
  std::string key = {};                        // of a server
};

// What can be watched on this machine, the newest first.
std::vector<ExpertsAddress> watchable(const std::filesystem::path& doors);

class TopWatcher {
 public:
  using Clock = std::chrono::steady_clock;

  explicit TopWatcher(TopSource source) : source_(std::move(source)) {}

  // What to wait for: a socket (−1: none), to be read or written, and for how long at most.
  int descriptor() const { return client_ ? client_->descriptor() : -1; }
  bool is_asking() const { return client_ && client_->is_asking(); }
  std::chrono::milliseconds patience(Clock::time_point now) const;

  // `is_ready`: its socket is. What was told meanwhile; an error is one that waiting does not mend.
  Result<std::vector<ExpertsEvent>> go_on(Clock::time_point now, bool is_ready);

  bool is_there() const { return is_there_; }
  const std::string& shown() const { return shown_; }  // what is watched, for people; empty: nothing
  const std::string& note() const { return note_; }    // what is waited for
  std::size_t others() const { return others_; }       // that could be watched, too

 private:
  Result<void> look(Clock::time_point now);
  Result<void> lose(Error error, Clock::time_point now);

  TopSource source_;
  std::optional<ExpertsClient> client_;
  bool is_there_ = false;
  std::string shown_, note_;
  std::size_t others_ = 0;
  Clock::time_point try_at_ = {}, heard_at_ = {};
};

}  // namespace fovea::app
