#include "app/commands/bench_shape.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include "app/commands/errors.h"
#include "app/commands/precision_use.h"
#include "engine/api/bench_shape.h"
#include "engine/api/plan.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

// One tier is measured as it stands, within a budget where one is given, and beside a GPU with a part left to
// the processor; two within a budget while experts move.
Result<void> read_tiers(const PrecisionRequest& request, ShapeBenchSettings& shape) {
  const bool moves = request.tiers.size() == 2;
  const bool fits =
      request.policy == PolicyKind::automatic ||
      (moves ? request.policy == PolicyKind::dynaexq || request.policy == PolicyKind::fovea
             : request.policy == PolicyKind::static_tiers || request.policy == PolicyKind::none);
  if (!fits || request.dynaexq != DynaExqSettings{} || request.fovea != FoveaSettings{} ||
      request.flexquant != FlexQuantSettings{} || request.pmpd != PmpdSettings{} ||
      (moves && request.budget_bytes == 0) || !request.store.empty() || !request.tier_map.empty() ||
      !request.events.empty() || request.transfer_bytes > 0 || request.publish_after_passes >= 0 ||
      (request.traffic_gb_per_s > 0 && !moves) || request.tiers.size() > 2)
    return fail(phrases::option_place("--shape"), errors::shape_of_one_tier());
  shape.offload = request.offload;
  shape.budget_bytes = request.budget_bytes;
  if (!request.tiers.empty()) shape.tier = request.tiers.front();
  if (moves) {
    shape.low_tier = request.tiers.back();
    if (request.policy == PolicyKind::fovea) shape.policy = request.policy;
    shape.traffic_gb_per_s = request.traffic_gb_per_s;
  }
  return {};
}

nlohmann::ordered_json as_json(const MovingResult& moving, const ShapeBenchSettings& settings) {
  const auto kind = [](const LengthResult& length) {
    const Spread& spread = length.speed.tokens_per_second;
    return nlohmann::ordered_json{
        {"tok_per_s", {{"median", spread.median}, {"min", spread.min}, {"max", spread.max}}},
        {"token_ms",
         {{"median", length.token_ms.median}, {"p90", length.token_ms.p90}, {"p99", length.token_ms.p99}}}};
  };
  return {{"context", moving.context},
          {"quiet", kind(moving.quiet)},
          {"idle", kind(moving.idle)},
          {"idle_cost", moving.idle_cost},
          {"storm", kind(moving.storm)},
          {"storm_p99_over_median", moving.storm_p99_over_median},
          {"policy", name_in(policy_names, settings.policy)},
          {"live", kind(moving.live)},
          {"hit_rate", moving.hit_rate},
          {"promotions", moving.promotions},
          {"demotions", moving.demotions},
          {"read_gb_per_s", moving.read_gb_per_s},
          {"flood_gb_per_s", moving.flood_gb_per_s},
          {"high_per_layer", moving.high_per_layer},
          {"mean_bits_per_weight", moving.mean_bits_per_weight},
          {"budget_bytes", moving.budget_bytes},
          {"accounted_bytes", moving.accounted_bytes}};
}

// What a number depends on as much as on the experts' tier, so it is said beside each.
std::string formats(const ShapeBenchSettings& settings) {
  return fmt::format("experts {}{}, dense {}", settings.tier,
                     settings.low_tier.empty() ? "" : " over " + settings.low_tier, settings.dense_tier);
}

