#include "engine/precision/first_token.h"

#include <algorithm>
#include <chrono>

#include "engine/precision/errors.h"

namespace fovea::precision {
namespace {

constexpr TierId highest = 0;
constexpr std::int64_t alignment = 256;
// Of a first token without a setting: what is read for it takes a tenth of a second from a usual disk.
constexpr std::int64_t usual_bytes = std::int64_t{128} << 20, least_layers = 4;

std::int64_t part_bytes(const FirstToken::Scope& scope, const UnitTable& units, const TierSet& tiers,
                        const kernels::Device& device) {
  std::int64_t largest = 0;
  for (UnitId unit = 0; unit < units.first(std::min(scope.layers, units.layers())); ++unit)
    largest = std::max(largest, version_layout(tiers[highest], units[unit], device).bytes);
  return (largest + alignment - 1) / alignment * alignment;
}

}  // namespace

FirstToken::Scope FirstToken::scope(const PrecisionRequest& request, PolicyKind policy,
                                    const UnitTable& units, const TierSet& tiers,
                                    const kernels::Device& device, std::int64_t experts_used) {
  const bool as_published = policy == PolicyKind::dynaexq && request.dynaexq.threshold_of_warm_up;
  if (!moves_experts(policy) || as_published || tiers.size() < 2 || !device.memory_is_host()) return {};
  Scope scope{.layers = request.first_token_layers, .used = experts_used};
  if (scope.layers >= 0) return scope;
  scope.layers = units.layers();
  const std::int64_t of_layer = bytes(scope, units, tiers, device);
  scope.layers = std::max(least_layers, of_layer > 0 ? usual_bytes / of_layer : 0);
  return scope;
}

std::int64_t FirstToken::bytes(const Scope& scope, const UnitTable& units, const TierSet& tiers,
                               const kernels::Device& device) {
  return scope.used * part_bytes(scope, units, tiers, device);
}

Result<std::unique_ptr<FirstToken>> FirstToken::create(const Scope& scope, const UnitTable& units,
                                                       const TierSet& tiers, const kernels::Device& device,
                                                       VersionSource& source) {
  std::unique_ptr<FirstToken> made(
      new FirstToken(scope, units, tiers, device, source, part_bytes(scope, units, tiers, device)));
  if (made->bytes() == 0) return made;
  made->memory_ = device.allocate(made->bytes());
  if (made->memory_ == nullptr)
    return fail(phrases::residency_place(), errors::no_memory_for_first_token(Bytes{made->bytes()}));
  return made;
}

FirstToken::~FirstToken() {
  if (memory_ != nullptr) device_.release(memory_, bytes());
}

Result<std::span<const FirstToken::Weights>> FirstToken::weights(std::int64_t layer,
                                                                 std::span<const std::int32_t> experts,
                                                                 std::span<const TierId> present) {
  weights_.clear();
  const auto unit_of = [&](std::int32_t expert) { return units_.first(layer) + expert; };
  const auto is_high = [&](std::int32_t expert) {
    return present[static_cast<std::size_t>(unit_of(expert))] == highest;
  };
  if (memory_ == nullptr || layer >= scope_.layers || std::ranges::all_of(experts, is_high)) return weights_;
  const auto begun = std::chrono::steady_clock::now();
  std::byte* next = memory_;
  Result<void> read;
  for (const std::int32_t expert : experts) {
    const Unit& unit = units_[unit_of(expert)];
    const std::int64_t bytes = version_layout(tiers_[highest], unit, device_).bytes;
    read = source_.read(unit_of(expert), highest, {next, static_cast<std::size_t>(bytes)}, {});
    if (!read) break;
    reads_.bytes += bytes;
    weights_.push_back(weights_at(tiers_[highest], unit, device_, next));
    next += part_bytes_;
  }
  reads_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  if (read) return weights_;
  ++reads_.failures;
  return std::unexpected(read.error());
}

}  // namespace fovea::precision
