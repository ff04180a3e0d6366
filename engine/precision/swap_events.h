// What becomes of swaps: counted, and told to whoever wants to hear of each.
#pragma once

#include <cstdint>
#include <functional>

#include "engine/api/snapshot.h"
#include "engine/precision/policy.h"
#include "engine/precision/tiers.h"
#include "engine/precision/traffic_limit.h"

namespace fovea::precision {

// What became of a swap, for the events file and the policy.
enum class SwapOutcome : std::uint8_t { published, cancelled, io_error, checksum_error, refused };
struct SwapEvent {
  Decision decision;
  TierId from = no_tier;
  SwapOutcome outcome = SwapOutcome::published;
  std::int64_t bytes = 0;
  std::int64_t pass = 0;  // when it was published or given up
  double seconds = 0;     // from request to outcome
};

// The engine's thread alone.
class SwapRecorder {
 public:
  explicit SwapRecorder(const Clock& clock) : clock_(clock) {}

  void begin_pass() { ++passes_; }
  // Counts what failed and tells of it. `requested_seconds` is when it was asked for.
  void tell(const Decision& decision, TierId from, SwapOutcome outcome, std::int64_t bytes,
            double requested_seconds);
  double now() const { return clock_.now(); }
  std::int64_t passes() const { return passes_; }

  SwapCounters counters;
  std::function<void(const SwapEvent&)> on_event;  // must not call back

 private:
  const Clock& clock_;
  std::int64_t passes_ = 0;
};

}  // namespace fovea::precision
