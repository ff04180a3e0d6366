// The whole of `fovea replay`: from a request to the rows of its table.
#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <numeric>

#include "engine/api/replay.h"
#include "engine/checkpoint/mapped_file.h"
#include "engine/core/result.h"
#include "engine/eval/errors.h"
#include "engine/eval/replay.h"
#include "engine/eval/replay_references.h"
#include "engine/eval/replay_stage.h"
#include "engine/eval/synthetic_trace.h"
#include "engine/precision/best_mix.h"
#include "engine/precision/dynaexq.h"
#include "engine/precision/fovea_policy.h"
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

// How often each expert was used, by the router's weights. [units]
using Profile = std::vector<double>;

// Fills the table: every row is measured against all high and all low.
class Table {
 public:
  Table(const Stage& stage, const Totals& totals) : stage_(stage), world_(stage.world), totals_(totals) {
    const auto units = static_cast<std::size_t>(world_.units());
    all_high_.assign(units, 0);
    all_low_.assign(units, static_cast<std::uint8_t>(world_.tiers() - 1));
    high_ = eval::serve_fixed(totals, world_, all_high_).loss;
    low_ = eval::serve_fixed(totals, world_, all_low_).loss;
  }

  ReplayRow row(std::string name, std::int64_t bytes, const Service& service) const {
    ReplayRow row = of_loss(std::move(name), bytes, service.loss);
    row.mean_bits_per_weight = service.mean_bits_per_weight;
    for (std::size_t tier = 0; tier < service.hits.size(); ++tier) {
      row.hit_rate.push_back(service.hit_rate(tier));
      row.gate_share.push_back(service.gate_share(tier));
    }
    const auto all =
        static_cast<double>(std::reduce(service.hits.begin(), service.hits.end(), std::int64_t{0}));
    row.absent_share = all > 0 ? static_cast<double>(service.absent_hits) / all : 0;
    return row;
  }
  // Of which no more is known than what it loses.
  ReplayRow of_loss(std::string name, std::int64_t bytes, double loss) const {
    ReplayRow row{.name = std::move(name), .bytes = bytes, .hit_rate = {}, .gate_share = {}};
    row.loss = low_ > high_ ? (loss - high_) / (low_ - high_) : 0;
    if (world_.damage_is_divergence) row.divergence = loss / static_cast<double>(totals_.pass_tokens);
    return row;
  }
  ReplayRow fixed(std::string name, const std::vector<std::uint8_t>& tiers) const {
    return row(std::move(name), eval::held_bytes(world_, tiers), eval::serve_fixed(totals_, world_, tiers));
  }
  // The best fixed tiers for a profile of use: in the budget's arena, or else of so many bytes.
  Result<std::vector<std::uint8_t>> best(const Profile& profile, std::int64_t bytes) const {
    const auto loss = precision::expected_loss(world_, profile);
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

// What one way of choosing tiers has: a world whose numbers of units are its own, and blocks for them.
struct Cast {
  PolicyWorld world;
  precision::ArenaPlan arena;
  std::int64_t on_demand_blocks = 0;
  std::vector<std::uint8_t> first = {};  // [units]: the best mix of the calibration; dynaexq chooses its own
};

// With `policy` static_tiers, offload or fovea: its best mix of the calibration, in the budget or in as many
// places as the share of high ones gives.
Result<Cast> cast_for(PolicyKind policy, const Stage& stage) {
  Cast cast{.world = stage.world, .arena = stage.arena, .on_demand_blocks = stage.on_demand_blocks};
  if (policy == PolicyKind::dynaexq) return cast;
  const auto loss = precision::expected_loss(stage.world);
  if (stage.plan.budget_bytes == 0 && policy == PolicyKind::fovea) {
    cast.first = precision::best_fill(stage.world, loss);
    return cast;
  }
  FOVEA_TRY(precision::StaticPlan best,
            precision::plan_static(stage.plan, stage.group, stage.absent, loss,
                                   policy == PolicyKind::fovea ? policy : PolicyKind::static_tiers));
  precision::give_room(best.plan, cast.world);
  cast.arena = best.plan.arena;
  cast.on_demand_blocks = best.plan.on_demand_blocks;
  cast.first = std::move(best.tiers);
  return cast;
}

Result<std::unique_ptr<precision::Policy>> make_policy(const ReplayRequest& request, const Cast& cast) {
  if (request.policy == PolicyKind::dynaexq) return precision::make_dynaexq(cast.world, request.dynaexq);
  if (request.policy == PolicyKind::fovea)
    return precision::make_fovea(cast.world, request.fovea, cast.first);
  return precision::make_static(cast.world, cast.first);
}

class Stager {
 public:
  Stager(const ReplayRequest& request, PassSource& passes, const Stage& stage, const Table& table,
         const ProgressSink& progress, std::stop_token stop)
      : request_(request),
        passes_(passes),
        stage_(stage),
        table_(table),
        progress_(progress),
        stop_(std::move(stop)) {}

  Result<eval::ReplayResult> play(const Cast& cast, precision::Policy& policy,
                                  const SnapshotSink& snapshots) {
    return eval::replay_passes(passes_, cast.world, policy,
                               {.clock = request_.clock,
                                .prompt_pass_tokens = request_.prompt_pass_tokens,
                                .in_flight = in_flight(),
                                .arena = cast.arena,
                                .on_demand_blocks = cast.on_demand_blocks,
                                .snapshots = snapshots,
                                .snapshot_seconds = request_.snapshot_seconds,
                                .tier_names = stage_.tier_names},
                               progress_, stop_);
  }

  // The policy itself, and what it did.
  Result<ReplayRow> policy(ReplayReport& report, std::vector<std::int64_t>& capacity) {
    FOVEA_TRY(const Cast cast, cast_for(request_.policy, stage_));
    FOVEA_TRY(const auto policy, make_policy(request_, cast));
    const auto start = std::chrono::steady_clock::now();
    FOVEA_TRY(const eval::ReplayResult result, play(cast, *policy, request_.snapshots));
    report.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    report.passes = result.passes;
    report.layer_steps = result.layer_steps;
    report.swaps = result.swaps;
    report.foresight = policy->foresight();
    report.visits = result.visits;
    report.simulated_seconds = result.simulated_seconds;
    report.traffic_share = result.traffic_share;
    capacity = cast.world.capacity;
    const std::string name = request_.policy == PolicyKind::offload ? "offload" : std::string(policy->name());
    return table_.row(name, eval::held_bytes(stage_.world, policy->initial()), result.service);
  }

  // The fixed mixes of as many bytes.
  Result<void> fixed_rows(const Profile& calibration, const Totals& start, const Totals& totals,
                          std::int64_t bytes, ReplayReport& report) {
    for (const auto& [name, profile] :
         {std::pair(reference_static, &calibration), std::pair(reference_start, &start.gate),
          std::pair(reference_hindsight, &totals.gate)}) {
      const auto best = table_.best(*profile, bytes);
      // Not even the lowest tier of every unit fits beside what a policy offloads.
      if (!best && best.error().kind == ErrorKind::memory && request_.policy == PolicyKind::offload)
        return {};
      if (!best) return std::unexpected(best.error());
      report.rows.push_back(table_.fixed(name, *best));
      if (request_.tier_map == name)
        report.tier_map = eval::tier_map_text(stage_, *best,
                                              "the tiers \"" + request_.tier_map + "\" of a trace of " +
                                                  std::to_string(totals.pass_tokens) + " tokens");
    }
    return {};
  }

  std::int32_t in_flight() const {
    return precision::swaps_at_once(request_.policy, request_.dynaexq, request_.fovea, stage_.world.units());
  }

  Result<void> look_ahead_rows(ReplayReport& report) {
    FOVEA_TRY(const Cast cast, cast_for(PolicyKind::fovea, stage_));
    for (const std::int64_t tokens : look_ahead_tokens) {
      FOVEA_TRY(const Source coming, open_source(request_));
      FOVEA_TRY(const auto policy,
                eval::make_look_ahead(*coming.passes, cast.world,
                                      {.tokens = tokens, .in_flight = in_flight()}, cast.first));
      FOVEA_TRY(const eval::ReplayResult result, play(cast, *policy, {}));
      report.rows.push_back(table_.row(std::string(reference_look_ahead) + " " + std::to_string(tokens),
                                       eval::held_bytes(stage_.world, cast.first), result.service));
    }
    const std::int64_t bytes = stage_.plan.budget_bytes > 0 ? stage_.plan.budget_bytes : stage_.arena.bytes();
    FOVEA_TRY(const double loss, eval::ceiling_loss(passes_, stage_.world, bytes, stop_));
    report.rows.push_back(table_.of_loss(reference_ceiling, bytes, loss));
    return {};
  }

 private:
  static constexpr std::array<std::int64_t, 2> look_ahead_tokens{200, 2000};

  const ReplayRequest& request_;
  PassSource& passes_;
  const Stage& stage_;
  const Table& table_;
  const ProgressSink& progress_;
  std::stop_token stop_;
};

// How often a calibration used the experts: the store's, or, of synthetic routing, another text of as many
// tokens. Empty: there was none.
Result<std::vector<float>> calibration_of(const ReplayRequest& request, const Stage& stage,
                                          const std::stop_token& stop) {
  if (!request.synthetic || !stage.world.uses.empty()) return stage.world.uses;
  SyntheticRouting other = *request.synthetic;
  ++other.text;
  FOVEA_TRY(const auto passes, eval::make_synthetic(other));
  FOVEA_TRY(const Totals totals, eval::count_uses(*passes, 0, stop));
  std::vector<float> uses;
  for (const double gate : totals.gate)
    uses.push_back(static_cast<float>((gate + 0.5) / static_cast<double>(totals.pass_tokens)));
  return uses;
}

// The share of the way from static to the better look-ahead.
void set_way(std::vector<ReplayRow>& rows) {
  const auto named = [&](const char* name) {
    return std::ranges::find_if(rows, [&](const ReplayRow& row) { return row.name == name; });
  };
  const auto from = named(reference_static);
  double best = from == rows.end() ? 0 : from->loss;
  for (const ReplayRow& row : rows)
    if (row.name.starts_with(reference_look_ahead)) best = std::min(best, row.loss);
  if (from == rows.end() || !(best < from->loss)) return;
  const double start = from->loss;
  for (ReplayRow& row : rows) row.way = (start - row.loss) / (start - best);
}

}  // namespace

Result<ReplayReport> replay(const ReplayRequest& request, const ProgressSink& progress,
                            std::stop_token stop) {
  const PolicyKind kind = request.policy;
  if (kind == PolicyKind::none || kind == PolicyKind::automatic)
    return fail(phrases::option_place("policy"), errors::replay_policy());
  FOVEA_TRY(const Source source, open_source(request));
  PassSource& passes = *source.passes;
  const eval::TraceShape& shape = passes.shape();
  FOVEA_TRY(const Totals totals, eval::count_uses(passes, 0, stop));
  FOVEA_TRY(Totals start, eval::count_uses(passes, std::max<std::int64_t>(1, request.profile_tokens), stop));
  for (double& gate : start.gate) gate += 0.5 / shape.used;  // what was not used yet may be: as half a token
  FOVEA_TRY(Stage stage,
            eval::set_stage(request, shape, std::max(totals.largest_pass, request.prompt_pass_tokens)));
  FOVEA_TRY(stage.world.uses, calibration_of(request, stage, stop));
  if (stage.world.uses.empty()) stage.notes.push_back(phrases::replay_without_calibration());

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
  Stager stager(request, passes, stage, table, progress, stop);
  std::vector<std::int64_t> capacity = stage.world.capacity;
  std::int64_t bytes = 0;
  if (kind == PolicyKind::static_tiers) {
    bytes = eval::held_bytes(stage.world,
                             precision::best_fill(stage.world, precision::expected_loss(stage.world)));
  } else {
    FOVEA_TRY(report.rows.emplace_back(), stager.policy(report, capacity));
    bytes = report.rows.front().bytes;
  }
  Profile calibration(stage.world.uses.begin(), stage.world.uses.end());
  calibration.resize(static_cast<std::size_t>(stage.world.units()), 1);
  FOVEA_CHECK(stager.fixed_rows(calibration, start, totals, bytes, report));
  if (kind != PolicyKind::offload) FOVEA_CHECK(stager.look_ahead_rows(report));
  report.rows.push_back(table.all_high());
  report.rows.push_back(table.all_low());
  set_way(report.rows);
  for (std::size_t tier = 0; tier < stage.tier_names.size(); ++tier)
    report.tiers.push_back({.name = stage.tier_names[tier],
                            .bits_per_weight = stage.world.bits_per_weight[tier],
                            .units = capacity[tier]});
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
