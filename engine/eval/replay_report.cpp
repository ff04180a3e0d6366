// The whole of `fovea replay`: from a request to the rows of its table.
#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>

#include "engine/api/replay.h"
#include "engine/checkpoint/mapped_file.h"
#include "engine/core/result.h"
#include "engine/eval/errors.h"
#include "engine/eval/replay.h"
#include "engine/eval/replay_stage.h"
#include "engine/eval/synthetic_trace.h"
#include "engine/precision/best_mix.h"
#include "engine/precision/dynaexq.h"
#include "engine/precision/static_plan.h"
#include "engine/precision/static_policy.h"

namespace fovea {
namespace {

using eval::PassSource;
using eval::Service;
using eval::Stage;
using eval::Totals;
using precision::PolicyWorld;

constexpr std::size_t written_at_once = std::size_t{1} << 20;

// A trace's file and who reads it.
struct Source {
  checkpoint::MappedFile file;
  std::unique_ptr<PassSource> passes;
};

Result<Source> open_source(const ReplayRequest& request) {
  Source source;
  if (request.synthetic) {
    FOVEA_TRY(source.passes, eval::make_synthetic(*request.synthetic));
    return source;
  }
  FOVEA_TRY(source.file, checkpoint::MappedFile::open(request.trace));
  FOVEA_TRY(auto reader, eval::TraceReader::open(source.file.bytes(), request.trace));
  source.passes = std::make_unique<eval::TraceReader>(std::move(reader));
  return source;
}

// Fills the table: every row is measured against all high and all low.
class Table {
 public:
  Table(const Stage& stage, const Totals& totals) : stage_(stage), world_(stage.world), totals_(totals) {
    const PolicyWorld& world = world_;
    const auto units = static_cast<std::size_t>(world.units());
    all_high_.assign(units, 0);
    all_low_.assign(units, static_cast<std::uint8_t>(world.tiers() - 1));
    high_ = eval::serve_fixed(totals, world, all_high_).loss;
    low_ = eval::serve_fixed(totals, world, all_low_).loss;
  }

  ReplayRow row(std::string name, std::int64_t bytes, const Service& service) const {
    ReplayRow row{.name = std::move(name),
                  .bytes = bytes,
                  .mean_bits_per_weight = service.mean_bits_per_weight,
                  .hit_rate = {},
                  .gate_share = {}};
    for (std::size_t tier = 0; tier < service.hits.size(); ++tier) {
      row.hit_rate.push_back(service.hit_rate(tier));
      row.gate_share.push_back(service.gate_share(tier));
    }
    const auto all =
        static_cast<double>(std::reduce(service.hits.begin(), service.hits.end(), std::int64_t{0}));
    row.absent_share = all > 0 ? static_cast<double>(service.absent_hits) / all : 0;
    row.loss = low_ > high_ ? (service.loss - high_) / (low_ - high_) : 0;
    return row;
  }
  ReplayRow fixed(std::string name, const std::vector<std::uint8_t>& tiers) const {
    return row(std::move(name), eval::held_bytes(world_, tiers), eval::serve_fixed(totals_, world_, tiers));
  }
  // The best fixed tiers for a profile of use: in the budget's arena, or else of so many bytes.
  Result<std::vector<std::uint8_t>> best(const Totals& profile, std::int64_t bytes) const {
    const auto loss = precision::expected_loss(world_, profile.gate);
    if (stage_.plan.budget_bytes > 0) {
      precision::PlanInputs plan = stage_.plan;
      for (precision::UnitGroup& group : plan.groups) group.absent = 0;
      const std::vector<bool> nowhere(stage_.group.size(), false);
      FOVEA_TRY(precision::StaticPlan best, precision::plan_static(plan, stage_.group, nowhere, loss));
      return std::move(best.tiers);
    }
    FOVEA_TRY(
        precision::TierMix mix,
        precision::best_mix(
            {.tiers = world_.tiers(), .bytes = world_.unit_bytes, .loss = loss, .budget_bytes = bytes}));
    return std::move(mix.tiers);
  }
  ReplayRow all_high() const { return fixed("all high", all_high_); }
  ReplayRow all_low() const { return fixed("all low", all_low_); }

