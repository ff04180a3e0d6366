#include "app/server/work_lane.h"

#include <pthread.h>
#include <utility>

namespace fovea::app {

WorkLane::WorkLane(const LaneSettings& settings)
    : limit_(settings.waiting), idle_(static_cast<std::size_t>(settings.threads)) {
  for (int i = 0; i < settings.threads; ++i) {
    threads_.emplace_back([this](const std::stop_token& stop) { loop(stop); });
    pthread_setname_np(threads_.back().native_handle(), settings.name.substr(0, 15).c_str());
  }
}

WorkLane::~WorkLane() {
  for (std::jthread& thread : threads_) thread.request_stop();
  threads_.clear();
}

bool WorkLane::push(Job job) {
  {
    const std::scoped_lock lock(mutex_);
    if (jobs_.size() >= idle_ + limit_) return false;
    jobs_.push_back(std::move(job));
  }
  has_work_.notify_one();
  return true;
}

std::size_t WorkLane::waiting() const {
  const std::scoped_lock lock(mutex_);
  return jobs_.size();
}

void WorkLane::loop(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (!has_work_.wait(lock, stop, [this] { return !jobs_.empty(); }) || stop.stop_requested()) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    --idle_;
    lock.unlock();
    job();
    job = {};  // what it holds goes before the next one is waited for
    lock.lock();
    ++idle_;
  }
}

}  // namespace fovea::app
