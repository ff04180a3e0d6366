// The whole of `fovea replay`: from a request to the rows of its table.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

#include "engine/api/replay.h"
#include "engine/checkpoint/mapped_file.h"
#include "engine/core/result.h"
#include "engine/eval/replay.h"
#include "engine/eval/synthetic_trace.h"
#include "engine/precision/best_mix.h"
#include "engine/precision/dynaexq.h"
#include "engine/precision/planner.h"
#include "engine/precision/tiers.h"

namespace fovea {
namespace {

using eval::PassSource;
using eval::Service;
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
  FOVEA_TRY(auto reader, eval::TraceReader::open(source.file.bytes(), request.trace.string()));
  source.passes = std::make_unique<eval::TraceReader>(std::move(reader));
  return source;
}

struct NamedBits {
  std::string name;
  std::optional<double> bits;  // none: as the file has it
};

Result<NamedBits> parse_tier(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) {
    FOVEA_TRY(const precision::Tier tier, precision::parse_tier(text));
    return NamedBits{text, tier.type ? std::optional(kernels::bits_per_weight(*tier.type)) : std::nullopt};
  }
  double bits = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + equals + 1, end, bits);
  if (error != std::errc() || rest != end || !(bits > 0 && bits <= 32))
    return fail(ErrorKind::invalid, "tiers", "\"" + text + "\" does not give bits per weight",
                "Write for example q2=2.25");
  return NamedBits{text.substr(0, equals), bits};
}

// What the replay holds of the model and the tiers.
struct Stage {
  PolicyWorld world;
  std::vector<std::string> tier_names;
  std::vector<double> tier_bits;  // [tiers] over all experts
  precision::PlanInputs plan;     // of the experts alone
};

std::int64_t version_bytes(double parameters, double bits) {
  const auto bytes = static_cast<std::int64_t>(std::ceil(parameters * bits / 8));
  return (bytes + precision::version_alignment - 1) / precision::version_alignment *
         precision::version_alignment;
}

Result<Stage> set_stage(const eval::TraceShape& shape, const std::vector<std::string>& tiers) {
  Stage stage;
  stage.world.first_unit = shape.first_unit();
  std::vector<NamedBits> named;
  for (const std::string& text : tiers) {
    FOVEA_TRY(NamedBits tier, parse_tier(text));
    stage.tier_names.push_back(tier.name);
    named.push_back(std::move(tier));
  }
  stage.plan.tier_names = stage.tier_names;
  std::vector<double> bits(named.size());
  double parameters = 0;
  for (const ExpertLayer& layer : shape.layers) {
    const auto of_expert = static_cast<double>(layer.parameters);
    precision::UnitGroup group{
        .layers = 1, .units = layer.experts, .parameters = layer.parameters, .bytes = {}};
    for (std::size_t tier = 0; tier < named.size(); ++tier) {
      const double per_weight =
          named[tier].bits.value_or(8 * static_cast<double>(layer.file_bytes) / of_expert);
      if (!(per_weight > 0))
        return fail(ErrorKind::invalid, "tiers", "the trace does not say how large the file's experts are",
                    "Give bits per weight, for example file=4.5");
      group.bytes.push_back(version_bytes(of_expert, per_weight));
      bits[tier] += per_weight * of_expert * layer.experts;
    }
    parameters += of_expert * layer.experts;
    for (std::int32_t expert = 0; expert < layer.experts; ++expert)
      stage.world.unit_bytes.insert(stage.world.unit_bytes.end(), group.bytes.begin(), group.bytes.end());
    auto& groups = stage.plan.groups;
    if (!groups.empty() && groups.back().bytes == group.bytes && groups.back().units == group.units &&
        groups.back().parameters == group.parameters)
      ++groups.back().layers;
    else
      groups.push_back(group);
  }
  for (double& each : bits) each /= parameters;
  for (std::size_t tier = 1; tier < bits.size(); ++tier) {
    if (bits[tier] >= bits[tier - 1])
      return fail(ErrorKind::invalid, "tiers",
                  stage.tier_names[tier] + " is not smaller than " + stage.tier_names[tier - 1],
                  "Give the tiers from high to low");
  }
  stage.world.bits_per_weight = stage.tier_bits = bits;
  return stage;
}

// How many experts of each tier there is room for.
Result<void> give_room(const ReplayRequest& request, const eval::TraceShape& shape, Stage& stage) {
  PolicyWorld& world = stage.world;
  world.spare_blocks =
      std::max(1, request.dynaexq.in_flight / 2);  // each pair in flight needs one of each tier
  if ((request.budget_bytes > 0) == (request.high_share > 0))
    return fail(ErrorKind::invalid, "budget", "one of budget and high share is needed",
                "Give for example --high-share 0.25");
  if (request.budget_bytes > 0) {
    stage.plan.budget_bytes = request.budget_bytes;
    stage.plan.spare_blocks = world.spare_blocks;
    FOVEA_TRY(const precision::PrecisionPlan plan,
              precision::plan_precision(stage.plan, PolicyKind::dynaexq));
    world.capacity = plan.capacity;
    world.high_per_layer = plan.high_per_layer;
    return {};
  }
  if (!(request.high_share <= 1)) return fail(ErrorKind::invalid, "high share", "it must be from 0 to 1");
  world.capacity.assign(static_cast<std::size_t>(world.tiers()), 0);
  for (const ExpertLayer& layer : shape.layers)
    world.high_per_layer =
        std::max<std::int64_t>(world.high_per_layer, std::llround(request.high_share * layer.experts));
  for (const ExpertLayer& layer : shape.layers)
    world.capacity.front() += std::min<std::int64_t>(layer.experts, world.high_per_layer);
  world.capacity.back() += world.units() - (world.tiers() > 1 ? world.capacity.front() : 0);
  return {};
}

