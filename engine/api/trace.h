// Recording which experts a model's routers choose.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <string_view>

#include "engine/api/error.h"
#include "engine/api/progress.h"

namespace fovea {

class Engine;

// A layer that has experts.
struct ExpertLayer {
  std::int64_t layer = 0;  // in the model
  std::int32_t experts = 0;
  std::int64_t parameters = 0;  // of one expert
  std::int64_t file_bytes = 0;  // of one expert, as the model's file has it; 0: not known
};

// What the routers of one pass chose. Valid during the call that gives it.
struct LayerRouting {
  std::int64_t tokens = 0;
  std::span<const std::int32_t> ids;  // [tokens, used] experts
  std::span<const float> weights;     // [tokens, used]
};
struct PassRouting {
  std::int64_t tokens = 0;
  float entropy = 0;                     // of the output in nats, mean over the tokens
  std::span<const LayerRouting> layers;  // those of Engine::expert_layers()
};
using RoutingSink = std::function<Result<void>(const PassRouting&)>;

// Where the bytes of a file go, piece by piece.
using ByteSink = std::function<Result<void>(std::string_view bytes)>;

struct TraceSettings {
  std::int64_t tokens = 0;   // of the text; 0: all
  std::int64_t chunk = 128;  // tokens of a pass; at most the load request's
  bool decode = false;       // one token after the other, as an answer is written
};

struct TraceResult {
  std::int64_t passes = 0, tokens = 0;
  std::int64_t layers = 0;   // that have experts
  std::int64_t experts = 0;  // in the widest of them
  std::int64_t bytes = 0;    // of the trace
  double seconds = 0;
};

// Runs the text through the model, in windows of the context, and writes a trace that replay() reads.
// ErrorKind::unsupported when the model has no experts.
Result<TraceResult> record_trace(Engine& engine, std::string_view text, const TraceSettings& settings,
                                 const ByteSink& out, const ProgressSink& progress = {},
                                 std::stop_token stop = {});

}  // namespace fovea
