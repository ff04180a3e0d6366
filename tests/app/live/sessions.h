// Synthetic sessions for the live panel's tests and pictures: DynaExq, the pools and the swap pipeline on a
// simulated clock over routing with the skew and the drift of published models.
#pragma once

#include "app/live/recording.h"
#include "engine/api/replay.h"

namespace fovea::tests {

struct SessionShape {
  std::string like = "qwen3-30b-a3b";  // or "qwen3-next-80b-a3b"
  std::vector<std::string> tiers = {"q4=4.5", "q2=2.25"};
  double high_share = 0.25;
  double seconds = 75;  // at 25 tokens a second
  std::uint64_t seed = 1;
};

// Every tenth of a second of it goes to the sink, with a budget that holds the dense weights and the KV cache
// beside the experts, as session_model() says.
Result<void> play_session(const SessionShape& shape, const SnapshotSink& sink);
app::LiveModel session_model(const SessionShape& shape);

// Of small_snapshot().
app::LiveModel small_model();

}  // namespace fovea::tests
