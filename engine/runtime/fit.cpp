#include "engine/runtime/fit.h"

#include <algorithm>
#include <utility>

#include "engine/core/result.h"
#include "engine/layers/forward.h"
#include "engine/models/host_weights.h"
#include "engine/precision/tier_map.h"
#include "engine/runtime/load_settings.h"
#include "engine/runtime/main_memory.h"

namespace fovea::runtime {
namespace {

using precision::TierId;
using precision::UnitId;
using precision::UnitPlan;

// A token's reads without those of units: the embedding is one row.
std::int64_t dense_bytes_per_token(const checkpoint::Checkpoint& file, const models::WeightPlan& weights,
                                   const models::ModelConfig& config, const kernels::Device& device,
                                   models::UnitScope scope) {
  const double used = scope == models::UnitScope::experts ? used_share(config) : 1;
  double units = 0;
  weights.each_matrix([&](const models::MatrixSource& matrix) {
    if (models::is_unit(scope, matrix.role)) units += used * static_cast<double>(matrix.bytes());
  });
  return models::Placement(file, device, models::UnitScope::none).measure(weights, config).per_token -
         static_cast<std::int64_t>(units);
}

Subject::HostLayers host_layers_of(const checkpoint::Checkpoint& file, const models::WeightPlan& weights,
                                   const models::ModelConfig& config, const kernels::Device& device,
                                   const kernels::Device& processor, models::UnitScope scope,
                                   std::int64_t layers) {
  models::WeightPlan first = weights, others = weights;
  models::keep_layers({0, layers}, first);
  models::keep_layers({layers, config.layer_count()}, others);
  const models::Placement there(file, device, scope), here(file, processor, scope);
  Subject::HostLayers out{
      .device_bytes = there.measure(weights, config).resident() - there.measure(others, config).resident(),
      .host_bytes = here.measure(first, config).resident(),
      .bytes_per_token = static_cast<double>(dense_bytes_per_token(file, first, config, processor, scope))};
  first.each_matrix([&](const models::MatrixSource& matrix) {
    if (!models::is_unit(scope, matrix.role) && matrix.role != models::Role::embedding)
      out.multiply_adds += static_cast<double>(matrix.parameters());
  });
  return out;
}

// A token's, in the matrices without the output.
double multiply_adds(const models::WeightPlan& weights, const models::ModelConfig& config) {
  const double share = used_share(config);
  double sum = 0;
  weights.each_matrix([&](const models::MatrixSource& matrix) {
    if (matrix.tensor == weights.output.tensor || matrix.tensor == weights.embedding.tensor) return;
    const bool expert = models::is_unit(models::UnitScope::experts, matrix.role);
    sum += (expert ? share : 1) * static_cast<double>(matrix.rows) * static_cast<double>(matrix.columns);
  });
  return sum;
}

// Bytes of an expert where the processor computes with it; 0: there are none.
std::int64_t largest_expert(const Subject& subject) {
  std::int64_t largest = 0;
  for (const models::LayerPlan& layer : subject.weights->layers) {
    for (const models::ExpertSource& expert : layer.experts) {
      std::int64_t bytes = 0;
      for (const models::MatrixSource* matrix : {&expert.gate, &expert.up, &expert.down})
        bytes += subject.host_bytes(*matrix);
      for (const models::VectorSource* bias : {&expert.gate_bias, &expert.up_bias, &expert.down_bias})
        bytes += models::aligned(bias->count * 4);
      largest = std::max(largest, bytes);
    }
  }
  return largest;
}

// As many as -ngl leaves there, but for the last one; none where a model's layers cannot be parted: then its
// experts or its feed-forward alone go.
std::int64_t whole_layers_on_host(const Subject& subject, const LoadOptions& options,
                                  const Machine& machine) {
  const std::int64_t given = options.precision.offload.gpu_layers, layers = subject.config->layer_count();
  if (given < 0 || !machine.is_card() || !machine.has_file || !subject.host_layers) return 0;
  const std::int64_t away = std::clamp<std::int64_t>(layers + 1 - given, 0, layers - 1);
  return models::can_divide(*subject.config, away) ? away : 0;
}

// How a plan is tried.
struct Trial {
  const precision::StoreProfile* profile = nullptr;  // or null
  std::vector<bool> to_host = {};                    // see fit()
  std::int64_t chunk = 0;
  bool streams = false;           // what brings experts to the card for prompts is counted
  bool moves = false;             // what is the processor's changes places, although nobody asked for it
  std::int64_t first_layers = 0;  // of the first of two cards
};

// What another card has of the first layers was counted as if the processor had it.
void count_first_card(const Subject& subject, const LoadOptions& options, const Machine& machine,
                      Fitted& fitted) {
  const layers::PassLimits limits = pass_limits(*subject.config, options);
  const layers::Forward::Bytes buffers = layers::Forward::first_bytes_apart(*subject.config, limits);
  Plan& plan = fitted.precision.plan;
  plan.first_card = {.layers = fitted.host_layers,
                     .budget_bytes = machine.first_free_bytes(),
                     .weights = plan.host.weights,
                     .kv = plan.host.kv,
                     .activations = buffers.device,
                     .safety = plan.parts.safety};
  plan.host.weights = plan.host.kv = 0;
  plan.host.exchange += buffers.host - layers::Forward::first_layers_bytes(*subject.config, limits);
  plan.host_bytes = plan.host.sum();
  plan.units_on_host = 0;
  plan.fits = plan.fits && plan.first_card.fits();
  fitted.precision.absent_units = 0;
  std::fill(fitted.units.absent.begin(), fitted.units.absent.end(), false);
  for (std::size_t group = 0; group < fitted.units.inputs.groups.size(); ++group) {
    const precision::UnitGroup& g = fitted.units.inputs.groups[group];
    fitted.precision.group_capacity[group].front() = g.layers * g.units;
  }
  fitted.before = {};
}

Result<Fitted> fit_with(const Subject& subject, LoadOptions options, const Machine& machine,
                        const Trial& trial) {
  options.chunk = trial.chunk;
  options.host_layers =
      machine.first != nullptr ? trial.first_layers : whole_layers_on_host(subject, options, machine);
  PrecisionRequest request = options.precision;
  if (trial.moves && trial.to_host.empty()) {
    request.policy = PolicyKind::fovea;
    request.tiers = {"file"};
  }
  if (machine.first != nullptr) request.policy = PolicyKind::none;
  if (machine.is_card() && request.budget_bytes == 0) request.budget_bytes = machine.device_free_bytes();
  const PolicyKind policy = precision::chosen_policy(request, subject.has_experts(), machine.is_card());
  FOVEA_CHECK(page_shape(*subject.config, options).check());
  const models::StatePlan states = plan_states(*subject.config, options);
  const KvCache::Settings kv = kv_settings(*subject.config, options);
  const KvCache::Bytes windows = KvCache::window_bytes(kv);
  precision::Surroundings around{
      .dense_bytes = subject.dense_bytes(precision::unit_scope(policy, subject.has_experts())),
      .kv_bytes = KvCache::bytes(kv),
      .window_bytes = windows.device + (machine.is_card() ? 0 : windows.host),
      .state_bytes = states.sequence_bytes() + (machine.is_card() ? 0 : states.saved_bytes()),
      .activation_bytes = layers::Forward::activation_bytes(*subject.config, max_pass_tokens(options)),
      .experts_used = subject.config->experts_used(),
      .chunk = options.chunk};
  if (machine.is_card()) {
    count_card(*subject.config, options, trial.streams ? largest_expert(subject) : 0, around);
    around.host_bytes = subject.host_bytes;
    around.can_bring = subject.can_bring;
  }
  around.to_host = trial.to_host;
  around.changes_places = machine.is_card() && (trial.moves || precision::asks_for_places(request));
  Subject::HostLayers before;
  if (options.host_layers > 0) {
    const models::UnitScope with_policy = precision::unit_scope(policy, subject.has_experts());
    before = subject.host_layers(with_policy != models::UnitScope::none ? with_policy
                                 : subject.has_experts()                ? models::UnitScope::experts
                                                                        : models::UnitScope::linear_layers,
                                 options.host_layers);
    around.dense_bytes -= before.device_bytes;
    around.host_layers = options.host_layers;
    around.layers_on_card = machine.first != nullptr;
    around.host_layer_bytes = before.host_bytes;
    around.host_kv_bytes = KvCache::host_bytes(kv);
    const std::int64_t buffers =
        layers::Forward::first_layers_bytes(*subject.config, pass_limits(*subject.config, options));
    around.exchange_bytes += buffers;
    around.exchange_with_host_bytes += buffers;
  }
  if (trial.profile != nullptr) {
    around.uses = trial.profile->uses;
    around.host_gb_per_s = machine.facts.main_memory_gb_per_s;
  }
  FOVEA_TRY(auto units, precision::plan_units(*subject.weights, *machine.device, request, around));
  if (!request.tier_map.empty() && units.policy == PolicyKind::static_tiers) {
    FOVEA_TRY(const auto map, mapped_tiers(units, request.tier_map));
    units.inputs.counts = precision::counts_of(units, map);
  }
  auto plan = precision::plan_precision_anyway(units.inputs, units.policy);
  if (machine.is_card()) plan.plan.host_available_bytes = machine.main_memory_bytes();
  Fitted fitted{std::move(units), std::move(plan), options.chunk, options.host_layers, before};
  if (machine.first != nullptr) count_first_card(subject, options, machine, fitted);
  return fitted;
}

// Cut where both are as full as one another, as far as whole layers allow it.
Result<Fitted> fit_two_cards(const Subject& subject, const LoadOptions& options, const Machine& machine) {
  const PrecisionRequest& asked = options.precision;
  const bool whole = (asked.policy == PolicyKind::none || asked.policy == PolicyKind::automatic) &&
                     asked.tiers.empty() && asked.budget_bytes == 0 && !asked.offload.any();
  if (!whole) return fail(phrases::device_place(options.device), errors::two_cards_hold_the_file());
  std::vector<std::int64_t> cuts;
  for (std::int64_t at = 1; at < subject.config->layer_count(); ++at)
    if (models::can_divide(*subject.config, at)) cuts.push_back(at);
  if (cuts.empty() || !subject.host_layers || !machine.has_file)
    return fail(phrases::device_place(options.device), errors::layers_cannot_be_parted());
  const auto fitted = [&](std::size_t cut) {
    return fit_with(subject, options, machine, {.chunk = options.chunk, .first_layers = cuts[cut]});
  };
  struct Fill {
    double first = 0, last = 0;
    double most() const { return std::max(first, last); }
  };
  const auto fill = [](const Plan& plan) {
    return Fill{static_cast<double>(plan.first_card.total_bytes()) /
                    static_cast<double>(std::max<std::int64_t>(plan.first_card.budget_bytes, 1)),
                static_cast<double>(plan.total_bytes) / static_cast<double>(plan.budget_bytes)};
  };
  // The first cut at which the first card is the fuller one, or the one before it.
  std::size_t low = 0, high = cuts.size() - 1;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    FOVEA_TRY(const Fitted at, fitted(middle));
    const Fill full = fill(at.precision.plan);
    (full.first < full.last ? low : high) = full.first < full.last ? middle + 1 : middle;
  }
  FOVEA_TRY(Fitted here, fitted(low));
  if (low == 0) return here;
  FOVEA_TRY(Fitted before, fitted(low - 1));
  return fill(before.precision.plan).most() < fill(here.precision.plan).most() ? before : here;
}

// Prompts that bring experts to the card are counted where that pays.
Result<Fitted> fit_prompts(const Subject& subject, const LoadOptions& options, const Machine& machine,
                           const Trial& trial) {
  const std::int64_t from = options.precision.offload.stream_from;
  const auto fitted = [&](std::int64_t chunk, bool streams) {
    Trial each = trial;
    each.chunk = chunk;
    each.streams = streams;
    return fit_with(subject, options, machine, each);
  };
  const std::int64_t longer = std::min(std::max(streaming_chunk, options.chunk), options.context);
  const std::int64_t chunk = options.chunk_may_grow ? longer : options.chunk;
  // The processor is asked for few.
  const bool streams = machine.is_card() && subject.has_experts() && from != layers::StreamSettings::never &&
                       chunk > kernels::max_quantised_rows;
  if (!streams) return fitted(options.chunk, false);
  FOVEA_TRY(Fitted with, fitted(chunk, true));
  if (with.units.brings_experts && with.precision.plan.fits && from > 0) return with;
  if (from > 0 && with.units.brings_experts) return fitted(options.chunk, true);  // somebody asked for it
  FOVEA_TRY(Fitted without, fitted(options.chunk, false));
  // Faster prompts take memory that experts could have: rather none than no model, or than many more experts
  // that are the processor's with each token.
  const std::int64_t of_a_layer =
      without.units.units.size() / std::max<std::int64_t>(without.units.units.layers(), 1);
  const auto away = [](const Fitted& plan) { return std::ranges::count(plan.units.absent, true); };
  const bool pays =
      with.units.brings_experts && with.precision.plan.fits && away(with) <= away(without) + of_a_layer;
  return pays ? with : without;
}

// Where it is all left to the planner, and main memory has room for all experts and an eighth besides.
bool may_move(const Subject& subject, const LoadOptions& options, const Machine& machine) {
  const PrecisionRequest& request = options.precision;
  return machine.is_card() && machine.has_file && subject.has_experts() &&
         request.policy == PolicyKind::automatic && request.tiers.empty() &&
         request.offload.cpu_moe_layers < 0 && request.offload.override_tensors.empty() &&
         request.nats_per_ms <= 0 && request.host_cache_bytes < 0;
}
bool holds_all(const Plan& plan) {
  const std::int64_t available = plan.host_available_bytes;  // 0: not looked at
  return available == 0 || plan.host_bytes <= available - available / 8;
}

}  // namespace

