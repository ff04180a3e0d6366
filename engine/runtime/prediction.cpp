#include "engine/runtime/prediction.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "engine/precision/token_cost.h"

namespace fovea::runtime {
namespace {

using precision::UnitId;
using precision::UnitPlan;
using precision::UnitTable;

std::vector<AttentionPart> attention_parts(const models::ModelConfig& config, std::int64_t first,
                                           std::int64_t end) {
  std::vector<AttentionPart> parts;
  for (std::int64_t layer = first; layer < end; ++layer) {
    const models::AttentionConfig* const attention = config.layer(layer).attention();
    if (attention == nullptr) continue;
    auto part = std::ranges::find(parts, attention->window, &AttentionPart::window);
    if (part == parts.end()) part = parts.insert(parts.end(), {.window = attention->window});
    part->multiply_adds += static_cast<double>(2 * attention->heads * attention->head_dim);
  }
  return parts;
}

// Of the units from `first` to before `end` that the processor computes beside a card, for each token; and
// the bytes that it reads of them.
struct OnHost {
  double multiply_adds = 0, bytes = 0;
};
OnHost on_host(const Subject& subject, const UnitPlan& units, std::span<const double> chances, UnitId first,
               UnitId end) {
  OnHost sum;
  for (UnitId id = first; id < end; ++id) {
    const auto u = static_cast<std::size_t>(id);
    if (!units.absent[u]) continue;
    sum.multiply_adds += chances[u] * static_cast<double>(units.units[id].parameters());
    for (const models::MatrixSource& matrix : units.units[id].matrices())
      sum.bytes += chances[u] * static_cast<double>(subject.host_bytes(matrix));
  }
  return sum;
}

// What a token uses of the units that are on disk alone, in bytes of memory, and how much of it is to be
// read: at most, if memory kept those that the chances call likeliest.
struct OnDisk {
  double used = 0, read = 0;
};
OnDisk on_disk(const Fitted& fitted, std::span<const double> chances) {
  std::vector<std::pair<double, double>> uses;  // chance, bytes
  for (std::size_t unit = 0; unit < chances.size(); ++unit) {
    if (fitted.units.absent[unit])
      uses.emplace_back(
          chances[unit],
          static_cast<double>(fitted.units.inputs.groups[fitted.units.group[unit]].bytes.back()));
  }
  std::ranges::sort(uses, std::greater());
  OnDisk sum;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const double bytes = uses[i].first * uses[i].second;
    sum.used += bytes;
    if (static_cast<std::int64_t>(i) >= fitted.precision.on_demand_blocks) sum.read += bytes;
  }
  return sum;
}

}  // namespace

void predict(const Subject& subject, const Machine& machine, const Fitted& fitted,
             std::span<const float> uses, LoadPlan& plan) {
  const models::ModelConfig& config = *subject.config;
  const MachineFacts& facts = machine.facts;
  const bool experts = subject.has_experts(), card = machine.is_card();
  const auto reads = [&](std::span<const double> chances) {
    return precision::unit_reads(fitted.units, fitted.precision, chances, subject.host_bytes);
  };
  std::vector<double> chances = precision::chances(fitted.units.units, config.experts_used(), uses);
  for (UnitId unit = 0; unit < static_cast<UnitId>(chances.size()); ++unit)
    if (fitted.units.is_elsewhere(unit)) chances[static_cast<std::size_t>(unit)] = 0;
  auto token = reads(chances);
  if (!card) {
    const OnDisk disk = on_disk(fitted, chances);
    token.device += disk.used;
    plan.disk_bytes_per_token = disk.read;
  }
  // Of layers that are the processor's as a whole, and of the device's.
  const UnitTable& units = fitted.units.units;
  const models::LayerRange& here = fitted.layers;
  const std::int64_t host_layers = machine.shares_layers() ? 0 : fitted.host_layers;
  const UnitId end = static_cast<UnitId>(units.size()), own = units.first(host_layers);
  const auto there = [&](UnitId first, UnitId last) {
    return card ? on_host(subject, fitted.units, chances, first, last) : OnHost{};
  };
  const double before_multiply_adds = fitted.before.multiply_adds + there(0, own).multiply_adds;
  const double host_multiply_adds = there(own, end).multiply_adds;
  const auto in_pass = [&](double chance) {
    return 1 - std::pow(1 - chance, static_cast<double>(plan.options.chunk));
  };
  for (double& chance : chances) chance = in_pass(chance);
  const auto pass = reads(chances);
  const models::UnitScope scope = fitted.units.units.scope();
  const Subject::HostLayers& before = fitted.before;
  const double dense = subject.dense_bytes_per_token(scope, here);
  const bool moves_experts = scope == models::UnitScope::experts;
  // Where the units of a mixture are its layers, its experts are as the file has them.
  const double file_experts = experts && !moves_experts
                                  ? subject.dense_bytes_per_token(models::UnitScope::none, here) -
                                        subject.dense_bytes_per_token(models::UnitScope::experts, here)
                                  : 0;
  plan.device_part = {.dense_bytes = moves_experts ? dense : dense - file_experts + token.device,
                      .expert_bytes = moves_experts ? token.device : file_experts,
                      .gb_per_s = facts.device_gb_per_s};
  if (facts.device_gb_per_s == 0 && card && !machine.is_another())
    plan.device_part.gb_per_s = machine.device->facts().bandwidth_gb_per_s;
  plan.prompt = {.device = {.multiply_adds = subject.multiply_adds(here) - host_multiply_adds,
                            .bytes = dense + pass.device +
                                     file_experts * (in_pass(used_share(config)) / used_share(config) - 1),
                            .gop_per_s = facts.device_gop_per_s},
                 .attention = attention_parts(config, here.first, here.end),
                 .before_attention = attention_parts(config, 0, host_layers),
                 .output_multiply_adds = here.end == config.layer_count()
                                             ? static_cast<double>(config.vocabulary * config.hidden)
                                             : 0};
  if (!card || (token.host == 0 && host_layers == 0)) return;
  plan.host_part = {.dense_bytes = before.bytes_per_token + (experts ? 0 : token.host),
                    .expert_bytes = experts ? token.host : 0,
                    .gb_per_s = facts.main_memory_gb_per_s};
  if (host_layers > 0)
    plan.prompt.before = {.multiply_adds = before_multiply_adds,
                          .bytes = before.bytes_per_token + there(0, own).bytes,
                          .gop_per_s = facts.processor_gop_per_s};
  plan.prompt.host = {.multiply_adds = host_multiply_adds,
                      .bytes = there(own, end).bytes,
                      .gop_per_s = facts.processor_gop_per_s};
  for (UnitId id = own; fitted.units.brings_experts && id < end; ++id) {
    if (!fitted.units.absent[static_cast<std::size_t>(id)]) continue;
    for (const models::MatrixSource& matrix : units[id].matrices())
      plan.prompt.brought_bytes += static_cast<double>(subject.host_bytes(matrix));
  }
}

}  // namespace fovea::runtime
