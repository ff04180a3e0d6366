#include "engine/precision/token_cost.h"

#include <algorithm>
#include <numeric>

namespace fovea::precision {
namespace {

// Two kernels more in each layer that the host has a part of (engine/layers/host_experts.h), of 5 us of
// latency each, as an H100's token is made of (docs/gpu.md).
constexpr double question_seconds = 10e-6;
// The way there and back, where a token has chosen an expert of the host's. No card has shown yet what a
// question takes. This is what a pass took that was cut there, and so at most: on an H100 with the experts of
// 8, 24 and 48 layers on the processor a token took 5.7, 9.3 and 14.5 ms instead of 3.3 (docs/first_card.md),
// 0.22 ms for each further layer, of which reading its experts at 150 GB/s is 0.14 and what the card is
// spared 0.02.
constexpr double round_trip_seconds = 100e-6;

// Of the versions that units of this group may have.
double mean_bytes(const UnitGroup& group, const std::vector<std::int64_t>& counts) {
  double bytes = 0, units = 0;
  for (std::size_t t = 0; t < counts.size(); ++t) {
    bytes += static_cast<double>(counts[t]) * static_cast<double>(group.bytes[t]);
    units += static_cast<double>(counts[t]);
  }
  return units > 0 ? bytes / units : 0;
}

}  // namespace

std::vector<double> chances(const UnitTable& units, std::int64_t experts_used, std::span<const float> uses) {
  std::vector<double> result(static_cast<std::size_t>(units.size()), 1);
  if (units.scope() != UnitScope::experts) return result;
  for (std::int64_t layer = 0; layer < units.layers(); ++layer) {
    const auto first = static_cast<std::size_t>(units.first(layer));
    const auto end = static_cast<std::size_t>(units.first(layer + 1));
    double sum = 0;
    for (std::size_t u = first; u < end; ++u) sum += uses.empty() ? 1 : static_cast<double>(uses[u]);
    for (std::size_t u = first; u < end; ++u) {
      const double share = uses.empty() ? 1 : static_cast<double>(uses[u]);
      result[u] = sum > 0 ? std::min(1.0, static_cast<double>(experts_used) * share / sum) : 0;
    }
  }
  return result;
}

UnitReads unit_reads(const UnitPlan& units, const PrecisionPlan& plan, std::span<const double> chances,
                     const std::function<std::int64_t(const models::MatrixSource&)>& host_bytes) {
  std::vector<double> device_bytes;
  for (std::size_t g = 0; g < units.inputs.groups.size(); ++g)
    device_bytes.push_back(mean_bytes(units.inputs.groups[g], plan.group_capacity[g]));
  UnitReads reads;
  for (UnitId id = 0; id < static_cast<UnitId>(units.units.size()); ++id) {
    const auto u = static_cast<std::size_t>(id);
    if (!units.absent[u]) {
      reads.device += chances[u] * device_bytes[units.group[u]];
      continue;
    }
    for (const models::MatrixSource& matrix : units.units[id].matrices())
      reads.host += chances[u] * static_cast<double>(host_bytes(matrix));
  }
  return reads;
}

double HostCost::seconds(const UnitTable& units, const std::vector<bool>& on_host) const {
  double read = 0, seconds = 0;
  const std::int64_t end = layers.end > 0 ? layers.end : units.layers();
  for (std::int64_t layer = layers.first; layer < end; ++layer) {
    bool any = false;
    double none_chosen = 1;  // as if a token chose each by itself
    for (UnitId id = units.first(layer); id < units.first(layer + 1); ++id) {
      const auto u = static_cast<std::size_t>(id);
      if (!on_host[u]) continue;
      any = true;
      none_chosen *= 1 - chances[u];
      read += chances[u] * static_cast<double>(bytes[u]);
    }
    if (any) seconds += question_seconds + (1 - none_chosen) * round_trip_seconds;
  }
  return read / (1e9 * gb_per_s) + seconds;
}

}  // namespace fovea::precision
