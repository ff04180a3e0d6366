#include "app/library/card_parts.h"

#include <algorithm>

namespace fovea::app {

std::optional<CardPart> first_card_of(const Plan& plan) {
  const Plan::FirstCard& first = plan.first_card;
  if (first.layers == 0) return std::nullopt;
  return CardPart{.layers = first.layers,
                  .budget_bytes = first.budget_bytes,
                  .total_bytes = first.total_bytes,
                  .arena_bytes = first.arena_bytes,
                  .fits = first.fits,
                  .parts = first.parts};
}

CardPart last_card_of(const Plan& plan) {
  return {.budget_bytes = plan.budget_bytes,
          .total_bytes = plan.total_bytes,
          .arena_bytes = plan.arena_bytes,
          .fits = plan.total_bytes <= plan.budget_bytes,
          .parts = plan.parts};
}

Plan::Parts parts_of_all(const Plan& plan) {
  Plan::Parts all = plan.parts;
  const auto first = first_card_of(plan);
  if (!first) return all;
  for (const auto part : {&Plan::Parts::dense, &Plan::Parts::kv, &Plan::Parts::windows, &Plan::Parts::states,
                          &Plan::Parts::activations, &Plan::Parts::safety})
    all.*part += first->parts.*part;
  for (const PlanTier& tier : first->parts.experts) {
    const auto known = std::ranges::find(all.experts, tier.name, &PlanTier::name);
    if (known == all.experts.end()) {
      all.experts.push_back(tier);
      continue;
    }
    known->units += tier.units;
    known->bytes += tier.bytes;
  }
  return all;
}

std::int64_t total_of_all(const Plan& plan) {
  const auto first = first_card_of(plan);
  return plan.total_bytes + (first ? first->total_bytes : 0);
}

std::int64_t least_of_all(const Plan& plan) {
  return plan.min_bytes + plan.first_card.min_bytes;
}

}  // namespace fovea::app
