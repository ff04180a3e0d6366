// A chat in the terminal that others may watch (app/server/experts_door.h), and its own view of the experts.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "app/server/experts_door.h"
#include "app/server/shared_snapshots.h"
#include "engine/api/engine.h"

namespace fovea::app {

class WatchedChat {
 public:
  // Has a door where there are experts to watch. That there can be none is told in the log: the chat goes on.
  explicit WatchedChat(Engine& engine);

  void question() { ++questions_; }  // one is asked now
  // For one who looks; each has the newest snapshot once.
  std::function<bool(Snapshot&)> reader();

 private:
  Engine& engine_;
  SharedSnapshots snapshots_;
  std::atomic<std::int64_t> questions_ = 0;
  std::unique_ptr<ExpertsDoor> door_;  // goes first: its thread uses the others
};

}  // namespace fovea::app
