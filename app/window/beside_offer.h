// What side by side can do here: with which models, what that takes and writes, or why it cannot be.
#pragma once

#include <cstdint>
#include <optional>

#include "app/advisor/counterparts.h"
#include "app/words/error_words.h"

namespace fovea::app {

struct BesideOffer {
  LoadOptions adaptive = {}, fixed = {};
  std::optional<LoadOptions> full = {};  // see BesideRequest
  double full_pass_seconds = 0;          // …
  bool is_possible = false;
  // Whole sentences; `takes`: or why it is not possible; empty: its experts do not follow.
  ErrorText takes = {}, why_not_full = {};
};

// `disk_bytes_per_s`: at which the full model's experts are read; 0: not known. `tokens`: of an answer, at
// most.
BesideOffer offer_beside(const Counterparts& found, double disk_bytes_per_s, std::int64_t tokens);

}  // namespace fovea::app
