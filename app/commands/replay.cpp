// fovea replay T: what a policy would have done with a recorded or made-up routing.
#include "engine/api/replay.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include "app/commands/errors.h"
#include "app/commands/flags.h"
#include "app/commands/replay_flags.h"
#include "engine/api/sentence.h"
#include "engine/core/atomic_file.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

nlohmann::ordered_json as_json(const ReplayRow& row) {
  return {{"name", row.name},
          {"bytes", row.bytes},
          {"mean_bits_per_weight", row.mean_bits_per_weight},
          {"hit_rate", row.hit_rate},
          {"gate_share", row.gate_share},
          {"absent_share", row.absent_share},
          {"loss", row.loss},
          {"divergence", row.divergence},
          {"way", row.way}};
}

nlohmann::ordered_json as_json(const ReplayReport& report) {
  auto tiers = nlohmann::ordered_json::array();
  for (const PlanTier& tier : report.tiers)
    tiers.push_back({{"name", tier.name}, {"bits_per_weight", tier.bits_per_weight}, {"units", tier.units}});
  auto rows = nlohmann::ordered_json::array();
  for (const ReplayRow& row : report.rows) rows.push_back(as_json(row));
  const SwapCounters& swaps = report.swaps;
  return {{"model", report.model},
          {"layers", report.layers},
          {"units", report.units},
          {"tokens", report.tokens},
          {"passes", report.passes},
          {"layer_steps", report.layer_steps},
          {"tiers", tiers},
          {"high_per_layer", report.high_per_layer},
          {"cpu_moe_layers", report.cpu_moe_layers},
          {"rows", rows},
          {"promotions", swaps.promotions},
          {"demotions", swaps.demotions},
          {"bytes_read", swaps.bytes_read},
          {"refused", swaps.refused},
          {"visits", report.visits},
          {"stalls", swaps.stalls},
          {"stall_seconds", swaps.stall_seconds},
          {"simulated_seconds", report.simulated_seconds},
          {"traffic_share", report.traffic_share},
          {"wall_seconds", report.wall_seconds},
          {"expectation_weights", report.foresight.weights},
          {"expectation_log_likelihood", report.foresight.log_likelihood}};
}

std::string for_people(const ReplayReport& report) {
  std::string text = fmt::format("{}: {} tokens in {} passes, {} layers, {} experts\n", report.model,
                                 report.tokens, report.passes, report.layers, report.units);
  const bool kept = report.rows.front().divergence >= 0;
  text += fmt::format("{:<16} {:>9} {:>6} {:>7} {:>7}", "", "MB", "bits", "loss", "way");
  if (kept) text += fmt::format(" {:>8} {:>8}", "nats", "kept");
  for (const PlanTier& tier : report.tiers) text += fmt::format(" {:>9}", tier.name + " uses");
  for (const PlanTier& tier : report.tiers) text += fmt::format(" {:>9}", tier.name + " gate");
  text += '\n';
  for (const ReplayRow& row : report.rows) {
    text +=
        fmt::format("{:<16} {:>9.1f} {:>6.2f} {:>7.4f} {:>5.0f} %", row.name,
                    static_cast<double>(row.bytes) / 1e6, row.mean_bits_per_weight, row.loss, 100 * row.way);
    if (kept) text += fmt::format(" {:>8.4f} {:>6.1f} %", row.divergence, 100 * std::exp(-row.divergence));
    for (const double share : row.hit_rate) text += fmt::format(" {:>7.1f} %", 100 * share);
    for (const double share : row.gate_share) text += fmt::format(" {:>7.1f} %", 100 * share);
    text += '\n';
  }
  if (report.wall_seconds <= 0) return text;
  const SwapCounters& swaps = report.swaps;
  text +=
      fmt::format("{} promotions, {} demotions, {} read, {:.1f} % of {:.0f} simulated seconds; {} refused\n",
                  swaps.promotions, swaps.demotions, size_text(swaps.bytes_read), 100 * report.traffic_share,
                  report.simulated_seconds, swaps.refused);
  if (report.visits > 0)
    text += fmt::format("{} of {} visits of experts on disk alone missed, {:.2f} s of stalls\n", swaps.stalls,
                        report.visits, swaps.stall_seconds);
  return text + fmt::format("{:.1f} million layer steps in {:.2f} s\n",
                            static_cast<double>(report.layer_steps) / 1e6, report.wall_seconds);
}

