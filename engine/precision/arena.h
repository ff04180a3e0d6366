// The budgeted device memory for published versions: an arena of equal slabs; a slab serves one pool, whose
// blocks all have one size, and when empty it may go to another pool. Everything is O(1) and nothing is
// allocated after start-up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/core/result.h"
#include "engine/precision/planner.h"
#include "kernels/api/device.h"

namespace fovea::precision {

struct Block {
  std::byte* memory = nullptr;
  std::int32_t pool = -1;
  std::int32_t slab = -1;
  std::int32_t index = -1;  // in the slab

  explicit operator bool() const { return memory != nullptr; }
};

class Arena {
 public:
  // Takes plan.slabs · plan.slab_bytes from the device, at once. ErrorKind::memory.
  static Result<Arena> create(const kernels::Device& device, const ArenaPlan& plan);
  Arena(Arena&&) noexcept;
  Arena& operator=(Arena&&) noexcept;
  ~Arena();

  // A block of the pool whose blocks have exactly `bytes`; an empty Block when pool and free slabs are used
  // up.
  Block allocate(std::int64_t bytes);
  void release(const Block& block);

  struct PoolUse {
    std::int64_t block_bytes = 0, slabs = 0, blocks = 0, used = 0;
  };
  std::span<const PoolUse> pools() const;
  std::int64_t bytes() const;       // of all slabs
  std::int64_t used_bytes() const;  // of the blocks in use
  std::int64_t free_slabs() const;
  // Counts everything again and compares with the running numbers. ErrorKind::internal names the difference.
  Result<void> audit() const;

 private:
  struct State;
  explicit Arena(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fovea::precision
