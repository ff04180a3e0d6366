#include "kernels/cpu/thread_pool.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <string>
#include <system_error>
#include <utility>

#if defined(__linux__)
#include <pthread.h>
#endif
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace fovea::kernels::cpu {
namespace {

// Longer than the serial parts between two loops of a forward pass, shorter than a scheduler's time slice.
constexpr auto spin_time = std::chrono::microseconds(100);
constexpr int pauses_between_clock_reads = 64;

void pause_briefly() {
#if defined(__x86_64__)
  _mm_pause();
#else
  std::this_thread::yield();
#endif
}

void name_this_thread([[maybe_unused]] const std::string& name) {
#if defined(__linux__)
  pthread_setname_np(pthread_self(), name.c_str());
#endif
}

// Spins until `ready` or the spin time is over; says which. Who sleeps only looks.
template <typename Ready>
bool spin_until(Waiting waiting, Ready&& ready) {
  if (waiting == Waiting::sleeping) return ready();
  const auto end = std::chrono::steady_clock::now() + spin_time;
  do {
    for (int i = 0; i < pauses_between_clock_reads; ++i) {
      if (ready()) return true;
      pause_briefly();
    }
  } while (std::chrono::steady_clock::now() < end);
  return ready();
}

constexpr std::uint64_t epoch_of(std::uint64_t ticket) {
  return ticket >> 32;
}
constexpr std::uint64_t chunk_of(std::uint64_t ticket) {
  return ticket & 0xffffffffU;
}

}  // namespace

void wait_a_little(int round) {
  constexpr int pauses = 4096;
  if (round < pauses) {
    pause_briefly();
  } else {
    std::this_thread::yield();
  }
}

ThreadPool::ThreadPool(int threads, Waiting waiting, const char* name) : waiting_(waiting) {
  workers_.reserve(static_cast<std::size_t>(std::max(threads, 1)));
  for (int thread = 1; thread < threads; ++thread) {
    try {
      workers_.emplace_back([this, thread, called = std::string(name) + "-" + std::to_string(thread)] {
        name_this_thread(called);
        worker(thread);
      });
    } catch (const std::system_error&) {
      break;
    }
  }
}

ThreadPool::~ThreadPool() {
  stopping_.store(true);
  wake_.fetch_add(1);
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run(std::int64_t count, std::int64_t grain, int max_threads, Function function,
                     void* context) {
  if (count <= 0) return;
  grain = std::max<std::int64_t>(grain, 1);
  const std::int64_t chunks = (count + grain - 1) / grain;
  assert(chunks < 0xffffffff);
  if (chunks == 1 || workers_.empty() || max_threads <= 1) {
    for (std::int64_t begin = 0; begin < count; begin += grain) {
      function(context, begin, std::min(begin + grain, count), 0);
    }
    return;
  }
  [[maybe_unused]] const bool nested = busy_.exchange(true, std::memory_order_relaxed);
  assert(!nested && "a parallel loop inside a parallel loop");

  const std::uint64_t epoch = (epoch_of(ticket_.load(std::memory_order_relaxed)) + 1) & 0xffffffffU;
  // While the fields change, no chunk can be claimed: 0xffffffff is beyond every count. Who reads a changed
  // field sees this ticket too, and fails to claim with the one before.
  ticket_.store(epoch << 32 | 0xffffffffU, std::memory_order_seq_cst);
  function_.store(function, std::memory_order_release);
  context_.store(context, std::memory_order_release);
  count_.store(count, std::memory_order_release);
  grain_.store(grain, std::memory_order_release);
  max_threads_.store(max_threads, std::memory_order_release);
  chunks_done_.store(0, std::memory_order_relaxed);
  ticket_.store(epoch << 32, std::memory_order_release);
  wake_.fetch_add(1, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) > 0) wake_.notify_all();

  work(epoch, 0);
  wait_for(static_cast<std::uint32_t>(chunks));
  busy_.store(false, std::memory_order_relaxed);
  if (!failed_.load(std::memory_order_relaxed)) return;
  failed_.store(false, std::memory_order_relaxed);
  std::rethrow_exception(std::exchange(error_, nullptr));
}

void ThreadPool::wait_for(std::uint32_t chunks) {
  const auto finished = [&] { return chunks_done_.load(std::memory_order_acquire) == chunks; };
  while (!spin_until(waiting_, finished)) {
    if (waiting_ == Waiting::spinning) {
      std::this_thread::yield();
    } else if (const std::uint32_t done = chunks_done_.load(std::memory_order_acquire); done != chunks) {
      chunks_done_.wait(done, std::memory_order_acquire);
    }
  }
}

void ThreadPool::work(std::uint64_t epoch, int thread) {
  for (;;) {
    std::uint64_t ticket = ticket_.load(std::memory_order_acquire);
    const Function function = function_.load(std::memory_order_acquire);
    void* const context = context_.load(std::memory_order_acquire);
    const std::int64_t count = count_.load(std::memory_order_acquire);
    const std::int64_t grain = grain_.load(std::memory_order_acquire);
    if (thread >= max_threads_.load(std::memory_order_acquire)) return;
    std::int64_t begin = 0;
    do {
      if (epoch_of(ticket) != epoch) return;
      begin = static_cast<std::int64_t>(chunk_of(ticket)) * grain;
      if (begin >= count) return;
    } while (!ticket_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_acq_rel,
                                            std::memory_order_acquire));
    try {
      function(context, begin, std::min(begin + grain, count), thread);
    } catch (...) {
      if (!failed_.exchange(true, std::memory_order_relaxed)) error_ = std::current_exception();
    }
    chunks_done_.fetch_add(1, std::memory_order_release);
    if (waiting_ == Waiting::sleeping) chunks_done_.notify_one();
  }
}

void ThreadPool::worker(int thread) {
  std::uint64_t seen = 0;
  for (;;) {
    const auto has_news = [&] {
      return epoch_of(ticket_.load(std::memory_order_acquire)) != seen ||
             stopping_.load(std::memory_order_relaxed);
    };
    if (!spin_until(waiting_, has_news)) {
      // The order matters: announce the sleeper, then look once more, then sleep. run() does the reverse.
      const std::uint32_t before = wake_.load(std::memory_order_seq_cst);
      sleepers_.fetch_add(1, std::memory_order_seq_cst);
      if (!has_news()) wake_.wait(before, std::memory_order_seq_cst);
      sleepers_.fetch_sub(1, std::memory_order_relaxed);
    }
    if (stopping_.load(std::memory_order_relaxed)) return;
    const std::uint64_t epoch = epoch_of(ticket_.load(std::memory_order_acquire));
    if (epoch == seen) continue;
    // The ticket may still say "fields are changing"; then there is nothing to claim yet: look again.
    if (chunk_of(ticket_.load(std::memory_order_acquire)) == 0xffffffffU) continue;
    seen = epoch;
    work(epoch, thread);
  }
}

}  // namespace fovea::kernels::cpu
