// Threads that share the chunks of one loop at a time. They spin briefly for the next loop, then sleep.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

namespace fovea::kernels::cpu {

// For a thread that waits for what another one is doing: a pause, and from some round on the processor is
// left to others.
void wait_a_little(int round);

// One thread at a time may call for_chunks; its body must not call it again and must not throw.
class ThreadPool {
 public:
  // `threads` includes the calling thread. Threads that the system refuses to start are done without.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // body(begin, end, thread) for consecutive chunks of at most `grain` of [0, count), in any order, on any of
  // the threads (numbered from 0, the caller's). Returns when every chunk is done.
  template <typename Body>
  void for_chunks(std::int64_t count, std::int64_t grain, Body&& body) {
    using Plain = std::remove_reference_t<Body>;
    run(
        count, grain,
        [](void* context, std::int64_t begin, std::int64_t end, int thread) {
          (*static_cast<Plain*>(context))(begin, end, thread);
        },
        const_cast<void*>(static_cast<const void*>(&body)));
  }

 private:
  using Function = void (*)(void*, std::int64_t, std::int64_t, int);

  void run(std::int64_t count, std::int64_t grain, Function, void* context);
  void work(std::uint64_t epoch, int thread);
  void worker(int thread);

  // The loop in progress. A worker that comes late may read these while the next loop is being published:
  // the claim on ticket_ tells it that what it read is void.
  std::atomic<Function> function_ = nullptr;
  std::atomic<void*> context_ = nullptr;
  std::atomic<std::int64_t> count_ = 0;
  std::atomic<std::int64_t> grain_ = 1;

  // High 32 bits: the loop's number; low 32 bits: the next chunk to claim.
  alignas(64) std::atomic<std::uint64_t> ticket_ = 0;
  alignas(64) std::atomic<std::uint32_t> chunks_done_ = 0;
  alignas(64) std::atomic<std::uint32_t> wake_ = 0;  // changes with each loop; sleepers wait on it
  std::atomic<int> sleepers_ = 0;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> busy_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace fovea::kernels::cpu
