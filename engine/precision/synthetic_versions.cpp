#include "engine/precision/synthetic_versions.h"

#include <algorithm>
#include <cstring>

#include "engine/checkpoint/synthetic.h"
#include "engine/precision/errors.h"

namespace fovea::precision {
namespace {

constexpr std::size_t variants = 4;

std::vector<std::byte> make_version(const Unit& unit, const Tier& tier, const kernels::Device& device,
                                    std::uint64_t seed) {
  const VersionLayout layout = version_layout(tier, unit, device);
  std::vector<std::byte> version(static_cast<std::size_t>(layout.bytes));
  for (std::size_t part = 0; part < unit.matrices().size(); ++part) {
    const models::MatrixSource& matrix = unit.parts[part];
    const kernels::Type type = type_of(tier, matrix);
    const std::int64_t row_bytes = kernels::row_bytes(type, matrix.columns);
    std::vector<std::byte> rows(static_cast<std::size_t>(matrix.rows * row_bytes));
    checkpoint::synthetic_rows(type, seed + part).read(0, matrix.rows, row_bytes, rows.data());
    device.pack(device.preferred_packing(type, matrix.rows, matrix.columns), type, matrix.rows,
                matrix.columns, rows.data(), 0, matrix.rows, version.data() + layout.offsets[part]);
  }
  return version;
}

}  // namespace

SyntheticVersions::SyntheticVersions(const UnitTable& units, const TierSet& tiers,
                                     const kernels::Device& device, std::uint64_t seed) {
  for (const Tier& tier : tiers)
    for (std::size_t variant = 0; variant < variants; ++variant)
      versions_.push_back(make_version(units[0], tier, device, seed + 100 * variant));
}

Result<void> SyntheticVersions::read(UnitId unit, TierId tier, std::span<std::byte> memory,
                                     const checkpoint::Pace& pace) {
  const std::vector<std::byte>& from = versions_[tier * variants + static_cast<std::size_t>(unit) % variants];
  for (std::size_t done = 0; done < memory.size();) {
    const std::size_t piece =
        pace ? std::min(memory.size() - done, std::size_t{checkpoint::paced_bytes}) : memory.size() - done;
    if (pace && !pace(static_cast<std::int64_t>(piece))) return fail(errors::stopped_on_request());
    std::memcpy(memory.data() + done, from.data() + done, piece);
    done += piece;
  }
  return {};
}

}  // namespace fovea::precision
