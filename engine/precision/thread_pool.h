// A few threads for one list of tasks after the other, while the caller works with them and waits for the
// last. They start with the first run and sleep between runs.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace fovea::precision {

// One thread at a time may call run.
class ThreadPool {
 public:
  explicit ThreadPool(std::int32_t size) : size_(size) {}  // threads; the caller's is one of them
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // body(index, worker) for each index of [0, count), by at most `workers` threads, numbered from 0; returns
  // when all are done. The body must not throw.
  using Body = std::function<void(std::int64_t index, std::int32_t worker)>;
  void run(std::int64_t count, std::int32_t workers, const Body& body);

 private:
  void start();
  void loop(const std::stop_token& stop, std::int32_t worker);
  void work(std::unique_lock<std::mutex>& lock, std::int32_t worker);

  const std::int32_t size_;
  std::mutex mutex_;
  std::condition_variable_any changed_;  // there is work
  std::condition_variable done_;         // the last of it has ended
  // Guarded by mutex_.
  const Body* body_ = nullptr;
  std::int64_t next_ = 0, count_ = 0, running_ = 0;
  std::int32_t workers_ = 0;
  std::vector<std::jthread> threads_;  // last; the caller's own
};

}  // namespace fovea::precision