 private:
  const Stage& stage_;
  const PolicyWorld& world_;
  const Totals& totals_;
  std::vector<std::uint8_t> all_high_, all_low_;
  double high_ = 0, low_ = 0;
};

Result<std::unique_ptr<precision::Policy>> make_policy(const ReplayRequest& request, Stage& stage) {
  if (request.policy == PolicyKind::dynaexq) return precision::make_dynaexq(stage.world, request.dynaexq);
  FOVEA_TRY(precision::StaticPlan best, precision::plan_static(stage.plan, stage.group, stage.absent,
                                                               precision::expected_loss(stage.world)));
  stage.world.capacity = best.plan.capacity;
  stage.arena = best.plan.arena;
  stage.on_demand_blocks = best.plan.on_demand_blocks;
  return precision::make_static(stage.world, std::move(best.tiers));
}

// Plays the policy. Returns its row.
Result<ReplayRow> play(const ReplayRequest& request, PassSource& passes, Stage& stage, const Table& table,
                       const ProgressSink& progress, const std::stop_token& stop, ReplayReport& report) {
  FOVEA_TRY(const auto policy, make_policy(request, stage));
  const auto start = std::chrono::steady_clock::now();
  FOVEA_TRY(const eval::ReplayResult result,
            eval::replay_passes(passes, stage.world, *policy,
                                {.clock = request.clock,
                                 .in_flight = request.dynaexq.in_flight,
                                 .arena = stage.arena,
                                 .on_demand_blocks = stage.on_demand_blocks,
                                 .snapshots = request.snapshots,
                                 .snapshot_seconds = request.snapshot_seconds,
                                 .tier_names = stage.tier_names},
                                progress, stop));
  report.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.swaps = result.swaps;
  report.visits = result.visits;
  report.simulated_seconds = result.simulated_seconds;
  report.traffic_share = result.traffic_share;
  return table.row(request.policy == PolicyKind::dynaexq ? "dynaexq" : "offload",
                   eval::held_bytes(stage.world, policy->initial()), result.service);
}

// The fixed mixes of as many bytes: with the whole trace's use, and with that of its beginning.
Result<void> add_mixes(const ReplayRequest& request, const Stage& stage, const Table& table,
                       const Totals& totals, const Totals& profile, std::int64_t bytes,
                       ReplayReport& report) {
  const auto best = table.best(totals, bytes);
  // Not even the lowest tier of every unit fits beside what a policy offloads.
  if (!best && best.error().kind == ErrorKind::memory && request.policy == PolicyKind::offload) return {};
  if (!best) return std::unexpected(best.error());
  report.rows.push_back(table.fixed("best static mix", *best));
  if (request.tier_map)
    report.tier_map = eval::tier_map_text(stage, *best,
                                          "the best fixed tiers for the experts' use in a trace of " +
                                              std::to_string(totals.pass_tokens) + " tokens");
  FOVEA_TRY(const auto early, table.best(profile, bytes));
  report.rows.push_back(table.fixed("session profile", early));
  return {};
}

}  // namespace

Result<ReplayReport> replay(const ReplayRequest& request, const ProgressSink& progress,
                            std::stop_token stop) {
  const PolicyKind policy = request.policy;
  if (policy != PolicyKind::dynaexq && policy != PolicyKind::static_tiers && policy != PolicyKind::offload)
    return fail(phrases::option_place("policy"), errors::replay_policy());
  FOVEA_TRY(const Source source, open_source(request));
  PassSource& passes = *source.passes;
  const eval::TraceShape& shape = passes.shape();
  FOVEA_TRY(const Totals totals, eval::count_uses(passes, 0, stop));
  FOVEA_TRY(const Totals profile,
            eval::count_uses(passes, std::max<std::int64_t>(1, request.profile_tokens), stop));
  FOVEA_TRY(Stage stage, eval::set_stage(request, shape, totals.largest_pass));

  ReplayReport report{.model = shape.model,
                      .layers = std::ssize(shape.layers),
                      .units = stage.world.units(),
                      .used = shape.used,
                      .passes = totals.passes,
                      .tokens = totals.pass_tokens,
                      .layer_steps = totals.passes * std::ssize(shape.layers),
                      .tiers = {},
                      .high_per_layer = stage.world.high_per_layer,
                      .rows = {},
                      .swaps = {},
                      .cpu_moe_layers = stage.cpu_moe_layers,
                      .notes = stage.notes,
                      .tier_map = {}};
  const Table table(stage, totals);
  std::int64_t bytes = 0;
  if (policy == PolicyKind::static_tiers) {
    bytes = eval::held_bytes(
        stage.world, precision::best_fill(stage.world, precision::expected_loss(stage.world, totals.gate)));
  } else {
    FOVEA_TRY(report.rows.emplace_back(), play(request, passes, stage, table, progress, stop, report));
    bytes = report.rows.front().bytes;
  }
  FOVEA_CHECK(add_mixes(request, stage, table, totals, profile, bytes, report));
  report.rows.push_back(table.all_high());
  report.rows.push_back(table.all_low());
  for (std::size_t tier = 0; tier < stage.tier_names.size(); ++tier)
    report.tiers.push_back({.name = stage.tier_names[tier],
                            .bits_per_weight = stage.world.bits_per_weight[tier],
                            .units = stage.world.capacity[tier]});
  return report;
}

Result<void> write_synthetic_trace(const SyntheticRouting& routing, const ByteSink& out,
                                   std::stop_token stop) {
  FOVEA_TRY(const auto passes, eval::make_synthetic(routing));
  eval::TraceWriter writer(passes->shape());
  std::string bytes;
  writer.begin(bytes);
  eval::TracePass pass;
  while (true) {
    if (stop.stop_requested()) return fail(phrases::synthetic_trace_place(), errors::stopped_on_request());
    FOVEA_TRY(const bool more, passes->next(pass));
    if (!more) break;
    writer.pass(pass, bytes);
    if (bytes.size() < written_at_once) continue;
    FOVEA_CHECK(out(bytes));
    bytes.clear();
  }
  writer.end(bytes);
  return out(bytes);
}

}  // namespace fovea
