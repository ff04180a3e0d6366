// Versions of experts that the processor computes where the card has none: the host's weights, which are
// copied to the card and unpacked there. Nothing is read, nothing is lost, and what leaves the card is there
// still.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/core/result.h"
#include "engine/models/host_weights.h"
#include "engine/precision/tiers.h"
#include "engine/precision/units.h"
#include "engine/precision/version_io.h"
#include "kernels/api/device.h"

namespace fovea::precision {

class HostSource final : public VersionSource {
 public:
  // `tier`: the file's. `changes` [units]: those that will be asked for. What is given must outlive it; the
  // weights' memory is pinned. ErrorKind::memory where it cannot be, or the device has no room for a unit as
  // the host has it (see packed_bytes).
  static Result<std::unique_ptr<HostSource>> create(const models::HostWeights& weights,
                                                    const UnitTable& units, const Tier& tier,
                                                    const kernels::Device& device,
                                                    const std::vector<bool>& changes);
  ~HostSource() override;
  HostSource(const HostSource&) = delete;
  HostSource& operator=(const HostSource&) = delete;
  std::int64_t packed_bytes() const { return packed_bytes_; }  // of the device

  bool holds_all() const override { return true; }
  Result<void> read(UnitId unit, TierId tier, std::span<std::byte> memory,
                    const checkpoint::Pace& pace) override;
  Result<HeldVersion> hold(UnitId unit, TierId tier, const checkpoint::Pace& pace) override;
  void upload(const Upload& upload, const kernels::Device& device, kernels::Stream& stream) override;

 private:
  HostSource(const models::HostWeights& weights, const UnitTable& units, const Tier& tier,
             const kernels::Device& device);
  const kernels::Expert& expert(UnitId unit) const {
    return weights_.expert(units_[unit].layer, units_[unit].index);
  }
  std::span<const std::byte> region(UnitId unit) const {
    return weights_.layer(units_[unit].layer).regions[static_cast<std::size_t>(units_[unit].index)];
  }

  const models::HostWeights& weights_;
  const UnitTable& units_;
  const Tier tier_;
  const kernels::Device& device_;
  std::byte* packed_ = nullptr;  // on the device, a unit as the host has it
  std::int64_t packed_bytes_ = 0;
};

}  // namespace fovea::precision
