#include "engine/api/bench_shape.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "engine/api/limits.h"
#include "engine/core/result.h"
#include "engine/eval/bench_policy.h"
#include "engine/eval/bench_shape_on.h"
#include "engine/eval/decorated_device.h"
#include "engine/eval/errors.h"
#include "engine/eval/statistics.h"
#include "engine/eval/synthetic_model.h"
#include "engine/eval/synthetic_trace.h"
#include "engine/precision/dynaexq.h"
#include "engine/precision/fovea_policy.h"
#include "engine/precision/synthetic_versions.h"
#include "engine/precision/tiers.h"
#include "engine/runtime/load.h"
#include "engine/runtime/processor.h"

namespace fovea {
namespace {

// The choices of one token after the other, as the trace generator makes them.
class ForcedRouting {
 public:
  static Result<ForcedRouting> create(const eval::NamedShape& named, std::uint64_t seed) {
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
    return ForcedRouting(std::move(source), shape);
  }

  std::int64_t layers() const { return layers_; }
  std::int64_t used() const { return used_; }
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
  ForcedRouting(std::unique_ptr<eval::PassSource> source, const precision::ModelShape& shape)
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

std::unexpected<Error> wrong(const char* option, Error error) {
  return fail(phrases::option_place(option), std::move(error));
}

Result<void> check(const ShapeBenchSettings& settings) {
  if (settings.repetitions < 1) return wrong("repetitions", errors::bench_needs_one());
  if (settings.generated_tokens < 1) return wrong("tokens", errors::bench_needs_one());
  if (settings.contexts.empty() && settings.prompts.empty())
    return wrong("contexts", errors::bench_without_lengths());
  if (settings.offload.any() && !settings.low_tier.empty())
    return wrong("--tiers", errors::bench_tiers_beside_offload());
  if (settings.budget_bytes < 0) return wrong("--budget", errors::bench_negative_budget());
  if (!settings.low_tier.empty() && (settings.budget_bytes == 0 || settings.contexts.empty()))
    return wrong("--tiers", errors::bench_tiers_without_budget());
  for (const std::int64_t length : settings.prompts)
    if (length < 1) return wrong("prompts", errors::bench_prompt_length());
  for (const std::int64_t length : settings.contexts)
    if (length < 0) return wrong("contexts", errors::bench_context_length());
  return {};
}

Result<kernels::Type> type_of_tier(const std::string& name, const char* option) {
  FOVEA_TRY(const precision::Tier tier, precision::parse_tier(name));
  if (tier.type) return *tier.type;
  return wrong(option, errors::bench_tier_of_file());
}

// Of a shape that a graph may have: piece by piece, then captured.
constexpr std::int64_t first_steps = 2;

std::int64_t longest(const ShapeBenchSettings& settings) {
  std::int64_t most = 1;
  for (const std::int64_t context : settings.contexts)
    most = std::max(most, context + settings.generated_tokens + first_steps);
  for (const std::int64_t prompt : settings.prompts) most = std::max(most, prompt);
  return most;
}

double share(double used, double ceiling) {
  return ceiling > 0 ? used / ceiling : 0;
}

// A loaded shape, what it computes on, and its forward pass.
struct Subject {
  std::unique_ptr<eval::DecoratedDevice> device, processor;
  layers::Forward* forward = nullptr;
  std::unique_ptr<Engine> engine = {};

