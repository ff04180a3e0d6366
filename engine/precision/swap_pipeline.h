// The threads that move versions: a reader and, where the device's memory is not the host's, an uploader
// behind it. They know no units' states and take no decisions.
//
//   engine ── submit ──▶ reader ──▶ uploader ──▶ take ── engine
//
// What the source holds in pinned memory of its own is uploaded from there, the rest by way of the transient
// buffer.
// The queues have room for every transfer, so that the engine's thread never waits to submit or take. On a
// device whose memory is the host's own the reader reads straight into the block: a copy out of a transient
// buffer would double the pipeline's memory traffic and buy nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <thread>

#include "engine/core/spsc_ring.h"
#include "engine/precision/traffic_limit.h"
#include "engine/precision/version_io.h"
#include "kernels/api/device.h"

namespace fovea::precision {

class SwapPipeline final : public VersionMover {
 public:
  // At most `most` transfers are between submit() and take(). What is given must outlive the pipeline.
  SwapPipeline(const kernels::Device& device, VersionSource& source, TrafficLimit& limit, Clock& clock,
               std::int64_t most);
  // Ends after the read and the copy that are running; what waits behind them is dropped, and lets go of what
  // it holds.
  ~SwapPipeline() override;
  SwapPipeline(const SwapPipeline&) = delete;
  SwapPipeline& operator=(const SwapPipeline&) = delete;

  void submit(Transfer& transfer) override;
  Transfer* take() override;
  Transfer* wait() override;

 private:
  // A ring whose consumer can sleep. Pushing costs the producer a system call only if the consumer does.
  class Queue {
   public:
    explicit Queue(std::int64_t most) : ring_(static_cast<std::size_t>(most)) {}
    void push(Transfer* transfer) {
      ring_.push(transfer);  // never full
      wake();
    }
    Transfer* pop() { return ring_.pop().value_or(nullptr); }
    void wake() {
      events_.fetch_add(1, std::memory_order_release);
      events_.notify_one();
    }
    // Null when stopped, also if there is something left.
    Transfer* wait(const std::stop_token& stop) {
      while (true) {
        const int seen = events_.load(std::memory_order_acquire);
        if (stop.stop_requested()) return nullptr;
        if (Transfer* const transfer = pop()) return transfer;
        events_.wait(seen, std::memory_order_acquire);
      }
    }

   private:
    SpscRing<Transfer*> ring_;
    std::atomic<int> events_ = 0;
  };

  void read_loop(const std::stop_token& stop);
  void read(Transfer& transfer, const std::stop_token& stop);
  void upload_loop(const std::stop_token& stop);
  void upload(Transfer& transfer, const std::stop_token& stop);

  const kernels::Device& device_;
  VersionSource& source_;
  TrafficLimit& limit_;
  Clock& clock_;
  Queue submitted_, read_, arrived_;
  std::unique_ptr<kernels::Stream> stream_;  // the uploader's, and
  std::unique_ptr<kernels::Event> copied_;   // null where the device gives none: every upload fails
  std::jthread reader_, uploader_;
};

}  // namespace fovea::precision
