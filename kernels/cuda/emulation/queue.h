// A stream of the emulated device: work waits in order until somebody waits for it, and is begun earlier at
// moments drawn from a seed, so that a host that does not wait for what it needs is found.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "kernels/cuda/emulation/block.h"
#include "kernels/cuda/emulation/memory.h"

namespace fovea::kernels::cuda::emulation {

// What the queues of one device share.
struct Machine {
  explicit Machine(std::uint64_t seed) : block(seed) {}

  std::mutex mutex;  // one host thread at a time does the device's work
  DeviceMemory memory;
  Block block;
  std::vector<std::byte*> spare_scratch;
  std::function<void(const std::string&)> on_error;  // of a kernel; null: prints it and aborts

  // Runs work with the device's memory open, and stops what touches memory that is not the device's.
  // A copy opens only what it touches.
  void work(const std::function<std::string()>&, const void* only);
};

class Queue {
 public:
  Queue(Machine& machine, std::uint64_t seed) : machine_(machine), random_(seed) {}

  void push(Launch launch);
  // Gives an empty text, or what went wrong. `only`: the device memory that a copy touches.
  void push(std::function<std::string()> work, const void* only = nullptr);

  std::uint64_t pushed() const;    // how many pieces of work so far
  bool done(std::uint64_t count);  // whether the first `count` have ended; helps them on a little
  void finish(std::uint64_t count);
  std::string failure() const;

 private:
  struct Piece {
    std::function<std::string()> work;
    const void* only;
  };

  void run_first();

  Machine& machine_;
  mutable std::mutex mutex_;
  std::mt19937_64 random_;
  std::deque<Piece> waiting_;
  std::uint64_t ended_ = 0;
  std::string failure_;
};

}  // namespace fovea::kernels::cuda::emulation