double used_share(const models::ModelConfig& config) {
  if (config.experts() == 0) return 1;
  return static_cast<double>(config.experts_used()) / static_cast<double>(config.experts());
}

Result<std::vector<TierId>> mapped_tiers(const UnitPlan& units, const std::filesystem::path& map) {
  std::vector<std::string> names;
  for (UnitId unit = 0; unit < static_cast<UnitId>(units.units.size()); ++unit)
    names.push_back(units.units.name(unit));
  return precision::read_tier_map(map, names, units.inputs.tier_names);
}

std::int64_t Machine::device_free_bytes() const {
  if (is_another()) return facts.device_memory_bytes;
  if (facts.device_free_bytes > 0 && !device->memory_is_host()) return facts.device_free_bytes;
  return device->memory_is_host() ? 0 : device->facts().memory_free_bytes;
}

std::int64_t Machine::first_free_bytes() const {
  return facts.first_free_bytes > 0 ? facts.first_free_bytes : first->facts().memory_free_bytes;
}

std::int64_t Machine::main_memory_bytes() const {
  if (facts.main_memory_bytes > 0 || is_another()) return facts.main_memory_bytes;
  return memory().free_bytes;
}

Subject subject_of(const std::filesystem::path& model, const checkpoint::Checkpoint& checkpoint,
                   const models::WeightPlan& weights, const models::ModelConfig& config,
                   const kernels::Device& device, const kernels::Device& processor) {
  return {.name = config.name.empty() ? model.filename().string() : config.name,
          .config = &config,
          .weights = &weights,
          .checkpoint = &checkpoint,
          .dense_bytes =
              [&](models::UnitScope scope) {
                return models::Placement(checkpoint, device, scope).measure(weights, config).resident();
              },
          .host_bytes = [placement = models::Placement(checkpoint, processor, models::UnitScope::none)](
                            const models::MatrixSource& matrix) { return placement.resident_bytes(matrix); },
          .can_bring =
              [&device, placement = models::Placement(checkpoint, processor, models::UnitScope::none)](
                  const models::MatrixSource& matrix) {
                return !placement.stays_mapped(matrix) &&
                       models::can_unpack(device, {.data = nullptr,
                                                   .type = matrix.tensor->type,
                                                   .packing = placement.packing(matrix),
                                                   .rows = matrix.rows,
                                                   .columns = matrix.columns});
              },
          .dense_bytes_per_token =
              [&](models::UnitScope scope) {
                return dense_bytes_per_token(checkpoint, weights, config, device, scope);
              },
          .multiply_adds = multiply_adds(weights, config),
          .host_layers =
              [&](models::UnitScope scope, std::int64_t layers) {
                return host_layers_of(checkpoint, weights, config, device, processor, scope, layers);
              }};
}

