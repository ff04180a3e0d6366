// Where the device's bytes are: the parts of the budget, and what the pools of the arena hold.
#pragma once

#include <optional>
#include <vector>

#include "engine/api/precision.h"
#include "engine/api/snapshot.h"
#include "ui/live/data/measures.h"
#include "ui/live/data/map_frame.h"

namespace fovea::app {

// The parts add up to the budget, or to more when it is exceeded or there is none. Without a plan only the
// experts are known.
std::vector<ui::BudgetPart> budget_parts(const Plan& plan, const SnapshotNumbers& numbers);

// The tier whose units have blocks of the pool's size; -1 where that is none, or more than one.
int tier_of_pool(const SnapshotNumbers& numbers, std::size_t pool);

// What was measured beside the snapshots.
struct MeasuredMemory {
  std::int64_t device_used_bytes = 0, device_total_bytes = 0;  // every program's; total 0: unknown
  std::int64_t host_total_bytes = 0;                           // of main memory, where the device has its own
  std::int64_t kv_used_bytes = -1;                             // negative: unknown

  // The share of the device that is used, where that is nearly all of it.
  std::optional<double> full() const;
};

// `experts`: that the model has in all.
ui::MemoryParts memory_parts(const Plan& plan, const SnapshotNumbers& numbers, const ui::MapFrame& frame,
                             std::int64_t experts, const MeasuredMemory& measured);

}  // namespace fovea::app
