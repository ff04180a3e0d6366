// The arena's rules at their simplest: a pool takes a free slab when all of its slabs are full, and gives one
// back when it is empty. What the planner promises must hold here.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "engine/precision/planner.h"

namespace fovea::tests {

class ArenaModel {
 public:
  struct Block {
    std::size_t slab = 0;
    std::int64_t bytes = 0;
  };

  explicit ArenaModel(const precision::ArenaPlan& plan)
      : slab_bytes_(plan.slab_bytes), slabs_(static_cast<std::size_t>(plan.slabs)) {}

  // False: no room.
  bool allocate(std::int64_t bytes, Block& block) {
    Slab* found = nullptr;
    for (Slab& slab : slabs_) {
      if (slab.used > 0 && slab.bytes == bytes && (slab.used + 1) * bytes <= slab_bytes_) found = &slab;
    }
    for (Slab& slab : slabs_) {
      if (found == nullptr && slab.used == 0) found = &slab;
    }
    if (found == nullptr || bytes > slab_bytes_) return false;
    found->bytes = bytes;
    ++found->used;
    block = {static_cast<std::size_t>(found - slabs_.data()), bytes};
    return true;
  }
  void release(const Block& block) { --slabs_[block.slab].used; }

 private:
  struct Slab {
    std::int64_t bytes = 0, used = 0;
  };
  std::int64_t slab_bytes_;
  std::vector<Slab> slabs_;
};

}  // namespace fovea::tests