nlohmann::ordered_json as_json(const LengthResult& length, bool decode, const std::string& formats) {
  const Spread& spread = length.speed.tokens_per_second;
  nlohmann::ordered_json object = {
      {decode ? "context" : "tokens", length.length},
      {"formats", formats},
      {"tok_per_s", {{"median", spread.median}, {"min", spread.min}, {"max", spread.max}}},
      {"ceiling_share", length.speed.ceiling_share}};
  if (!decode) return object;
  object["token_ms"] = {
      {"median", length.token_ms.median}, {"p90", length.token_ms.p90}, {"p99", length.token_ms.p99}};
  if (length.pieces_ms.median > 0) {
    object["pieces_ms"] = {
        {"median", length.pieces_ms.median}, {"p90", length.pieces_ms.p90}, {"p99", length.pieces_ms.p99}};
  }
  object["limited_by"] = length.limited_by;
  object["parts"] = nlohmann::json::array();
  for (const StepPart& part : length.parts)
    object["parts"].push_back({{"name", part.name},
                               {"ms", part.ms},
                               {"bytes", part.bytes},
                               {"bandwidth_share", part.bandwidth_share}});
  return object;
}

nlohmann::ordered_json as_json(const ShapeBenchResult& result, const ShapeBenchSettings& settings) {
  nlohmann::ordered_json decode = nlohmann::json::array(), prefill = nlohmann::json::array();
  for (const LengthResult& length : result.decode) decode.push_back(as_json(length, true, formats(settings)));
  for (const LengthResult& length : result.prefill)
    prefill.push_back(as_json(length, false, formats(settings)));
  nlohmann::ordered_json object = {{"shape", result.model},
                                   {"tier", settings.tier},
                                   {"dense_tier", settings.dense_tier},
                                   {"routing", english(result.routing)},
                                   {"layers", result.layers},
                                   {"experts", result.experts},
                                   {"experts_used", result.experts_used},
                                   {"threads", result.threads},
                                   {"decode", decode},
                                   {"prefill", prefill},
                                   {"bytes_per_token", result.bytes_per_token},
                                   {"bandwidth_gb_per_s", result.bandwidth_gb_per_s},
                                   {"bandwidth_is_measured", result.bandwidth_is_measured},
                                   {"peak_gop_per_s", result.peak_gop_per_s},
                                   {"link_gb_per_s", result.link_gb_per_s},
                                   {"host_bytes_per_token", result.host_bytes_per_token},
                                   {"host_gb_per_s", result.host_gb_per_s},
                                   {"peak_memory_bytes", resident_peak_bytes()},
                                   {"memory",
                                    {{"weights", result.memory.weights},
                                     {"host_weights", result.memory.host_weights},
                                     {"kv_cache", result.memory.kv_cache},
                                     {"windows", result.memory.windows},
                                     {"states", result.memory.states},
                                     {"activations", result.memory.activations}}}};
  if (result.moving) {
    object["moving"] = as_json(*result.moving, settings);
  } else if (result.budget_bytes > 0) {
    object["budget_bytes"] = result.budget_bytes;
    object["accounted_bytes"] = result.accounted_bytes;
  }
  return object;
}

std::string share_of(double share, const std::string& ceiling) {
  return share > 0 ? fmt::format("{:.0f} % of {}", 100 * share, ceiling) : "ceiling not measured";
}

std::string for_people(const MovingResult& moving, double link_gb_per_s, const ShapeBenchSettings& settings) {
  const auto line = [&](const char* name, const LengthResult& length) {
    return fmt::format("  {:<14}{:>9.1f} tok/s ({}); a token takes {:.2f} ms (p90 {:.2f}, p99 {:.2f})\n",
                       name, length.speed.tokens_per_second.median, formats(settings), length.token_ms.median,
                       length.token_ms.p90, length.token_ms.p99);
  };
  const std::string policy(name_in(policy_names, settings.policy));
  return fmt::format("{} over {} within {:.2f} GB, {} experts of each layer high, behind {} tokens:\n",
                     settings.tier, settings.low_tier, static_cast<double>(moving.budget_bytes) / 1e9,
                     moving.high_per_layer, moving.context) +
         line("quiet", moving.quiet) + line("policy idle", moving.idle) + line("swap storm", moving.storm) +
         line(policy.c_str(), moving.live) +
         fmt::format(
             "  the idle policy costs {:.1f} %; in the storm p99 is {:.2f} of the median, {} promotions, "
             "{} demotions, {:.2f} GB/s read\n"
             "  as {} decides, {:.0f} % of the uses are high; the pipeline copies at most {:.2f} GB/s, "
             "{}\n",
             100 * moving.idle_cost, moving.storm_p99_over_median, moving.promotions, moving.demotions,
             moving.read_gb_per_s, policy, 100 * moving.hit_rate, moving.flood_gb_per_s,
             link_gb_per_s > 0 ? fmt::format("{:.0f} % of the link's {:.1f}",
                                             100 * moving.flood_gb_per_s / link_gb_per_s, link_gb_per_s)
                               : "the link was not measured");
}

