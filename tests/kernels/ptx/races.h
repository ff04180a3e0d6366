// Finds what nothing orders: two accesses of the same bytes by two threads of a launch, of which one writes,
// with no chain between of barriers, or of fences with atomic operations on one word (PTX ISA, 8: the memory
// consistency model). That the lanes of a warp have come together orders nothing but by bar.warp.sync.
//
// The way is that of FastTrack (Flanagan, Freund 2009): each thread has a clock, a vector clock says up to
// when it knows what others did, and memory remembers the epochs at which it was last written and read. Where
// vector clocks would be long they are shared: behind a barrier of the block one number serves all its
// threads, and other blocks are known by what they released.
//
// Found as well: shared memory that is read and nobody has written, copies (cp.async) that nobody has waited
// for, and what a launch that overlaps does before it waits for earlier kernels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "program.h"

namespace fovea::tests::ptx {

class Memory;
struct Grid;

// Clocks go on from launch to launch: what is older than the launch needs no cleaning.
using Clock = std::uint32_t;
constexpr Clock under_way = ~Clock{0};  // of a copy: nobody knows it to have been

struct Epoch {
  Clock clock = 0;
  std::uint32_t thread = 0;  // of the grid: block · 1024 + thread
  std::uint32_t line : 31 = 0;
  std::uint32_t strong : 1 = 0;
};

// What has reached some bytes last. Of several readers, three: those that a writer can have waited for
// without the others are lanes of its own warp, and whole other warps.
struct Cell {
  Epoch write, read, read_by_mate, read_elsewhere;
};

// A cell for each word, or for what is less once somebody has reached that.
class Shadow {
 public:
  void resize(std::int64_t bytes);
  void forget();
  std::span<Cell> cells(Slot at, std::int64_t bytes);

 private:
  std::vector<Cell> cells_;
  Slot of_cell_ = 4;  // bytes
};

// Up to when a thread knows what its block did.
struct VectorClock {
  Clock block = 0;                   // all its threads
  std::array<Clock, 32> lanes = {};  // those of its warp; its own one is the time
};

struct Release;
// The first of what was released at a word.
struct Acquired {
  const std::vector<Release>* at = nullptr;
  std::size_t count = 0;
};
using AllAcquired = std::vector<Acquired>;

// What a block's threads had known at fences of theirs when they came to its last barrier.
using Fences = std::vector<Clock>;  // by thread

// An atomic operation's, or a strong write's: what was known at fences before it.
struct Release {
  std::uint32_t thread = 0;  // of the grid
  VectorClock fenced;
  std::shared_ptr<const Fences> fences;
  AllAcquired acquired;
};

struct ThreadOrder {
  VectorClock now;
  VectorClock fenced;    // at its last fence
  AllAcquired seen;      // at words, since the last fence
  AllAcquired acquired;  // and behind a fence
  bool waited = false;   // for earlier kernels
};

struct BlockOrder {
  std::uint32_t number = 0;
  Clock begun = 0;
  Shadow shared;
  std::uint64_t forgotten = 0;  // how often all had been when it began
  std::vector<ThreadOrder> threads;
  std::shared_ptr<const Fences> fences;
  bool fenced = false;        // since the last barrier
  bool synchronises = false;  // a thread has seen what another one released
};

// Whatever is wrong is thrown as std::runtime_error, with the text of what the thread's access races with.
class Races {
 public:
  explicit Races(const Memory& memory) : memory_(memory), known_(known_pages) {}

  void begin_launch(const Program& program, const Grid& grid);
  void begin_block(BlockOrder& block, std::uint32_t number, std::int64_t shared_bytes);
  // A launch has not ended as it should: copies may be under way.
  void forget();

  struct Place {
    bool is_shared = false;
    Slot address = 0;
    std::int64_t bytes = 0;
  };
  void access(BlockOrder& block, std::uint32_t thread, const Place& place, Access access, int line);
  // A copy's thread has waited for it.
  void land(BlockOrder& block, std::uint32_t thread, const Place& place);
  void fence(BlockOrder& block, std::uint32_t thread);
  void barrier(BlockOrder& block);
  void warp_barrier(BlockOrder& block, std::uint32_t first, std::uint32_t mask);

  void wait_for_earlier(BlockOrder& block, std::uint32_t thread);
  void check_waited(const BlockOrder& block, std::uint32_t thread) const;
  // Whether a launch has waited for earlier kernels that was not to overlap them.
  bool waited_unasked() const { return waited_unasked_; }

 private:
  struct Known {
    Slot page = ~Slot{0};
    Shadow* shadow = nullptr;
  };
  static constexpr std::size_t known_pages = 4096;

  Clock tick(Clock clock);
  std::span<Cell> cells(BlockOrder& block, const Place& place);
  bool knows(const BlockOrder& block, std::uint32_t thread, const Epoch& epoch) const;
  void check_early(const Cell& cell, Access access) const;
  void synchronise(BlockOrder& block, std::uint32_t thread, const Place& place);
  [[noreturn]] void race(const Epoch& with, const char* what, const Place& place) const;
  std::string text(const Epoch& epoch) const;

  const Memory& memory_;
  const Program* program_ = nullptr;
  std::array<std::uint32_t, 3> blocks_ = {};
  std::uint32_t threads_ = 0;
  bool overlaps_ = false, waited_unasked_ = false;
  Clock latest_ = 0;
  Clock begun_ = 0, earlier_begun_ = 0;  // this launch, and the one before
  std::uint64_t forgotten_ = 0;
  std::unordered_map<Slot, Shadow> pages_;
  std::vector<Shadow> spare_;  // of pages that were forgotten
  std::vector<Known> known_;
  std::unordered_map<Slot, std::vector<Release>> released_;  // by word
};

}  // namespace fovea::tests::ptx
