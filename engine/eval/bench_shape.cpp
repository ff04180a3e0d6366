#include "engine/api/bench_shape.h"

#include <algorithm>
#include <numeric>

#include "engine/core/result.h"
#include "engine/eval/made_model.h"
#include "engine/eval/statistics.h"
#include "engine/eval/synthetic_trace.h"
#include "engine/precision/tiers.h"
#include "engine/runtime/load.h"

namespace fovea {
namespace {

// The choices of one token after the other, as the trace generator makes them up.
class MadeRouting {
 public:
  static Result<MadeRouting> create(const eval::NamedShape& named, std::uint64_t seed) {
    const precision::ModelShape& shape = named.shape;
    SyntheticRouting settings;
    if (auto published = synthetic_like(named.name)) {
      settings = *published;
    } else {
      settings.kinds = settings.phases = 1;
    }
    settings.layers = shape.layers;
    settings.experts = static_cast<std::int32_t>(shape.experts);
    settings.used = static_cast<std::int32_t>(shape.experts_used);
    settings.prompt = 0;  // tokens come one by one: a prompt's choices must be told apart
    settings.parameters = 3 * shape.hidden * shape.expert_width;
    settings.seed = seed;
    FOVEA_TRY(auto source, eval::make_synthetic(settings));
    return MadeRouting(std::move(source), shape);
  }

  // [layers, tokens, used]; valid until the next call.
  const std::int32_t* next(std::int64_t tokens) {
    const std::int64_t used = used_;
    ids_.resize(static_cast<std::size_t>(layers_ * tokens * used));
    for (std::int64_t token = 0; token < tokens; ++token) {
      if (!read_pass()) continue;
      std::vector<std::int64_t> taken(static_cast<std::size_t>(layers_));
      for (const precision::ExpertUse& use : pass_.uses) {
        const std::int64_t layer = use.unit / experts_;
        std::int64_t& at = taken[static_cast<std::size_t>(layer)];
        if (at == used) continue;
        ids_[static_cast<std::size_t>((layer * tokens + token) * used + at)] =
            static_cast<std::int32_t>(use.unit % experts_);
        ++at;
      }
    }
    return ids_.data();
  }

 private:
  MadeRouting(std::unique_ptr<eval::PassSource> source, const precision::ModelShape& shape)
      : source_(std::move(source)),
        layers_(shape.layers),
        experts_(shape.experts),
        used_(shape.experts_used) {}

  // Begins again where the routing ends.
  bool read_pass() {
    if (source_->next(pass_).value_or(false)) return true;
    source_->rewind();
    return source_->next(pass_).value_or(false);
  }

