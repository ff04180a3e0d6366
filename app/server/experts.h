// What the experts do, as JSON, one object for each moment: the events of /fovea/experts.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/server/json_fields.h"
#include "engine/api/model_info.h"
#include "engine/api/plan.h"
#include "engine/api/snapshot.h"
#include "engine/api/trace.h"

namespace fovea::app {

// What does not change while a model is open.
struct WatchedModel {
  std::string name = {};
  PolicyKind policy = PolicyKind::none;
  std::int64_t experts_used = 0;                     // top-k
  std::vector<std::int64_t> layer_numbers = {};      // in the model, of those that have experts
  std::vector<std::int64_t> experts_per_layer = {};  // of these
  Plan::Parts memory = {};  // where the budget's bytes are; of its experts the snapshot tells
  // Two, the one with the first layers first, where they hold the model together: `memory` is their sum then.
  struct Card {
    std::string name = {};    // "cuda:0"
    std::int64_t layers = 0;  // of the first card: the model's first ones
    std::int64_t budget_bytes = 0;
    Plan::Parts memory = {};
    bool operator==(const Card&) const = default;
  };
  std::vector<Card> cards = {};
  std::int64_t rows_of_first() const;  // of those with experts, that the first card has
  bool operator==(const WatchedModel&) const = default;
};
WatchedModel watched_model(std::string name, const ModelInfo& info, const LoadPlan& plan,
                           std::span<const ExpertLayer> layers);

struct ExpertsEvent {
  WatchedModel model;
  Snapshot snapshot;
  std::int64_t questions = 0;  // asked since the model was opened
};

// tiers: of each layer's experts, as indices of `tiers` (−1: on disk alone, −2: computed by the processor
// beside a card); hotness: hotness_code() of ui/live/data/map_frame.h; moving: [unit, tier] of those whose
// swap is under way, a unit being layer × units_per_layer + expert. cards: of two that hold the model
// together name, layers (of the first one), budget_bytes and memory.
Json experts_json(const WatchedModel& model, const Snapshot& snapshot, std::int64_t questions);

// The same back, from anybody: of its decisions, pools and skew it has nothing. ErrorKind::format names what
// is not as it should be. What an older Fovea does not send is 0.
Result<ExpertsEvent> read_experts(std::string_view text);

inline constexpr std::int64_t max_watched_units = 1 << 18;

}  // namespace fovea::app
