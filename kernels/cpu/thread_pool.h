// Threads that share the chunks of one loop at a time: the program's one way to run a loop in parallel, from
// the kernels' loops of microseconds to reading a model's file.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <limits>
#include <thread>
#include <type_traits>
#include <vector>

namespace fovea::kernels::cpu {

// For a thread that waits for what another one is doing: a pause, and from some round on the processor is
// left to others.
void wait_a_little(int round);

// What a thread does that has nothing to do for a moment.
enum class Waiting : std::uint8_t {
  spinning,  // the next loop comes within microseconds: spins for a while, then sleeps
  sleeping,  // leaves the processor to others at once, and so does the caller until the last chunk is done
};

// One thread at a time may call for_chunks; its body must not call it again.
class ThreadPool {
 public:
  // `threads` includes the calling thread. Threads that the system refuses to start are done without. They
  // are called `name`-1, …: 15 characters at most.
  explicit ThreadPool(int threads, Waiting waiting = Waiting::spinning, const char* name = "kernel");
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // body(begin, end, thread) for consecutive chunks of at most `grain` of [0, count), in any order, on any of
  // the first `max_threads` threads (numbered from 0, the caller's). Returns when every chunk is done. The
  // first exception that leaves a body is thrown again here.
  template <typename Body>
  void for_chunks(std::int64_t count, std::int64_t grain, Body&& body,
                  int max_threads = std::numeric_limits<int>::max()) {
    using Plain = std::remove_reference_t<Body>;
    run(
        count, grain, max_threads,
        [](void* context, std::int64_t begin, std::int64_t end, int thread) {
          (*static_cast<Plain*>(context))(begin, end, thread);
        },
        const_cast<void*>(static_cast<const void*>(&body)));
  }

 private:
  using Function = void (*)(void*, std::int64_t, std::int64_t, int);

  void run(std::int64_t count, std::int64_t grain, int max_threads, Function, void* context);
  void work(std::uint64_t epoch, int thread);
  void worker(int thread);
  void wait_for(std::uint32_t chunks);

  const Waiting waiting_;

  // The loop in progress. A worker that comes late may read these while the next loop is being published:
  // the claim on ticket_ tells it that what it read is void.
  std::atomic<Function> function_ = nullptr;
  std::atomic<void*> context_ = nullptr;
  std::atomic<std::int64_t> count_ = 0;
  std::atomic<std::int64_t> grain_ = 1;
  std::atomic<int> max_threads_ = 1;

  // High 32 bits: the loop's number; low 32 bits: the next chunk to claim.
  alignas(64) std::atomic<std::uint64_t> ticket_ = 0;
  alignas(64) std::atomic<std::uint32_t> chunks_done_ = 0;
  alignas(64) std::atomic<std::uint32_t> wake_ = 0;  // changes with each loop; sleepers wait on it
  std::atomic<int> sleepers_ = 0;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> busy_ = false;
  std::atomic<bool> failed_ = false;
  std::exception_ptr error_;  // of the first that set failed_; read when every chunk is done
  std::vector<std::thread> workers_;
};

}  // namespace fovea::kernels::cpu
