#include "tests/app/live/sessions.h"

namespace fovea::tests {
namespace {

constexpr double kTokensPerSecond = 25;
constexpr std::int64_t kDense = 1'540'000'000, kKv = 805'306'368, kActivations = 228'000'000;

}  // namespace

Result<void> play_session(const SessionShape& shape, const SnapshotSink& sink) {
  auto routing = synthetic_like(shape.like);
  if (!routing) return std::unexpected(routing.error());
  routing->tokens = static_cast<std::int64_t>(shape.seconds * kTokensPerSecond);
  routing->phases = 3;
  routing->repeat = 0.25;
  routing->seed = shape.seed;
  ReplayRequest request;
  request.synthetic = *routing;
  request.tiers = shape.tiers;
  request.high_share = shape.high_share;
  request.dynaexq.interval_tokens = 20;
  request.dynaexq.in_flight = 12;
  request.clock.decode_tok_per_s = kTokensPerSecond;
  request.clock.prefill_tok_per_s = 400;
  request.clock.read_gb_per_s = 0.25;
  request.snapshots = [&](const Snapshot& snapshot, double seconds) {
    Snapshot with_rest = snapshot;
    with_rest.budget_bytes += kDense + kKv + kActivations;
    with_rest.queued = std::max(0, with_rest.reading - 3);
    with_rest.reading -= with_rest.queued;
    return sink(with_rest, seconds);
  };
  auto report = replay(request);
  if (!report) return std::unexpected(report.error());
  return {};
}

app::LiveModel session_model(const SessionShape& shape) {
  const auto routing = synthetic_like(shape.like);
  app::LiveModel model;
  model.name =
      shape.like == "qwen3-30b-a3b" ? QStringLiteral("Qwen3-30B-A3B") : QStringLiteral("Qwen3-Next-80B-A3B");
  model.policy = PolicyKind::dynaexq;
  model.experts = routing ? routing->experts : 0;
  model.experts_used = routing ? routing->used : 0;
  model.plan.parts.dense = kDense;
  model.plan.parts.kv = kKv;
  model.plan.parts.activations = kActivations;
  model.link_bytes_per_s = 0.25e9;
  return model;
}

app::LiveModel small_model() {
  app::LiveModel model;
  model.name = QStringLiteral("small");
  model.policy = PolicyKind::dynaexq;
  model.experts = 8;
  model.experts_used = 2;
  return model;
}

}  // namespace fovea::tests
