#include "engine/precision/tiers.h"

#include <algorithm>

#include "engine/precision/errors.h"

namespace fovea::precision {
namespace {

struct NamedType {
  const char* name;
  kernels::Type type;
};
constexpr NamedType named_types[] = {{"bf16", kernels::Type::bf16}, {"q8", kernels::Type::q8_0},
                                     {"q4", kernels::Type::q4_f},   {"q4e", kernels::Type::q4_e},
                                     {"q3", kernels::Type::q3_f},   {"q2", kernels::Type::q2_f}};

constexpr std::int64_t matrix_alignment = 64;

constexpr std::int64_t rounded_up(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

double mean_bits(const Tier& tier, const UnitTable& units) {
  double bits = 0, weights = 0;
  for (const Unit& unit : units.units()) {
    const auto parameters = static_cast<double>(unit.parameters());
    bits += bits_per_weight(tier, unit) * parameters;
    weights += parameters;
  }
  return weights > 0 ? bits / weights : 0;
}

std::vector<std::string> known_names() {
  std::vector<std::string> names{"file"};
  for (const NamedType& named : named_types) names.emplace_back(named.name);
  return names;
}

std::unexpected<Error> wrong(Error error) {
  return fail(phrases::option_place("tiers"), std::move(error));
}

}  // namespace

Result<Tier> parse_tier(const std::string& name) {
  if (name == "file") return Tier{name, std::nullopt};
  const auto* const found = std::ranges::find(named_types, name, &NamedType::name);
  if (found != std::end(named_types)) return Tier{name, found->type};
  return wrong(errors::unknown_tier(name, known_names()));
}

Result<TierSet> parse_tiers(std::span<const std::string> names, const UnitTable& units) {
  TierSet tiers;
  for (const std::string& name : names) {
    FOVEA_TRY(Tier tier, parse_tier(name));
    tiers.push_back(std::move(tier));
    if (tiers.size() < 2) continue;
    const double higher = mean_bits(tiers[tiers.size() - 2], units), lower = mean_bits(tiers.back(), units);
    if (lower >= higher)
      return wrong(errors::tiers_out_of_order(name, lower, tiers[tiers.size() - 2].name, higher));
  }
  if (tiers.empty()) return wrong(errors::no_tier_given(known_names()));
  return tiers;
}

std::vector<Tier> tiers_of_equal_bits(const Tier& tier) {
  std::vector<Tier> others;
  for (const NamedType& named : named_types) {
    if (tier.type && named.type != *tier.type &&
        kernels::bits_per_weight(named.type) == kernels::bits_per_weight(*tier.type))
      others.push_back({named.name, named.type});
  }
  return others;
}

kernels::Type type_of(const Tier& tier, const models::MatrixSource& matrix) {
  return tier.type.value_or(matrix.tensor->type);
}

double bits_per_weight(const Tier& tier, const Unit& unit) {
  double bits = 0;
  for (const models::MatrixSource& matrix : unit.matrices())
    bits += kernels::bits_per_weight(type_of(tier, matrix)) * static_cast<double>(matrix.parameters());
  return bits / static_cast<double>(unit.parameters());
}

VersionLayout version_layout(const Tier& tier, const Unit& unit, const kernels::Device& device) {
  VersionLayout layout;
  std::size_t part = 0;
  for (const models::MatrixSource& matrix : unit.matrices()) {
    const kernels::Type type = type_of(tier, matrix);
    layout.offsets[part++] = layout.bytes;
    layout.bytes +=
        rounded_up(device.packed_bytes(device.preferred_packing(type, matrix.rows, matrix.columns), type,
                                       matrix.rows, matrix.columns),
                   matrix_alignment);
  }
  layout.bytes = rounded_up(layout.bytes, version_alignment);
  return layout;
}

std::array<kernels::Weight, 3> weights_at(const Tier& tier, const Unit& unit, const kernels::Device& device,
                                          const std::byte* memory) {
  const VersionLayout layout = version_layout(tier, unit, device);
  std::array<kernels::Weight, 3> weights;
  std::size_t part = 0;
  for (const models::MatrixSource& matrix : unit.matrices()) {
    const kernels::Type type = type_of(tier, matrix);
    weights[part] = {memory + layout.offsets[part], type,
                     device.preferred_packing(type, matrix.rows, matrix.columns), matrix.rows,
                     matrix.columns};
    ++part;
  }
  return weights;
}

}  // namespace fovea::precision