std::string host_share(const LengthResult& length, const ShapeBenchResult& result) {
  if (result.host_bytes_per_token == 0) return {};
  const double gb = static_cast<double>(result.host_bytes_per_token) / 1e9;
  const double reached = gb * length.speed.tokens_per_second.median;
  return fmt::format("  the processor reads {:.2f} GB of it for a token{}\n", gb,
                     result.host_gb_per_s > 0
                         ? fmt::format(", {:.0f} % of its memory's {:.1f} GB/s",
                                       100 * reached / result.host_gb_per_s, result.host_gb_per_s)
                         : "");
}

// Where less than 60 % of the bandwidth is reached.
std::string limit_of(const LengthResult& length) {
  if (length.limited_by.empty() || length.speed.ceiling_share >= 0.6) return {};
  std::string text = "  limited by " + length.limited_by + ":";
  for (const StepPart& part : length.parts) {
    text += fmt::format("{} {} {:.2f} ms", &part == length.parts.data() ? "" : ",", part.name, part.ms);
    if (part.bandwidth_share > 0)
      text += fmt::format(" ({:.0f} % of the bandwidth)", 100 * part.bandwidth_share);
  }
  return text + "\n";
}

std::string for_people(const ShapeBenchResult& result, const ShapeBenchSettings& settings) {
  const auto gb = [](std::int64_t bytes) { return static_cast<double>(bytes) / 1e9; };
  std::string text = fmt::format(
      "{}: {} layers of {} experts, {} for each token; experts {}, the rest {}; {} threads\n"
      "weights {:.2f} GB, {:.2f} GB read for a token; routing {}\n",
      result.model, result.layers, result.experts, result.experts_used, settings.tier, settings.dense_tier,
      result.threads, gb(result.memory.weights), gb(result.bytes_per_token), english(result.routing));
  for (const LengthResult& length : result.prefill)
    text +=
        fmt::format("prefill of {:>6} tokens  {:>9.1f} tok/s ({})  {}\n", length.length,
                    length.speed.tokens_per_second.median, formats(settings),
                    share_of(length.speed.ceiling_share, fmt::format("{:.1f} Gop/s", result.peak_gop_per_s)));
  const std::string bandwidth = fmt::format("{:.1f} GB/s{}", result.bandwidth_gb_per_s,
                                            result.bandwidth_is_measured ? "" : ", which was not measured");
  for (const LengthResult& length : result.decode)
    text += fmt::format(
                "decode behind {:>6}      {:>9.1f} tok/s ({})  {}; a token takes {:.2f} ms (p90 {:.2f}, p99 "
                "{:.2f}){}\n",
                length.length, length.speed.tokens_per_second.median, formats(settings),
                share_of(length.speed.ceiling_share, bandwidth), length.token_ms.median, length.token_ms.p90,
                length.token_ms.p99,
                length.pieces_ms.median > 0 ? fmt::format(", without graphs {:.2f}", length.pieces_ms.median)
                                            : "") +
            host_share(length, result) + limit_of(length);
  if (result.moving) return text + for_people(*result.moving, result.link_gb_per_s, settings);
  if (result.budget_bytes > 0)
    text += fmt::format("within {:.2f} GB, of which {:.2f} GB are taken\n", gb(result.budget_bytes),
                        gb(result.accounted_bytes));
  return text;
}

}  // namespace

