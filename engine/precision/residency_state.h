// How the residency is put together. Only residency.cpp, and the test that plants errors, look inside.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/precision/on_demand_cache.h"
#include "engine/precision/residency.h"
#include "engine/precision/swap_pipeline.h"
#include "engine/precision/swap_queue.h"
#include "engine/precision/version_loader.h"
#include "engine/precision/version_table.h"

namespace fovea::precision {

// Pinned host memory between the store and a device with memory of its own: a part for each swap in flight.
// Without one versions are read into their blocks.
class TransientBuffer {
 public:
  explicit TransientBuffer(const kernels::Device& device) : device_(device) {}
  ~TransientBuffer();
  TransientBuffer(const TransientBuffer&) = delete;
  TransientBuffer& operator=(const TransientBuffer&) = delete;

  bool allocate(std::int64_t parts, std::int64_t part_bytes);  // once; false: there is no memory
  std::span<std::byte* const> parts() const { return parts_; }
  std::int64_t bytes() const { return bytes_; }

 private:
  const kernels::Device& device_;
  std::byte* memory_ = nullptr;
  std::int64_t bytes_ = 0;
  std::vector<std::byte*> parts_;
};

// What the passes see of a published version: the model's Weight structs, and the mean bits.
class PublishedHandles {
 public:
  PublishedHandles(const UnitTable& units, const TierSet& tiers, const kernels::Device& device,
                   Handles handles);
  void set(UnitId unit, TierId from, TierId to, const Block& block);
  double mean_bits_per_weight() const;
  Result<void> audit(const VersionTable& versions) const;

 private:
  friend struct ResidencyBooks;                          // the test that plants errors
  std::int64_t bits_of(UnitId unit, TierId tier) const;  // of the weights without padding
  std::array<kernels::Weight, 3> weights(UnitId unit, TierId tier, const Block& block) const;

  const UnitTable& units_;
  const TierSet& tiers_;
  const kernels::Device& device_;
  Handles handles_;
  std::int64_t bits_ = 0, parameters_ = 0;
};

// The parts, in the order in which they need each other: what is last ends first. The reader, which the cache
// waits for, is the loader with what the queue leaves of the transient buffer.
struct Residency::State final : VersionReader {
  State(Parts& given, const ResidencySettings& given_settings);
  Result<void> prepare(const Parts& given, Arena arena);
  std::vector<Result<void>> read(std::span<const VersionLoad> loads) override;
  Result<void> fill(std::span<const TierId> first, int threads, const ProgressSink& progress,
                    const std::stop_token& stop, std::span<const UnitId> order);
  Result<void> audit() const;

  const kernels::Device& device;
  const ResidencySettings settings;
  Clock& clock;
  VersionSource& source;
  const std::function<void(UnitId)> on_publish;
  SwapRecorder recorder;
  PublishedHandles handles;
  TransientBuffer transient;
  TierId host_place = no_tier - 1;  // where there is none, of no unit
  std::unique_ptr<VersionTable> versions;
  std::optional<VersionLoader> loader;
  std::optional<OnDemandCache> cache;
  std::optional<SwapQueue> queue;
  std::optional<TrafficLimit> limit;
  std::optional<SwapPipeline> pipeline;
};

}  // namespace fovea::precision
