// What a plan puts on each of two cards. Whoever wants to know asks here: nothing else of app/library,
// app/live, app/wizard, app/window and app/server reads Plan::first_card.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/api/precision.h"

namespace fovea::app {

struct CardPart {
  std::int64_t layers = 0;  // of the first of two cards: the model's first ones; else 0
  std::int64_t budget_bytes = 0;
  std::int64_t total_bytes = 0;
  std::int64_t arena_bytes = 0;
  bool fits = true;
  Plan::Parts parts = {};

  // Without what is kept free of the budget.
  std::int64_t taken_bytes() const { return total_bytes - parts.safety; }
  bool operator==(const CardPart&) const = default;
};

// Nothing: the plan is for one device.
std::optional<CardPart> first_card_of(const Plan& plan);
// Of the other card, or of the only device.
CardPart last_card_of(const Plan& plan);

// Of both together, or of the only device.
Plan::Parts parts_of_all(const Plan& plan);
std::int64_t total_of_all(const Plan& plan);
std::int64_t least_of_all(const Plan& plan);  // Plan::min_bytes

}  // namespace fovea::app
