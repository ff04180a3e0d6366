#include "engine/precision/host_source.h"

#include <algorithm>

#include "engine/checkpoint/errors.h"
#include "engine/precision/errors.h"

namespace fovea::precision {
namespace {

// Of an expert's matrices, which lie behind one another, and its biases behind them.
std::int64_t matrix_bytes(const kernels::Expert& expert, std::span<const std::byte> region) {
  const std::byte* end = region.data() + region.size();
  for (const float* bias : {expert.gate_bias, expert.up_bias, expert.down_bias})
    if (bias != nullptr) end = std::min(end, reinterpret_cast<const std::byte*>(bias));
  return end - region.data();
}

}  // namespace

HostSource::HostSource(const models::HostWeights& weights, const UnitTable& units, const Tier& tier,
                       const kernels::Device& device)
    : weights_(weights), units_(units), tier_(tier), device_(device) {}

HostSource::~HostSource() {
  if (packed_ != nullptr) device_.release(packed_, packed_bytes_);
}

Result<std::unique_ptr<HostSource>> HostSource::create(const models::HostWeights& weights,
                                                       const UnitTable& units, const Tier& tier,
                                                       const kernels::Device& device,
                                                       const std::vector<bool>& changes) {
  std::unique_ptr<HostSource> source(new HostSource(weights, units, tier, device));
  for (UnitId unit = 0; unit < static_cast<UnitId>(units.size()); ++unit) {
    if (changes[static_cast<std::size_t>(unit)])
      source->packed_bytes_ =
          std::max(source->packed_bytes_, matrix_bytes(source->expert(unit), source->region(unit)));
  }
  source->packed_ = device.allocate(source->packed_bytes_);
  if (source->packed_ == nullptr || !weights.pin(device))
    return fail(phrases::residency_place(),
                errors::no_memory_to_change_places(device.name(), Bytes{source->packed_bytes_},
                                                   Bytes{std::ssize(weights.memory())}));
  return source;
}

// For a device that reads main memory itself there is no such source.
Result<void> HostSource::read(UnitId unit, TierId, std::span<std::byte>, const checkpoint::Pace&) {
  return fail(phrases::name_place(units_.name(unit)), errors::host_version_is_not_read());
}

Result<HeldVersion> HostSource::hold(UnitId unit, TierId, const checkpoint::Pace& pace) {
  if (pace && !pace(0)) return fail(phrases::store_read_place(), errors::store_read_given_up());
  return HeldVersion(std::shared_ptr<const std::byte>(), expert(unit).gate.data);
}

void HostSource::upload(const Upload& upload, const kernels::Device& device, kernels::Stream& stream) {
  const Unit& unit = units_[upload.unit];
  const kernels::Expert& host = expert(upload.unit);
  const std::span<const std::byte> region = this->region(upload.unit);
  const std::int64_t bytes = matrix_bytes(host, region);
  device.copy(packed_, region.data(), bytes, stream);
  const VersionLayout layout = version_layout(tier_, unit, device);
  const std::array matrices = {&host.gate, &host.up, &host.down};
  for (std::size_t part = 0; part < matrices.size(); ++part)
    models::unpack(device, *matrices[part], packed_ + (matrices[part]->data - region.data()),
                   upload.block + layout.offsets[part], bytes, 1, stream);
}

}  // namespace fovea::precision
