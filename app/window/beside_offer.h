// What side by side can do here: with which models, what that takes and writes, or why it cannot be.
#pragma once

#include <cstdint>
#include <optional>

#include "app/advisor/counterparts.h"
#include "app/words/error_words.h"
#include "engine/api/devices.h"

namespace fovea::app {

struct BesideOffer {
  LoadOptions adaptive = {}, fixed = {};
  std::optional<LoadOptions> full = {};  // see BesideRequest
  double full_pass_seconds = 0;          // …
  bool is_possible = false;
  // Whole sentences; `takes`: or why it is not possible; empty: its experts do not follow.
  ErrorText takes = {}, why_not_full = {};
};

// Of what reads the answers with the full model; 0: not known.
struct BesideSpeeds {
  double disk_bytes_per_s = 0;  // at which its experts are read, where they have no room
  DeviceSpeed device = {};      // where all of it has
};

// `tokens`: of an answer, at most.
BesideOffer offer_beside(const Counterparts& found, const BesideSpeeds& speeds, std::int64_t tokens);

}  // namespace fovea::app