  std::unique_ptr<eval::PassSource> source_;
  std::int64_t layers_, experts_, used_;
  eval::TracePass pass_;
  std::vector<std::int32_t> ids_;
};

Result<void> check(const ShapeBenchSettings& settings) {
  if (settings.repetitions < 1) return fail(ErrorKind::invalid, "repetitions", "at least one is needed");
  if (settings.generated_tokens < 1) return fail(ErrorKind::invalid, "tokens", "at least one is needed");
  if (settings.contexts.empty() && settings.prompts.empty())
    return fail(ErrorKind::invalid, "contexts", "there is nothing to measure");
  for (const std::int64_t length : settings.prompts)
    if (length < 1) return fail(ErrorKind::invalid, "prompts", "a prompt has at least one token");
  for (const std::int64_t length : settings.contexts)
    if (length < 0) return fail(ErrorKind::invalid, "contexts", "a context has no negative length");
  return {};
}

Result<kernels::Type> type_of_tier(const std::string& name, const char* option) {
  FOVEA_TRY(const precision::Tier tier, precision::parse_tier(name));
  if (tier.type) return *tier.type;
  return fail(ErrorKind::invalid, option, "there is no file whose types could be taken",
              "Choose bf16, q8, q4, q3 or q2");
}

std::int64_t longest(const ShapeBenchSettings& settings) {
  std::int64_t most = 1;
  for (const std::int64_t context : settings.contexts)
    most = std::max(most, context + settings.generated_tokens);
  for (const std::int64_t prompt : settings.prompts) most = std::max(most, prompt);
  return most;
}

double share(double used, double ceiling) {
  return ceiling > 0 ? used / ceiling : 0;
}

Result<LengthResult> measure_decode(Engine& engine, const ShapeBenchSettings& settings, std::int64_t context,
                                    const Ceiling& ceiling) {
  std::vector<double> speeds, milliseconds;
  // The first answer warms up.
  for (int round = 0; round <= settings.repetitions; ++round) {
    FOVEA_TRY(const auto seconds, engine.time_decode(context, settings.generated_tokens));
    if (round == 0) continue;
    speeds.push_back(static_cast<double>(settings.generated_tokens) /
                     std::accumulate(seconds.begin(), seconds.end(), 0.0));
    for (const double each : seconds) milliseconds.push_back(1000 * each);
  }
  const TokenCost cost = engine.cost();
  const double mean_context =
      static_cast<double>(context) + static_cast<double>(settings.generated_tokens + 1) / 2;
  const double bytes =
      static_cast<double>(cost.weight_bytes) + static_cast<double>(cost.kv_bytes_per_token) * mean_context;
  LengthResult result{
      .length = context,
      .speed = {.tokens = settings.generated_tokens, .tokens_per_second = eval::spread(speeds)},
      .token_ms = eval::percentiles(milliseconds)};
  result.speed.ceiling_share =
      share(bytes * result.speed.tokens_per_second.median, ceiling.read_gb_per_s * 1e9);
  return result;
}

Result<LengthResult> measure_prefill(Engine& engine, const ShapeBenchSettings& settings, std::int64_t prompt,
                                     const Ceiling& ceiling) {
  std::vector<double> speeds;
  for (int round = 0; round <= settings.repetitions; ++round) {
    FOVEA_TRY(const double seconds, engine.time_prefill(prompt));
    if (round > 0) speeds.push_back(static_cast<double>(prompt) / seconds);
  }
  const TokenCost cost = engine.cost();
  const double operations =
      2 * (static_cast<double>(cost.multiply_adds) +
           static_cast<double>(cost.output_multiply_adds) / static_cast<double>(prompt));
  LengthResult result{.length = prompt,
                      .speed = {.tokens = prompt, .tokens_per_second = eval::spread(speeds)}};
  result.speed.ceiling_share =
      share(operations * result.speed.tokens_per_second.median, ceiling.peak_gop_per_s * 1e9);
  return result;
}

}  // namespace

Result<ShapeBenchResult> bench_shape(const ShapeBenchSettings& settings, const ProgressSink& progress,
                                     std::stop_token stop) {
  FOVEA_CHECK(check(settings));
  FOVEA_TRY(const eval::NamedShape shape, eval::read_shape(settings.shape));
  eval::MadeTypes types;
  FOVEA_TRY(types.experts, type_of_tier(settings.tier, "--tiers"));
  FOVEA_TRY(types.dense, type_of_tier(settings.dense_tier, "--dense"));
  FOVEA_TRY(const checkpoint::MadeModel made, eval::made_model(shape, types, settings.seed));
  FOVEA_TRY(auto checkpoint, checkpoint::make_checkpoint(made));
  FOVEA_TRY(MadeRouting routing, MadeRouting::create(shape, settings.seed));
  LoadRequest request;
  request.model = made.name;
  request.context = longest(settings);
  request.kv = settings.kv;
  request.device = settings.device;
  request.threads = settings.threads;
  request.chunk = settings.chunk;
  request.need_tokenizer = false;
  FOVEA_TRY(const auto engine,
            runtime::load_made(
                request, std::move(checkpoint),
                [&routing](std::int64_t tokens) { return routing.next(tokens); }, progress, stop));

  ShapeBenchResult result{.model = made.name,
                          .routing = "made up by the trace generator, seed " + std::to_string(settings.seed),
                          .experts = shape.shape.experts,
                          .experts_used = shape.shape.experts_used,
                          .layers = shape.shape.layers,
                          .threads = engine->settings().threads,
                          .memory = engine->memory(),
                          .bytes_per_token = engine->cost().weight_bytes};
  const Ceiling ceiling = engine->measure_ceiling();
  result.bandwidth_gb_per_s = ceiling.read_gb_per_s;
  result.peak_gop_per_s = ceiling.peak_gop_per_s;
  const auto total = static_cast<std::int64_t>(settings.contexts.size() + settings.prompts.size());
  std::int64_t done = 0;
  const auto begin = [&](const char* what, std::int64_t length) -> Result<void> {
    if (stop.stop_requested()) return fail(ErrorKind::cancelled, "bench", "stopped on request");
    if (progress)
      progress({.stage = "bench",
                .done = done++,
                .total = total,
                .unit = "lengths",
                .item = std::string(what) + " " + std::to_string(length)});
    return {};
  };
  for (const std::int64_t prompt : settings.prompts) {
    FOVEA_CHECK(begin("prefill", prompt));
    FOVEA_TRY(result.prefill.emplace_back(), measure_prefill(*engine, settings, prompt, ceiling));
  }
  for (const std::int64_t context : settings.contexts) {
    FOVEA_CHECK(begin("decode at", context));
    FOVEA_TRY(result.decode.emplace_back(), measure_decode(*engine, settings, context, ceiling));
  }
  return result;
}

}  // namespace fovea
