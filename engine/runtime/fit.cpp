#include "engine/runtime/fit.h"

#include <algorithm>
#include <utility>

#include "engine/core/result.h"
#include "engine/layers/forward.h"
#include "engine/models/host_weights.h"
#include "engine/precision/offload.h"
#include "engine/precision/tier_map.h"
#include "engine/runtime/load_settings.h"
#include "engine/runtime/main_memory.h"

namespace fovea::runtime {
namespace {

using precision::TierId;
using precision::UnitId;
using precision::UnitPlan;

models::WeightPlan of_layers(models::WeightPlan weights, const models::LayerRange& layers) {
  models::keep_layers(layers, weights);
  return weights;
}

// A token's reads without those of units: the embedding is one row.
double dense_bytes_per_token(const checkpoint::Checkpoint& file, const models::WeightPlan& weights,
                             const models::ModelConfig& config, const kernels::Device& device,
                             models::UnitScope scope) {
  const double used = scope == models::UnitScope::experts ? used_share(config) : 1;
  double units = 0;
  weights.each_matrix([&](const models::MatrixSource& matrix) {
    if (models::is_unit(scope, matrix.role)) units += used * static_cast<double>(matrix.bytes());
  });
  const models::Placement placement(file, device, models::UnitScope::none);
  return static_cast<double>(placement.measure(weights, config).per_token) - units;
}

Subject::HostLayers host_layers_of(const checkpoint::Checkpoint& file, const models::WeightPlan& weights,
                                   const models::ModelConfig& config, const kernels::Device& processor,
                                   models::UnitScope scope, std::int64_t layers) {
  const models::WeightPlan first = of_layers(weights, {0, layers});
  Subject::HostLayers out{
      .host_bytes = models::Placement(file, processor, scope).measure(first, config).resident(),
      .bytes_per_token = dense_bytes_per_token(file, first, config, processor, scope)};
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

// As many as -ngl leaves there, or patterns name in all their parts, but for the last one; none where a
// model's layers cannot be parted: then its experts or its feed-forward alone go.
Result<std::int64_t> whole_layers_on_host(const Subject& subject, const LoadOptions& options,
                                          const Machine& machine) {
  const OffloadSettings& offload = options.precision.offload;
  const std::int64_t layers = subject.config->layer_count();
  if (!machine.is_card() || !machine.has_file || !subject.host_layers) return 0;
  std::vector<bool> has_experts;
  for (const models::LayerPlan& layer : subject.weights->layers)
    has_experts.push_back(!layer.experts.empty());
  FOVEA_TRY(const std::int64_t named, precision::layers_named_whole(offload.override_tensors, has_experts));
  const std::int64_t left = offload.gpu_layers < 0 ? 0 : layers + 1 - offload.gpu_layers;
  const std::int64_t away = std::clamp<std::int64_t>(std::max(left, named), 0, layers - 1);
  return models::can_divide(*subject.config, away) ? away : 0;
}

// How a plan is tried.
struct Trial {
  const precision::StoreProfile* profile = nullptr;  // or null
  std::vector<bool> to_host = {};                    // see fit()
  std::int64_t chunk = 0;
  bool streams = false;  // what brings experts to the card for prompts is counted
  bool moves = false;    // what is the processor's changes places, although nobody asked for it
};

Result<Fitted> fit_with(const Subject& subject, LoadOptions options, const Machine& machine,
                        const Trial& trial) {
  options.chunk = trial.chunk;
  options.host_layers = machine.cut();
  if (!machine.shares_layers()) {
    FOVEA_TRY(options.host_layers, whole_layers_on_host(subject, options, machine));
  }
  const models::LayerRange all = subject.all_layers();
  const models::LayerRange here =
      machine.shares_layers() ? machine.layers : models::LayerRange{options.host_layers, all.end};
  PrecisionRequest request = options.precision;
  if (trial.moves && trial.to_host.empty()) {
    request.policy = PolicyKind::fovea;
    request.tiers = {"file"};
  }
  if (machine.is_card() && request.budget_bytes == 0) request.budget_bytes = machine.device_free_bytes();
  const PolicyKind policy = precision::chosen_policy(request, subject.has_experts(), machine.is_card());
  FOVEA_CHECK(page_shape(*subject.config, options).check());
  const models::StatePlan states = plan_states(*subject.config, options);
  const KvCache::Settings kv = kv_settings(*subject.config, options);
  // The first layers' part of the cache lies where they are computed.
  const bool has_cut_off = here.end < all.end;
  const KvCache::Bytes windows = has_cut_off ? KvCache::Bytes{} : KvCache::window_bytes(kv);
  const models::UnitScope with_policy = precision::unit_scope(policy, subject.has_experts());
  const models::UnitScope of_units = with_policy != models::UnitScope::none ? with_policy
                                     : subject.has_experts()                ? models::UnitScope::experts
                                                             : models::UnitScope::linear_layers;
  precision::Surroundings around{
      // Units of other layers are left to the unit plan.
      .dense_bytes = subject.dense_bytes(with_policy, all) - subject.dense_bytes(of_units, all) +
                     subject.dense_bytes(of_units, here),
      .kv_bytes = has_cut_off ? KvCache::first_bytes(kv) : KvCache::bytes(kv),
      .window_bytes = windows.device + (machine.is_card() ? 0 : windows.host),
      .state_bytes = states.sequence_bytes() + (machine.is_card() ? 0 : states.saved_bytes()),
      .activation_bytes = layers::Forward::activation_bytes(*subject.config, max_pass_tokens(options)),
      .experts_used = subject.config->experts_used(),
      .chunk = options.chunk};
  if (machine.is_card()) {
    count_card(*subject.config, options, has_cut_off, trial.streams ? largest_expert(subject) : 0, around);
    around.host_bytes = subject.host_bytes;
    around.can_bring = subject.can_bring;
  }
  around.to_host = trial.to_host;
  around.changes_places = machine.is_card() && (trial.moves || precision::asks_for_places(request));
  around.layers = here;
  around.others_on_card = machine.shares_layers();
  Subject::HostLayers before;
  if (options.host_layers > 0 && !machine.shares_layers()) {
    before = subject.host_layers(of_units, options.host_layers);
    around.host_layer_bytes = before.host_bytes;
    around.host_kv_bytes = KvCache::first_bytes(kv);
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
  return Fitted{std::move(units), std::move(plan), options.chunk, options.host_layers, before, here};
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
  FOVEA_TRY(std::vector<TierId> tiers, precision::read_tier_map(map, names, units.inputs.tier_names));
  for (UnitId unit = 0; unit < static_cast<UnitId>(tiers.size()); ++unit)
    if (units.is_elsewhere(unit)) tiers[static_cast<std::size_t>(unit)] = no_tier;
  return tiers;
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
  return {
      .name = config.name.empty() ? model.filename().string() : config.name,
      .config = &config,
      .weights = &weights,
      .checkpoint = &checkpoint,
      .dense_bytes =
          [&](models::UnitScope scope, const models::LayerRange& layers) {
            return models::Placement(checkpoint, device, scope)
                .measure(of_layers(weights, layers), config)
                .resident();
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
          [&](models::UnitScope scope, const models::LayerRange& layers) {
            return dense_bytes_per_token(checkpoint, of_layers(weights, layers), config, device, scope);
          },
      .multiply_adds =
          [&](const models::LayerRange& layers) { return multiply_adds(of_layers(weights, layers), config); },
      .host_layers =
          [&](models::UnitScope scope, std::int64_t layers) {
            return host_layers_of(checkpoint, weights, config, processor, scope, layers);
          }};
}

Result<Fitted> fit(const Subject& subject, const LoadOptions& options, const Machine& machine,
                   const precision::StoreProfile* profile, std::vector<bool> to_host) {
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
