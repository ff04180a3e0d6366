#include "engine/precision/thread_pool.h"

#include <system_error>

#include "engine/core/thread.h"

namespace fovea::precision {

// Threads that the system refuses to start are done without.
void ThreadPool::start() {
  for (std::int32_t worker = static_cast<std::int32_t>(threads_.size()) + 1; worker < size_; ++worker) {
    try {
      threads_.emplace_back([this, worker](const std::stop_token& stop) {
        name_this_thread("disk loader");
        loop(stop, worker);
      });
    } catch (const std::system_error&) {
      return;
    }
  }
}

void ThreadPool::run(std::int64_t count, std::int32_t workers, const Body& body) {
  if (count > 1 && workers > 1 && threads_.empty()) start();
  std::unique_lock lock(mutex_);
  body_ = &body;
  next_ = 0;
  count_ = count;
  workers_ = workers;
  if (count > 1 && workers > 1) changed_.notify_all();
  work(lock, 0);
  done_.wait(lock, [this] { return running_ == 0; });
  body_ = nullptr;
}

void ThreadPool::loop(const std::stop_token& stop, std::int32_t worker) {
  std::unique_lock lock(mutex_);
  const auto has_work = [&] { return body_ != nullptr && next_ < count_ && worker < workers_; };
  while (changed_.wait(lock, stop, has_work)) work(lock, worker);
}

void ThreadPool::work(std::unique_lock<std::mutex>& lock, std::int32_t worker) {
  ++running_;
  while (next_ < count_) {
    const std::int64_t index = next_++;
    lock.unlock();
    (*body_)(index, worker);
    lock.lock();
  }
  if (--running_ == 0) done_.notify_one();
}

}  // namespace fovea::precision
