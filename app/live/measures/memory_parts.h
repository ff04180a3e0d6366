// Where the device's bytes are: the parts of the budget, and what the pools of the arena hold.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/api/devices.h"
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

// Of two cards that hold a model together what the planner gave one, and which rows of the map are its.
struct CardPlan {
  std::string name = {};
  std::int64_t layers = 0;  // of the first card: the model's first ones
  std::int64_t rows = 0;    // that they are in a map, which has those with experts
  Plan::Parts parts = {};   // where the experts' are not known apart from the others they are among `dense`
  std::int64_t budget_bytes = 0;
  std::int64_t arena_bytes = 0;  // of experts that move
  bool operator==(const CardPlan&) const = default;
};

// What was measured beside the snapshots.
struct MeasuredMemory {
  std::int64_t device_used_bytes = 0, device_total_bytes = 0;  // every program's; total 0: unknown
  std::int64_t host_total_bytes = 0;                           // of main memory, where the device has its own
  std::int64_t kv_used_bytes = -1;                             // negative: unknown
  DeviceMemory first_card = {};                                // of two cards; then `device` is the other one

  // The share of the device, or of the fuller card, that is used, where that is nearly all of it.
  std::optional<double> full() const;
};

// `experts`: that the model has in all. `cards`: two, the one with the first layers first; empty: there is
// one device.
ui::MemoryParts memory_parts(const Plan& plan, const SnapshotNumbers& numbers, const ui::MapFrame& frame,
                             std::int64_t experts, const MeasuredMemory& measured,
                             const std::vector<CardPlan>& cards = {});
// Each of them; a tier's bytes are taken to be as many for each of its experts. Their sum.
std::vector<ui::CardMemory> card_memories(const std::vector<CardPlan>& cards, const SnapshotNumbers& numbers,
                                          const ui::MapFrame& frame);
std::vector<ui::BudgetPart> sum_of(const std::vector<ui::CardMemory>& cards);

}  // namespace fovea::app