std::int64_t held_bytes(const PolicyWorld& world, const std::vector<std::uint8_t>& tiers) {
  std::int64_t bytes = 0;
  for (std::size_t unit = 0; unit < tiers.size(); ++unit) {
    if (tiers[unit] != no_tier)
      bytes += world.unit_bytes[unit * static_cast<std::size_t>(world.tiers()) + tiers[unit]];
  }
  return bytes;
}

// Fills the table: every row is measured against all high and all low.
class Table {
 public:
  Table(const PolicyWorld& world, const Totals& totals) : world_(world), totals_(totals) {
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
    row.loss = low_ > high_ ? (service.loss - high_) / (low_ - high_) : 0;
    return row;
  }
  ReplayRow fixed(std::string name, const std::vector<std::uint8_t>& tiers) const {
    return row(std::move(name), held_bytes(world_, tiers), eval::serve_fixed(totals_, world_, tiers));
  }
  Result<ReplayRow> best(std::string name, const Totals& profile, std::int64_t budget_bytes) const {
    const auto loss = precision::expected_loss(world_, profile.gate);
    FOVEA_TRY(const precision::TierMix mix, precision::best_mix({.tiers = world_.tiers(),
                                                                 .bytes = world_.unit_bytes,
                                                                 .loss = loss,
                                                                 .budget_bytes = budget_bytes}));
    return fixed(std::move(name), mix.tiers);
  }
  ReplayRow all_high() const { return fixed("all high", all_high_); }
  ReplayRow all_low() const { return fixed("all low", all_low_); }

 private:
  const PolicyWorld& world_;
  const Totals& totals_;
  std::vector<std::uint8_t> all_high_, all_low_;
  double high_ = 0, low_ = 0;
};

Result<std::vector<std::uint8_t>> play(const ReplayRequest& request, PassSource& passes, const Stage& stage,
                                       const ProgressSink& progress, const std::stop_token& stop,
                                       std::optional<Service>& service, ReplayReport& report) {
  FOVEA_TRY(const auto policy, precision::make_dynaexq(stage.world, request.dynaexq));
  const auto start = std::chrono::steady_clock::now();
  FOVEA_TRY(const eval::ReplayResult result,
            eval::replay_passes(passes, stage.world, *policy,
                                {.clock = request.clock,
                                 .in_flight = request.dynaexq.in_flight,
                                 .snapshots = request.snapshots,
                                 .snapshot_seconds = request.snapshot_seconds,
                                 .tier_names = stage.tier_names},
                                progress, stop));
  report.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.swaps = result.swaps;
  report.simulated_seconds = result.simulated_seconds;
  report.traffic_share = result.traffic_share;
  service = result.service;
  return policy->initial();
}

}  // namespace

Result<ReplayReport> replay(const ReplayRequest& request, const ProgressSink& progress,
                            std::stop_token stop) {
  if (request.policy != PolicyKind::dynaexq && request.policy != PolicyKind::static_tiers)
    return fail(ErrorKind::unsupported, "policy", "a replay knows dynaexq and static");
  FOVEA_TRY(const Source source, open_source(request));
  PassSource& passes = *source.passes;
  const eval::TraceShape& shape = passes.shape();
  FOVEA_TRY(Stage stage, set_stage(shape, request.tiers));
  FOVEA_CHECK(give_room(request, shape, stage));
  FOVEA_TRY(const Totals totals, eval::count_uses(passes, 0, stop));
  FOVEA_TRY(const Totals profile,
            eval::count_uses(passes, std::max<std::int64_t>(1, request.profile_tokens), stop));

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
                      .swaps = {}};
  const Table table(stage.world, totals);
  std::int64_t bytes = held_bytes(
      stage.world, precision::best_fill(stage.world, precision::expected_loss(stage.world, totals.gate)));
  if (request.policy == PolicyKind::dynaexq) {
    std::optional<Service> service;
    FOVEA_TRY(const auto initial, play(request, passes, stage, progress, stop, service, report));
    bytes = held_bytes(stage.world, initial);
    report.rows.push_back(table.row("dynaexq", bytes, *service));
  }
  FOVEA_TRY(report.rows.emplace_back(), table.best("best static mix", totals, bytes));
  FOVEA_TRY(report.rows.emplace_back(), table.best("session profile", profile, bytes));
  report.rows.push_back(table.all_high());
  report.rows.push_back(table.all_low());
  for (std::size_t tier = 0; tier < stage.tier_names.size(); ++tier)
    report.tiers.push_back({.name = stage.tier_names[tier],
                            .bits_per_weight = stage.tier_bits[tier],
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
    if (stop.stop_requested()) return fail(ErrorKind::cancelled, "synthetic trace", "stopped on request");
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
