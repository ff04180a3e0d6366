// Threads that work off a bounded queue, first come, first served.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "app/server/http.h"

namespace fovea::app {

class WorkLane {
 public:
  explicit WorkLane(const LaneSettings& settings);
  // What waits is dropped, what runs is waited for.
  ~WorkLane();
  WorkLane(const WorkLane&) = delete;
  WorkLane& operator=(const WorkLane&) = delete;

  using Job = std::function<void()>;
  // False: all threads are busy, and as many wait as may.
  bool push(Job job);
  std::size_t waiting() const;

 private:
  void loop(const std::stop_token& stop);

  const std::size_t limit_;
  mutable std::mutex mutex_;
  std::condition_variable_any has_work_;
  std::deque<Job> jobs_;  // guarded by mutex_
  std::size_t idle_ = 0;  // guarded by mutex_: threads that wait for a job
  std::vector<std::jthread> threads_;
};

}  // namespace fovea::app
