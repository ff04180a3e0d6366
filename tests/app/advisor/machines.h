// Machines that are not there.
#pragma once

#include "app/advisor/machine.h"

namespace fovea::tests {

inline constexpr std::int64_t gib = std::int64_t{1} << 30;

// A laptop or desktop whose processor computes.
inline app::Machine processor(std::int64_t memory_gib, std::int64_t free_gib, double memory_gb_per_s) {
  app::Machine machine;
  machine.device = {.name = "cpu",
                    .description = "A processor with a name that does not end before the line does",
                    .instruction_set = "avx2",
                    .instruction_sets = {"avx2"},
                    .cores = 4,
                    .memory_bytes = memory_gib * gib,
                    .memory_free_bytes = free_gib * gib};
  machine.room.precision.budget_bytes = (free_gib - 1) * gib;
  machine.disk_free_bytes = 200'000'000'000;
  machine.disk_read_gb_per_s = 2;
  machine.memory_read_gb_per_s = memory_gb_per_s;
  return machine;
}

// One with a card that computes.
inline app::Machine with_card(std::int64_t card_gib) {
  app::Machine machine = processor(64, 48, 40);
  machine.cards = {{"A card", card_gib * gib}};
  machine.facts.device_memory_bytes = card_gib * gib;
  machine.room.precision.budget_bytes = card_gib * gib;
  return machine;
}

}  // namespace fovea::tests
