#include "app/commands/bench_shape.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include "app/commands/precision_use.h"
#include "engine/api/bench_shape.h"
#include "engine/api/plan.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

// What is measured has weights of fixed types and no store.
Result<std::string> tier_of(const PrecisionFlags& precision) {
  const PrecisionRequest& request = precision.request;
  const bool fixed = !precision.policy_given || request.policy == PolicyKind::static_tiers ||
                     request.policy == PolicyKind::none;
  const bool offloads = request.offload.cpu_moe_layers != 0 || request.offload.gpu_layers >= 0 ||
                        !request.offload.override_tensors.empty() || precision.cpu_moe;
  if (!fixed || precision.dynaexq_given || offloads || request.budget_bytes > 0 || !request.store.empty() ||
      !request.tier_map.empty() || !request.events.empty() || request.tiers.size() > 1)
    return fail(ErrorKind::invalid, "--shape", "its weights have one fixed tier, and no budget and no store",
                "Give --tiers with one tier and no other flag of precision");
  return request.tiers.empty() ? "q4" : request.tiers.front();
}

nlohmann::ordered_json as_json(const LengthResult& length, bool decode) {
  const Spread& spread = length.speed.tokens_per_second;
  nlohmann::ordered_json object = {
      {decode ? "context" : "tokens", length.length},
      {"tok_per_s", {{"median", spread.median}, {"min", spread.min}, {"max", spread.max}}},
      {"ceiling_share", length.speed.ceiling_share}};
  if (decode)
    object["token_ms"] = {
        {"median", length.token_ms.median}, {"p90", length.token_ms.p90}, {"p99", length.token_ms.p99}};
  return object;
}

nlohmann::ordered_json as_json(const ShapeBenchResult& result, const ShapeBenchSettings& settings) {
  nlohmann::ordered_json decode = nlohmann::json::array(), prefill = nlohmann::json::array();
  for (const LengthResult& length : result.decode) decode.push_back(as_json(length, true));
  for (const LengthResult& length : result.prefill) prefill.push_back(as_json(length, false));
  return {{"shape", result.model},
          {"tier", settings.tier},
          {"dense_tier", settings.dense_tier},
          {"routing", result.routing},
          {"layers", result.layers},
          {"experts", result.experts},
          {"experts_used", result.experts_used},
          {"threads", result.threads},
          {"decode", decode},
          {"prefill", prefill},
          {"bytes_per_token", result.bytes_per_token},
          {"bandwidth_gb_per_s", result.bandwidth_gb_per_s},
          {"peak_gop_per_s", result.peak_gop_per_s},
          {"peak_memory_bytes", resident_peak_bytes()},
          {"memory",
           {{"weights", result.memory.weights},
            {"kv_cache", result.memory.kv_cache},
            {"activations", result.memory.activations}}}};
}

std::string share_of(double share, const std::string& ceiling) {
  return share > 0 ? fmt::format("{:.0f} % of {}", 100 * share, ceiling) : "ceiling not measured";
}

std::string for_people(const ShapeBenchResult& result, const ShapeBenchSettings& settings) {
  const auto gb = [](std::int64_t bytes) { return static_cast<double>(bytes) / 1e9; };
  std::string text = fmt::format(
      "{}: {} layers of {} experts, {} for each token; experts {}, the rest {}; {} threads\n"
      "weights {:.2f} GB, {:.2f} GB read for a token; routing {}\n",
      result.model, result.layers, result.experts, result.experts_used, settings.tier, settings.dense_tier,
      result.threads, gb(result.memory.weights), gb(result.bytes_per_token), result.routing);
  for (const LengthResult& length : result.prefill)
    text += fmt::format(
        "prefill of {:>6} tokens  {:>9.1f} tok/s  {}\n", length.length, length.speed.tokens_per_second.median,
        share_of(length.speed.ceiling_share, fmt::format("{:.1f} Gop/s", result.peak_gop_per_s)));
  for (const LengthResult& length : result.decode)
    text += fmt::format(
        "decode behind {:>6}      {:>9.1f} tok/s  {}; a token takes {:.2f} ms (p90 {:.2f}, p99 "
        "{:.2f})\n",
        length.length, length.speed.tokens_per_second.median,
        share_of(length.speed.ceiling_share, fmt::format("{:.1f} GB/s", result.bandwidth_gb_per_s)),
        length.token_ms.median, length.token_ms.p90, length.token_ms.p99);
  return text;
}

}  // namespace

const char* const shape_keys =
    "With --shape: shape, tier, dense_tier, routing (how it was made up), layers, experts, experts_used, "
    "threads;\n"
    "  prefill   a list, of each: tokens, tok_per_s, ceiling_share\n"
    "  decode    a list, of each: context, tok_per_s, ceiling_share, token_ms {median, p90, p99}\n"
    "  bytes_per_token of weights, bandwidth_gb_per_s, peak_gop_per_s, peak_memory_bytes, memory\n";

void add_shape(CLI::App& command, ShapeFlags& flags) {
  const auto note = [&flags](const std::string&) { flags.given = true; };
  std::string names;
  for (const std::string& name : shape_names()) names += (names.empty() ? "" : ", ") + name;
  command
      .add_option(
          "--shape", flags.shape,
          "No file: weights made from a seed, of " + names +
              ", or of a JSON file with layers, hidden, heads, kv_heads, head_dim, vocabulary, context, "
              "experts, experts_used, expert_width, qk_norm; experts are chosen by made-up routing")
      ->check(not_empty());
  command
      .add_option("--dense", flags.dense,
                  "With --shape: format of everything that is no expert, bf16, q8 or q4 (default: q8)")
      ->each(note);
  command
      .add_option("--contexts", flags.contexts,
                  "With --shape: tokens before the answers that are measured (default: 512,8192,32768)")
      ->delimiter(',')
      ->check(number_between(0, 1 << 24))
      ->each(note);
  command.add_option("--seed", flags.seed, "With --shape: of weights and routing (default: 1)")->each(note);
}

Result<void> bench_of_shape(const ShapeFlags& flags, const LoadFlags& load, const PrecisionFlags& precision,
                            const BenchSettings& settings, bool json, Console& console,
                            Interrupts& interrupts) {
  const Interrupts::Operation operation(interrupts);
  ShapeBenchSettings shape{.shape = flags.shape,
                           .dense_tier = flags.dense,
                           .device = load.device,
                           .kv = load.kv,
                           .threads = load.threads,
                           .chunk = load.chunk,
                           .contexts = flags.contexts,
                           .prompts = {settings.prompt_tokens},
                           .generated_tokens = settings.generated_tokens,
                           .repetitions = settings.repetitions,
                           .seed = flags.seed};
  FOVEA_TRY(shape.tier, tier_of(precision));
  FOVEA_TRY(const ShapeBenchResult result, bench_shape(shape, console.progress(), operation.token()));
  console.clear_progress();
  return json ? write_json(console, as_json(result, shape)) : console.write_text(for_people(result, shape));
}

}  // namespace fovea::app
