#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "engine/api/engine.h"
#include "engine/checkpoint/checksum.h"
#include "engine/core/result.h"
#include "engine/eval/errors.h"
#include "engine/eval/trace.h"

namespace fovea {
namespace {

Result<void> check(const Engine& engine, const TraceSettings& settings) {
  if (engine.text() == nullptr) return fail(phrases::file_place(engine.info().path), errors::no_tokeniser());
  if (engine.expert_layers().empty())
    return fail(phrases::file_place(engine.info().path), errors::trace_without_experts());
  if (settings.tokens < 0) return fail(phrases::option_place("tokens"), errors::trace_negative_tokens());
  if (settings.chunk < 1) return fail(phrases::option_place("chunk"), errors::trace_empty_chunk());
  return {};
}

// Turns the routers' choices into a trace's passes.
class Recorder {
 public:
  Recorder(const eval::TraceShape& shape, bool prefill, const ByteSink& out)
      : first_unit_(shape.first_unit()), used_(shape.used), writer_(shape), out_(out) {
    pass_.prefill = prefill;
    tokens_.assign(static_cast<std::size_t>(shape.units()), 0);
    gates_.assign(tokens_.size(), 0);
    writer_.begin(bytes_);
  }

  // What follows is of these tokens, which begin a context.
  void begin_window(std::span<const TokenId> tokens) {
    const std::int64_t count = std::ssize(tokens);
    text_.add(std::as_bytes(tokens));
    text_.add(std::as_bytes(std::span(&count, 1)));
  }

  Result<void> add(const PassRouting& routing) {
    pass_.tokens = routing.tokens;
    pass_.entropy = std::max(0.0F, routing.entropy);
    pass_.routed.clear();
    pass_.uses.clear();
    for (std::size_t layer = 0; layer < routing.layers.size(); ++layer) add(layer, routing.layers[layer]);
    writer_.pass(pass_, bytes_);
    return flush();
  }

  Result<TraceResult> finish() {
    writer_.end(bytes_, text_.value());
    FOVEA_CHECK(flush());
    return TraceResult{.passes = writer_.passes(), .tokens = writer_.tokens(), .bytes = written_};
  }

 private:
  void add(std::size_t layer, const LayerRouting& routing) {
    pass_.routed.push_back(static_cast<std::int32_t>(routing.tokens));
    const auto first = static_cast<std::size_t>(first_unit_[layer]);
    for (std::size_t i = 0; i < static_cast<std::size_t>(routing.tokens) * static_cast<std::size_t>(used_);
         ++i) {
      const std::size_t unit = first + static_cast<std::size_t>(routing.ids[i]);
      ++tokens_[unit];
      gates_[unit] += routing.weights[i];
    }
    for (std::size_t unit = first; unit < static_cast<std::size_t>(first_unit_[layer + 1]); ++unit) {
      if (tokens_[unit] == 0) continue;
      pass_.uses.push_back(
          {.unit = static_cast<std::int32_t>(unit), .tokens = tokens_[unit], .gate_sum = gates_[unit]});
      tokens_[unit] = 0;
      gates_[unit] = 0;
    }
  }

  Result<void> flush() {
    FOVEA_CHECK(out_(bytes_));
    written_ += std::ssize(bytes_);
    bytes_.clear();
    return {};
  }

  std::vector<std::int32_t> first_unit_;
  std::int32_t used_;
  eval::TraceWriter writer_;
  const ByteSink& out_;
  std::int64_t written_ = 0;
  eval::TracePass pass_;
  checkpoint::RunningChecksum text_;
  std::vector<std::int32_t> tokens_;  // [units] of the pass
  std::vector<float> gates_;          // [units] of the pass
  std::string bytes_;
};

}  // namespace

Result<TraceResult> record_trace(Engine& engine, std::string_view text, const TraceSettings& settings,
                                 const ByteSink& out, const ProgressSink& progress, std::stop_token stop) {
  FOVEA_CHECK(check(engine, settings));
  std::vector<TokenId> tokens = engine.text()->encode(text, {.add_special = true});
  if (settings.tokens > 0 && settings.tokens < std::ssize(tokens))
    tokens.resize(static_cast<std::size_t>(settings.tokens));
  if (tokens.empty()) return fail(phrases::text_place(), errors::trace_of_no_tokens());

  const eval::TraceShape shape{.model = engine.info().name,
                               .used = static_cast<std::int32_t>(engine.info().experts_used),
                               .layers = engine.expert_layers()};
  const auto start = std::chrono::steady_clock::now();
  Recorder recorder(shape, !settings.decode, out);
  const std::int64_t total = std::ssize(tokens), window = engine.settings().context;
  std::int64_t done = 0;
  const auto sink = [&](const PassRouting& routing) -> Result<void> {
    done += routing.tokens;
    if (progress)
      progress({.stage = Progress::Stage::trace,
                .done = done,
                .total = total,
                .unit = Progress::Unit::tokens,
                .item = {}});
    return recorder.add(routing);
  };
  const std::span all(tokens);
  for (std::int64_t first = 0; first < total; first += window) {
    const auto part = all.subspan(static_cast<std::size_t>(first),
                                  static_cast<std::size_t>(std::min(window, total - first)));
    recorder.begin_window(part);
    FOVEA_CHECK(engine.routing(part, settings.decode ? 1 : settings.chunk, sink, stop));
  }
  FOVEA_TRY(TraceResult result, recorder.finish());
  result.layers = std::ssize(shape.layers);
  for (const ExpertLayer& layer : shape.layers)
    result.experts = std::max<std::int64_t>(result.experts, layer.experts);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace fovea