  void leave_out(eval::DecoratedDevice::Part part) {
    for (eval::DecoratedDevice* const each : {device.get(), processor.get()}) each->leave_out(part);
    forward->forget_graphs();
  }
};

// With each operation given to the device by itself; nothing where it captures no graphs.
Result<std::vector<double>> time_by_pieces(const Subject& subject, std::int64_t depth, std::int64_t count) {
  if (subject.forward->graphs().captured == 0) return std::vector<double>{};
  subject.forward->use_graphs(false);
  auto seconds = subject.engine->time_decode(depth, count, true);
  subject.forward->use_graphs(true);
  return seconds;
}

// Which part takes most beyond what its bytes need.
void find_limit(LengthResult& result, double read_gb_per_s) {
  double max_ms = 0;
  for (StepPart& part : result.parts) {
    if (read_gb_per_s <= 0) return;
    const double needed_ms = static_cast<double>(part.bytes) / (read_gb_per_s * 1e6);
    if (part.ms > 0 && part.bytes > 0) part.bandwidth_share = needed_ms / part.ms;
    if (part.ms - needed_ms <= max_ms) continue;
    max_ms = part.ms - needed_ms;
    result.limited_by = part.name;
  }
}

Result<void> measure_parts(Subject& subject, const ShapeBenchSettings& settings, double read_gb_per_s,
                           LengthResult& result) {
  using enum eval::DecoratedDevice::Part;
  // Without a part, the medians over the steps.
  const auto timed = [&](eval::DecoratedDevice::Part part) -> Result<double> {
    subject.leave_out(part);
    auto seconds = subject.engine->time_decode(result.length, settings.generated_tokens + first_steps, true);
    subject.leave_out(none);
    if (!seconds) return std::unexpected(std::move(seconds).error());
    seconds->erase(seconds->begin(), seconds->begin() + first_steps);
    return eval::median(*std::move(seconds));
  };
  FOVEA_TRY(const double whole, timed(none));
  FOVEA_TRY(const double without_experts, timed(experts));
  FOVEA_TRY(const double without_attention, timed(attention));
  FOVEA_TRY(const double without_linear, timed(linear));
  const TokenCost cost = subject.engine->cost();
  const auto ms_of = [&](double without) { return std::max(0.0, 1000 * (whole - without)); };
  result.parts = {
      {.name = "experts", .ms = ms_of(without_experts), .bytes = cost.expert_bytes - cost.host_weight_bytes},
      {.name = "attention",
       .ms = ms_of(without_attention),
       .bytes = cost.kv_bytes(result.length + settings.generated_tokens / 2)},
      {.name = "linear layers", .ms = ms_of(without_linear), .bytes = cost.weight_bytes - cost.expert_bytes}};
  double rest_ms = 1000 * whole;
  for (const StepPart& part : result.parts) rest_ms -= part.ms;
  result.parts.push_back({.name = "the rest", .ms = std::max(0.0, rest_ms)});
  find_limit(result, read_gb_per_s);
  return {};
}

Result<LengthResult> measure_decode(Subject& subject, const ShapeBenchSettings& settings,
                                    std::int64_t context, const Ceiling& ceiling) {
  Engine& engine = *subject.engine;
  std::vector<double> speeds, milliseconds, pieces;
  // The first answer warms up.
  for (int round = 0; round <= settings.repetitions; ++round) {
    FOVEA_TRY(const auto seconds, engine.time_decode(context, settings.generated_tokens, true));
    FOVEA_TRY(const auto by_pieces, time_by_pieces(subject, context, settings.generated_tokens));
    if (round == 0) continue;
    speeds.push_back(static_cast<double>(settings.generated_tokens) /
                     std::accumulate(seconds.begin(), seconds.end(), 0.0));
    for (const double each : seconds) milliseconds.push_back(1000 * each);
    for (const double each : by_pieces) pieces.push_back(1000 * each);
  }
  const TokenCost cost = engine.cost();
  const std::int64_t mean_context = context + (settings.generated_tokens + 1) / 2;
  const auto bytes = static_cast<double>(cost.weight_bytes + cost.kv_bytes(mean_context));
  LengthResult result{.length = context,
                      .speed = {.tokens = settings.generated_tokens, .tokens_per_second = spread(speeds)},
                      .token_ms = eval::percentiles(milliseconds)};
  if (!pieces.empty()) result.pieces_ms = eval::percentiles(pieces);
  // Of what the processor reads the device's bandwidth says nothing.
  result.speed.ceiling_share =
      share((bytes - static_cast<double>(cost.host_weight_bytes)) * result.speed.tokens_per_second.median,
            ceiling.read_gb_per_s * 1e9);
  FOVEA_CHECK(measure_parts(subject, settings, ceiling.read_gb_per_s, result));
  return result;
}

// What the experts did during the rounds of one kind.
struct Moves {
  double seconds = 0, hits = 0;
  std::int64_t promotions = 0, demotions = 0, bytes = 0, uses = 0;