Result<void> write_made_up(const ReplayFlags& flags, const SyntheticRouting& routing,
                           Interrupts& interrupts) {
  const Interrupts::Operation operation(interrupts);
  FOVEA_TRY(auto file, AtomicFile::create(flags.out));
  FOVEA_CHECK(write_synthetic_trace(
      routing, [&](std::string_view bytes) { return file.write(bytes); }, operation.token()));
  return file.commit();
}

Result<void> print_replay(const ReplayFlags& flags, Console& console, Interrupts& interrupts) {
  FOVEA_TRY(const ReplayRequest request, replay_request(flags));
  if (!flags.out.empty()) FOVEA_CHECK(write_made_up(flags, *request.synthetic, interrupts));
  const Interrupts::Operation operation(interrupts);
  FOVEA_TRY(const ReplayReport report, replay(request, console.progress(), operation.token()));
  console.clear_progress();
  for (const Phrase& note : report.notes) console.note(english(note));
  if (!flags.write_map.empty()) {
    if (report.tier_map.empty()) return fail(phrases::option_place("--write-map"), errors::no_mix_fits());
    FOVEA_TRY(auto map, AtomicFile::create(flags.write_map));
    FOVEA_CHECK(map.write(report.tier_map));
    FOVEA_CHECK(map.commit());
  }
  return flags.json ? write_json(console, as_json(report)) : console.write_text(for_people(report));
}

}  // namespace

void add_replay(Registry& registry) {
  auto flags = std::make_shared<ReplayFlags>();
  CLI::App* command = add_command(
      registry, "replay", "What a policy would have done, beside fixed tiers of the same bytes", flags->json,
      "  rows                 the policy; static (the best fixed mix of its bytes for the calibration), "
      "fixed\n"
      "                       at start (for the first tokens), fixed hindsight (for these tokens); "
      "look-ahead\n"
      "                       200 and 2000 (exchanges for so many coming tokens), ceiling (each pass by "
      "itself,\n"
      "                       no bytes to read); all high, all low; each: name, bytes, "
      "mean_bits_per_weight,\n"
      "                       hit_rate and gate_share by tier (of the tokens' uses, of the router's "
      "weight),\n"
      "                       absent_share (of the uses, that waited for the disk), loss (of gate × damage: "
      "0 "
      "as\n"
      "                       all high, 1 as all low; damage is the store's, or 4^−bits), divergence "
      "(expected,\n"
      "                       in nats a token from the model as its file has it; -1: not measured by "
      "prepare\n"
      "                       --divergence), way (share of the way from static to the better look-ahead)\n"
      "  tiers                name, bits_per_weight, units that there is room for; high_per_layer\n"
      "  promotions           of the policy, and demotions, bytes_read, refused\n"
      "  visits               of experts on disk alone, for each pass; stalls: those that waited; "
      "stall_seconds\n"
      "  cpu_moe_layers       that offload took away\n"
      "  simulated_seconds    with the stalls; traffic_share of them in which versions were read\n"
      "  layer_steps          passes × layers; wall_seconds that the policy's replay took\n"
      "  expectation_weights  of a policy that expects: what counts, the calibration and then each time "
      "scale;\n"
      "                       expectation_log_likelihood, the mean ln p of what was chosen\n"
      "  model, layers, units, tokens, passes\n");
  add_replay_flags(*command, *flags);
  command->callback([&registry, flags] {
    if (flags->trace.empty() == flags->synthetic.empty())
      throw CLI::RequiredError("One of TRACE and --synthetic");
    if (flags->policy != "offload" && (flags->budget_bytes > 0) == (flags->high_share > 0))
      throw CLI::RequiredError("One of --budget and --high-share");
    registry.chosen = [flags](Console& console, Interrupts& interrupts) {
      return print_replay(*flags, console, interrupts);
    };
  });
}

}  // namespace fovea::app