const char* const shape_keys =
    "With --shape: shape, tier, dense_tier, routing (how it was made up), layers, experts, experts_used, "
    "threads;\n"
    "  prefill   a list, of each: tokens, formats (of experts and the rest), tok_per_s, ceiling_share\n"
    "  decode    a list, of each: context, formats, tok_per_s, ceiling_share, token_ms {median, p90, p99}, "
    "pieces_ms "
    "(the same\n"
    "            without graphs, where the device has them), parts (what a token's time goes to; of each: "
    "name, ms,\n"
    "            bytes, bandwidth_share), limited_by (the part that takes most beyond what its bytes need)\n"
    "  moving    with two tiers and a budget, in place of both lists: policy (dynaexq or fovea), context; "
    "quiet, "
    "idle, storm and\n"
    "            live (as the policy decides), each tok_per_s, token_ms; idle_cost (share of the speed), "
    "storm_p99_over_median, promotions, "
    "demotions and\n"
    "            read_gb_per_s of the storm; hit_rate as the policy decides; flood_gb_per_s, which the "
    "pipeline "
    "reaches;\n"
    "            high_per_layer, mean_bits_per_weight, budget_bytes, accounted_bytes\n"
    "  bytes_per_token of weights, bandwidth_gb_per_s, bandwidth_is_measured (else a GPU's clock promises "
    "it), "
    "peak_gop_per_s,\n"
    "            link_gb_per_s (copies from pinned memory), host_bytes_per_token (of them, what the "
    "processor reads) and\n"
    "            host_gb_per_s (of its memory), peak_memory_bytes, memory; with a budget also budget_bytes "
    "and\n"
    "            accounted_bytes\n";

void add_shape(CLI::App& command, ShapeFlags& flags) {
  const auto note = [&flags](const std::string&) { flags.given = true; };
  std::string names;
  for (const std::string& name : shape_names()) names += (names.empty() ? "" : ", ") + name;
  command.add_option(
      "--shape", flags.shape,
      "No file: weights made from a seed, of " + names +
          ", or of a JSON file with layers, hidden, heads, kv_heads, head_dim, vocabulary, context, "
          "experts, experts_used, expert_width, qk_norm; experts are chosen by made-up routing");
  command
      .add_option("--dense", flags.dense,
                  "With --shape: format of everything that is no expert, bf16, q8 or q4 (default: q8, which "
                  "reads more than a peer's file of 4 bits)")
      ->each(note);
  command
      .add_option("--contexts", flags.contexts,
                  "With --shape: tokens before the answers that are measured (default: 512,8192,32768)")
      ->delimiter(',')
      ->check(number_between(0, 1 << 24))
      ->each(note);
  command
      .add_option("--prompts", flags.prompts,
                  "With --shape: tokens of the prompts that are read, as 512,2048 (default: -p's)")
      ->delimiter(',')
      ->check(number_between(1, 1 << 24))
      ->each(note);
  command.add_option("--seed", flags.seed, "With --shape: of weights and routing (default: 1)")->each(note);
}

Result<void> bench_of_shape(const ShapeFlags& flags, const LoadOptions& load, const BenchSettings& settings,
                            bool json, Console& console, Interrupts& interrupts) {
  const Interrupts::Operation operation(interrupts);
  ShapeBenchSettings shape{.shape = flags.shape,
                           .dense_tier = flags.dense,
                           .device = load.device,
                           .kv = load.kv,
                           .threads = load.threads,
                           .chunk = load.chunk,
                           .contexts = flags.contexts,
                           .prompts = flags.prompts,
                           .generated_tokens = settings.generated_tokens,
                           .repetitions = settings.repetitions,
                           .seed = flags.seed};
  if (shape.prompts.empty()) shape.prompts = {settings.prompt_tokens};
  FOVEA_CHECK(read_tiers(load.precision, shape));
  FOVEA_TRY(const ShapeBenchResult result, bench_shape(shape, console.progress(), operation.token()));
  console.clear_progress();
  return json ? write_json(console, as_json(result, shape)) : console.write_text(for_people(result, shape));
}

}  // namespace fovea::app
