// Where plain characters (plain_tokens.h) lead from a set of stacks.
#pragma once

#include <optional>
#include <vector>

#include "engine/grammar/stacks.h"

namespace fovea::grammar {

class PlainSteps {
 public:
  // Both outlive it.
  PlainSteps(const Rules& rules, Stacks& stacks) : rules_(rules), stacks_(stacks) {}

  // The place to which every plain character leads; Stacks::dead: none can be read. Nothing: they differ.
  std::optional<Stacks::Id> from(Stacks::Id at);

 private:
  enum class Known : std::uint8_t { not_yet, differ, alike };

  std::optional<Stacks::Id> find(Stacks::Id at);
  std::optional<bool> reads_plain_ascii(Stacks::Id at) const;
  bool all_lead_to(Stacks::Id to, Stacks::Id at);

  const Rules& rules_;
  Stacks& stacks_;
  struct Step {
    Known known = Known::not_yet;
    Stacks::Id to = Stacks::dead;
  };
  std::vector<Step> steps_;  // by node
};

}  // namespace fovea::grammar
