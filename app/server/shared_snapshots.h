// One engine's snapshots for several that look, each on its own thread: the engine gives each but once.
#pragma once

#include <cstdint>
#include <mutex>

#include "engine/api/engine.h"

namespace fovea::app {

class SharedSnapshots {
 public:
  // The last one, where it is another than `seen`, which becomes its number. Null: no engine any more.
  bool read(Engine* engine, Snapshot& snapshot, std::uint64_t& seen) {
    const std::scoped_lock lock(mutex_);
    if (engine != nullptr && engine->read_snapshot(last_)) ++number_;
    if (number_ == seen) return false;
    seen = number_;
    snapshot = last_;
    return true;
  }

 private:
  std::mutex mutex_;
  Snapshot last_;             // guarded by mutex_
  std::uint64_t number_ = 0;  // guarded by mutex_
};

}  // namespace fovea::app
