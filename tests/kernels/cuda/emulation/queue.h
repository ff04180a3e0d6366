// A stream of the emulated device: work waits in order until somebody waits for it, and is begun earlier at
// moments drawn from a seed, so that a host that does not wait for what it needs is found.
//
// Captured work is checked for what would go wrong on a driver's: what a thread may not do while it captures,
// copies of host memory that is not pinned, and, when it is launched, memory that was released since, or a
// graph that is gone before its work is done.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "kernels/api/operations.h"
#include "tests/kernels/cuda/emulation/block.h"
#include "tests/kernels/cuda/emulation/memory.h"

namespace fovea::kernels::cuda::emulation {

// What the queues of one device share.
struct Machine {
  explicit Machine(std::uint64_t seed) : block(seed, memory) {}

  std::mutex mutex;  // one host thread at a time does the device's work
  DeviceMemory memory;
  PinnedMemory pinned;
  Block block;
  std::vector<std::byte*> spare_scratch;
  std::atomic<std::int64_t> kernels = 0;             // that have run
  std::function<void(const std::string&)> on_error;  // of a kernel; null: prints it and aborts
  std::function<void(const Launch&)> on_launch;      // takes kernels, which are not run then

  // Runs work with the device's memory open, and stops what touches memory that is not the device's.
  // A copy opens only what it touches, a kernel that overlaps all when it has waited for earlier ones.
  void work(const std::function<std::string()>&, const void* only, bool overlaps);
  void report(const std::string& wrong) const;
};

// A copy between the two memories.
struct Copy {
  const void* device = nullptr;
  const std::byte* host = nullptr;
  std::int64_t bytes = 0;
};

class Queue {
 public:
  Queue(Machine& machine, std::uint64_t seed);
  ~Queue();

  void push(Launch launch);
  void push(const Copy& copy, std::function<std::string()> work);
  // Gives an empty text, or what went wrong.
  void push(std::function<std::string()> work);

  std::uint64_t pushed() const;    // how many pieces of work so far
  bool done(std::uint64_t count);  // whether the first `count` have ended; helps them on a little
  void finish(std::uint64_t count);
  Failure failure() const;

  void begin_capture();
  bool captures() const { return capture_.has_value(); }
  std::unique_ptr<Graph> end_capture(std::string& why);
  void launch(const Graph& graph);
  // Whether this thread captures on the device; then what it does now ("allocates memory") spoils that.
  static bool spoils_capture(const Machine& machine, const char* what);

 private:
  // An allocation that a piece of work names.
  struct Named {
    const void* address;
    std::int64_t pinned_bytes;  // −1: the device's memory
    int number;
  };
  struct Piece {
    std::function<std::string()> work;
    const void* only = nullptr;  // the device memory that a copy touches
    bool overlaps = false;
    std::string what = {};                                        // of a captured one: "kernel add_kernel"
    std::vector<Named> named = {};                                // likewise
    std::shared_ptr<const std::atomic<bool>> graph_is_gone = {};  // of a launched one
  };
  struct Captured;

  void add(Piece piece);
  bool run_first();  // false: it waits for the host
  std::string released(const Piece& piece) const;
  void spoil(const std::string& what);

  Machine& machine_;
  const std::uint64_t number_;
  mutable std::mutex mutex_;
  std::mt19937_64 random_;
  std::deque<Piece> waiting_;
  std::uint64_t ended_ = 0;
  std::string failure_;
  bool waits_for_host_ = false, host_is_late_ = false;
  // The capturing thread's.
  std::optional<std::vector<Piece>> capture_;
  std::string spoiled_;
};

}  // namespace fovea::kernels::cuda::emulation