Result<Fitted> fit(const Subject& subject, const LoadOptions& options, const Machine& machine,
                   const precision::StoreProfile* profile, std::vector<bool> to_host) {
  if (machine.first != nullptr) return fit_two_cards(subject, options, machine);
  Trial trial{
      .profile = profile, .to_host = std::move(to_host), .moves = may_move(subject, options, machine)};
  if (!trial.to_host.empty()) trial.moves = options.precision.policy == PolicyKind::fovea;
  if (trial.moves) {
    FOVEA_TRY(Fitted moving, fit_prompts(subject, options, machine, trial));
    const Plan& plan = moving.precision.plan;
    if (!moving.units.changes_places.empty() && plan.fits && holds_all(plan)) return moving;
    trial.moves = false;
  }
  FOVEA_TRY(Fitted fitted, fit_prompts(subject, options, machine, trial));
  if (!precision::asks_for_places(options.precision) || !machine.is_card() ||
      !fitted.units.changes_places.empty())
    return fitted;
  LoadOptions still = options;
  still.precision.policy = PolicyKind::none;
  still.precision.tiers.clear();
  FOVEA_TRY(fitted, fit_prompts(subject, still, machine, trial));
  fitted.units.notes.push_back(phrases::nothing_changes_places());
  return fitted;
}

}  // namespace fovea::runtime
