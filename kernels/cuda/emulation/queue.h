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

#include "kernels/cuda/emulation/block.h"
#include "kernels/cuda/emulation/memory.h"

namespace fovea::kernels::cuda::emulation {

// What the queues of one device share.
struct Machine {
  explicit Machine(std::uint64_t seed) : block(seed) {}

  std::mutex mutex;  // one host thread at a time does the device's work
  DeviceMemory memory;
  Block block;
  std::function<void(const std::string&)> on_error;  // of a kernel; null: prints it and aborts

  // Runs work with the device's memory open, and stops what touches memory that is not the device's.
  void work(const std::function<std::string()>&);
};

class Queue {
 public:
  Queue(Machine& machine, std::uint64_t seed) : machine_(machine), random_(seed) {}

  void push(Launch launch);
  void push(std::function<std::string()> work);  // empty, or what went wrong

  std::uint64_t pushed() const;    // how many pieces of work so far
  bool done(std::uint64_t count);  // whether the first `count` have ended; helps them on a little
  void finish(std::uint64_t count);
  std::string failure() const;

 private:
  void push_locked(std::function<std::string()>);
  void run_first();

  Machine& machine_;
  mutable std::mutex mutex_;
  std::mt19937_64 random_;
  std::deque<std::function<std::string()>> waiting_;
  std::uint64_t ended_ = 0;
  std::string failure_;
};

}  // namespace fovea::kernels::cuda::emulation