  void add(const PrecisionUse& before, const PrecisionUse& after, double more_seconds) {
    const auto hits_of = [](const PrecisionUse& use) { return use.hit_rate * static_cast<double>(use.uses); };
    seconds += more_seconds;
    hits += hits_of(after) - hits_of(before);
    promotions += after.promotions - before.promotions;
    demotions += after.demotions - before.demotions;
    bytes += after.bytes_read - before.bytes_read;
    uses += after.uses - before.uses;
  }
  double gb_per_s() const { return seconds > 0 ? static_cast<double>(bytes) / seconds / 1e9 : 0; }
};

// Rounds of all kinds take turns, so that a disturbance of the machine meets all of them.
Result<MovingResult> measure_moving(Engine& engine, const ShapeBenchSettings& settings,
                                    std::atomic<eval::BenchMode>& mode, const std::stop_token& stop) {
  using enum eval::BenchMode;
  struct Kind {
    eval::BenchMode mode;
    std::vector<double> speeds = {}, milliseconds = {};
    Moves moves = {};
  };
  std::vector<Kind> kinds{{quiet}, {idle}, {storm}, {live}, {flood}};
  MovingResult out{.context = settings.contexts.front()};
  for (int round = 0; round <= settings.repetitions; ++round) {
    for (Kind& kind : kinds) {
      if (stop.stop_requested()) return fail(phrases::stage_bench(), errors::stopped_on_request());
      mode = kind.mode;
      const PrecisionUse before = *engine.precision();
      const auto begin = std::chrono::steady_clock::now();
      FOVEA_TRY(const auto seconds, engine.time_decode(out.context, settings.generated_tokens));
      const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - begin;
      if (round == 0) continue;
      kind.moves.add(before, *engine.precision(), whole.count());
      kind.speeds.push_back(static_cast<double>(settings.generated_tokens) /
                            std::accumulate(seconds.begin(), seconds.end(), 0.0));
      for (const double each : seconds) kind.milliseconds.push_back(1000 * each);
    }
  }
  const auto result_of = [&](const Kind& kind) {
    return LengthResult{.length = out.context,
                        .speed = {.tokens = settings.generated_tokens,
                                  .tokens_per_second = spread(kind.speeds),
                                  .ceiling_share = 0},
                        .token_ms = eval::percentiles(kind.milliseconds)};
  };
  out.quiet = result_of(kinds[0]);
  out.idle = result_of(kinds[1]);
  out.storm = result_of(kinds[2]);
  out.live = result_of(kinds[3]);
  const Moves &in_storm = kinds[2].moves, &live_moves = kinds[3].moves;
  out.promotions = in_storm.promotions;
  out.demotions = in_storm.demotions;
  out.read_gb_per_s = in_storm.gb_per_s();
  out.flood_gb_per_s = kinds[4].moves.gb_per_s();
  out.hit_rate = live_moves.uses > 0 ? live_moves.hits / static_cast<double>(live_moves.uses) : 0;
  out.idle_cost = 1 - out.idle.speed.tokens_per_second.median / out.quiet.speed.tokens_per_second.median;
  out.storm_p99_over_median = out.storm.token_ms.p99 / out.storm.token_ms.median;
  const PrecisionUse use = *engine.precision();
  out.high_per_layer = engine.plan().plan.parts.experts.front().units / engine.info().layers;
  out.mean_bits_per_weight = use.mean_bits_per_weight;
  out.budget_bytes = use.budget_bytes;
  out.accounted_bytes = use.accounted_bytes;
  return out;
}

// As many of two tiers' units high as may be, the same share of each layer.
std::vector<precision::TierId> evenly_high(const precision::PolicyWorld& world) {
  std::vector<precision::TierId> tiers(static_cast<std::size_t>(world.units()), 1);
  const std::int64_t high = world.capacity.front();
  for (std::int64_t i = 0; i < high; ++i) tiers[static_cast<std::size_t>(i * world.units() / high)] = 0;
  return tiers;
}

using SharedMode = std::shared_ptr<std::atomic<eval::BenchMode>>;

// One tier: within the budget where there is one. Two: with the policy that `mode` commands.
Result<Subject> load_shape(const ShapeBenchSettings& settings, const checkpoint::SyntheticModel& model,
                           ForcedRouting& routing, const SharedMode& mode, const kernels::Device& device,
                           const ProgressSink& progress, const std::stop_token& stop) {
  const bool moves = !settings.low_tier.empty();
  LoadOptions request;
  request.model = model.name;
  request.context = moves ? settings.contexts.front() + settings.generated_tokens : longest(settings);
  request.kv = settings.kv;
  request.device = settings.device;
  request.threads = settings.threads;
  request.chunk = settings.chunk;
  request.need_tokenizer = false;
  request.precision.offload = settings.offload;
  if (settings.offload.any()) {
    request.precision.budget_bytes = settings.budget_bytes;
  } else if (settings.budget_bytes > 0) {
    request.precision.policy = moves ? settings.policy : PolicyKind::static_tiers;
    request.precision.tiers = {settings.tier};
    if (moves) request.precision.tiers.push_back(settings.low_tier);
    request.precision.budget_bytes = settings.budget_bytes;
    request.precision.traffic_gb_per_s = settings.traffic_gb_per_s;
  }
  const auto policy = [&](const precision::PolicyWorld& world) -> Result<std::unique_ptr<precision::Policy>> {
    FOVEA_TRY(auto live, settings.policy == PolicyKind::fovea
                             ? precision::make_fovea(world, request.precision.fovea, evenly_high(world))
                             : precision::make_dynaexq(world, request.precision.dynaexq));
    return std::make_unique<eval::BenchPolicy>(world, std::move(live), mode,
                                               request.precision.dynaexq.in_flight);
  };
  FOVEA_TRY(auto checkpoint, checkpoint::synthetic_checkpoint(model));
  FOVEA_TRY(const kernels::Device* const processor, runtime::chosen_device({}));
  Subject subject{.device = std::make_unique<eval::DecoratedDevice>(device),
                  .processor = std::make_unique<eval::DecoratedDevice>(*processor)};
  if (!subject.device->choose({.routing = [&routing](std::int64_t tokens) { return routing.next(tokens); },
                               .layers = routing.layers(),
                               .used = routing.used(),
                               .max_tokens = max_chunk,
                               .host_reads_them = moves || settings.offload.any()}))
    return fail(phrases::name_place(device.name()), errors::bench_no_memory_for_choices());
  runtime::Weights weights{.checkpoint = std::move(checkpoint),
                           .versions =
                               [&device, seed = settings.seed](const precision::UnitPlan& units) {
                                 return std::make_unique<precision::SyntheticVersions>(
                                     units.units, units.tiers, device, seed);
                               },
                           .processor = subject.processor.get()};
  FOVEA_TRY(
      subject.engine,
      runtime::load(request, std::move(weights),
                    moves ? runtime::PolicyMaker(policy) : runtime::PolicyMaker(), progress, stop,
                    *subject.device, [&subject](layers::Forward& forward) { subject.forward = &forward; }));
  return subject;
}

Result<LengthResult> measure_prefill(Engine& engine, const ShapeBenchSettings& settings, std::int64_t prompt,
                                     const Ceiling& ceiling) {
  std::vector<double> speeds;
  for (int round = 0; round <= settings.repetitions; ++round) {
    FOVEA_TRY(const double seconds, engine.time_prefill(prompt));
    if (round > 0) speeds.push_back(static_cast<double>(prompt) / seconds);
  }
  const TokenCost cost = engine.cost();
  // A token's context is half of the prompt on average; the output layer runs once for its last token.
  const double operations =
      2 * (static_cast<double>(cost.multiply_adds) +
           static_cast<double>(cost.attention_multiply_adds) * static_cast<double>(prompt + 1) / 2 +
           static_cast<double>(cost.output_multiply_adds) / static_cast<double>(prompt));
  LengthResult result{.length = prompt, .speed = {.tokens = prompt, .tokens_per_second = spread(speeds)}};
  result.speed.ceiling_share =
      share(operations * result.speed.tokens_per_second.median, ceiling.peak_gop_per_s * 1e9);
  return result;
}

Result<void> measure_lengths(Subject& subject, const ShapeBenchSettings& settings, const Ceiling& ceiling,
                             ShapeBenchResult& result, const ProgressSink& progress,
                             const std::stop_token& stop) {
  const auto total = static_cast<std::int64_t>(settings.contexts.size() + settings.prompts.size());
  std::int64_t done = 0;
  const auto begin = [&](const char* what, std::int64_t length) -> Result<void> {
    if (stop.stop_requested()) return fail(phrases::stage_bench(), errors::stopped_on_request());
    if (progress)
      progress({.stage = Progress::Stage::bench,
                .done = done++,
                .total = total,
                .unit = Progress::Unit::lengths,
                .item = std::string(what) + " " + std::to_string(length)});
    return {};
  };
  for (const std::int64_t prompt : settings.prompts) {
    FOVEA_CHECK(begin("prefill", prompt));
    FOVEA_TRY(result.prefill.emplace_back(), measure_prefill(*subject.engine, settings, prompt, ceiling));
  }
  for (const std::int64_t context : settings.contexts) {
    FOVEA_CHECK(begin("decode at", context));
    FOVEA_TRY(result.decode.emplace_back(), measure_decode(subject, settings, context, ceiling));
  }
  return {};
}

}  // namespace

Result<ShapeBenchResult> eval::bench_shape_on(const kernels::Device& device,
                                              const ShapeBenchSettings& settings,
                                              const ProgressSink& progress, std::stop_token stop) {
  FOVEA_CHECK(check(settings));
  if (settings.offload.any() && device.memory_is_host())
    return fail(phrases::offload_options_place(), errors::bench_offload_without_card(device.name()));
  FOVEA_TRY(const eval::NamedShape shape, eval::read_shape(settings.shape));
  eval::SyntheticTypes types;
  FOVEA_TRY(types.experts, type_of_tier(settings.tier, "--tiers"));
  FOVEA_TRY(types.dense, type_of_tier(settings.dense_tier, "--dense"));
  FOVEA_TRY(const checkpoint::SyntheticModel made, eval::synthetic_model(shape, types, settings.seed));
  FOVEA_TRY(ForcedRouting routing, ForcedRouting::create(shape, settings.seed));
  const auto mode = std::make_shared<std::atomic<eval::BenchMode>>(eval::BenchMode::quiet);
  FOVEA_TRY(Subject subject, load_shape(settings, made, routing, mode, device, progress, stop));
  Engine* const engine = subject.engine.get();

  ShapeBenchResult result{.model = made.name,
                          .routing = phrases::bench_made_up_routing(settings.seed),
                          .experts = shape.shape.experts,
                          .experts_used = shape.shape.experts_used,
                          .layers = shape.shape.layers,
                          .threads = engine->settings().threads,
                          .memory = engine->memory(),
                          .bytes_per_token = engine->cost().weight_bytes,
                          .host_bytes_per_token = engine->cost().host_weight_bytes};
  if (const auto use = engine->precision()) {
    result.budget_bytes = use->budget_bytes;
    result.accounted_bytes = use->accounted_bytes;
  }
  const Ceiling ceiling = engine->measure_ceiling();
  result.bandwidth_gb_per_s = ceiling.read_gb_per_s;
  result.bandwidth_is_measured = ceiling.read_is_measured;
  result.peak_gop_per_s = ceiling.peak_gop_per_s;
  result.link_gb_per_s = ceiling.link_gb_per_s;
  result.host_gb_per_s = ceiling.host_gb_per_s;
  if (settings.low_tier.empty()) {
    FOVEA_CHECK(measure_lengths(subject, settings, ceiling, result, progress, stop));
  } else {
    FOVEA_TRY(result.moving, measure_moving(*engine, settings, *mode, stop));
  }
  return result;
}

Result<ShapeBenchResult> bench_shape(const ShapeBenchSettings& settings, const ProgressSink& progress,
                                     std::stop_token stop) {
  FOVEA_TRY(const kernels::Device* device, runtime::chosen_device(settings.device));
  return eval::bench_shape_on(*device, settings, progress, std::move(stop));
}

}  // namespace fovea
