// The expert store: one file that holds every version of every weight unit, packed as the device reads it, so
// that a promotion is one read.
//
// The file is little-endian: a fixed header, a JSON description (of what the store was made from and for), an
// index with one entry for each unit and tier, then the extents, tier after tier, unit after unit, each at a
// multiple of 4,096 bytes. While it is being written it has another name; an entry counts when its own
// checksum is right, so that an interrupted preparation goes on where it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/core/result.h"

namespace fovea::checkpoint {

// What a store must agree on with those who use it. Compared field by field; a difference is named.
struct StoreIdentity {
  std::uint64_t model_fingerprint = 0;
  std::string packing;  // "cpu-tiles-16": the device's order of weights
  std::string scope;    // "experts", "linear_layers"
  std::uint32_t quantizer_version = 0;
  std::uint64_t calibration = 0;   // of the texts; 0: data-free
  std::vector<std::string> tiers;  // high to low, "file", "q4"
  std::int64_t units = 0;
};

struct Extent {
  std::int64_t offset = 0;  // in the file
  std::int64_t bytes = 0;
  std::uint64_t checksum = 0;  // XXH3, 64 bits
  float weight_error = 0;      // ‖W − W'‖ / ‖W‖
  float output_error = 0;      // ‖X Wᵀ − X W'ᵀ‖ / ‖X Wᵀ‖ on calibration inputs; else weight_error
  float divergence = -1;  // KL of the model's output when this unit alone has this tier; −1: not measured
};

class Store {
 public:
  // Refuses by name what differs from `expected`; a store that is not finished is ErrorKind::not_found.
  static Result<Store> open(const std::filesystem::path& path, const StoreIdentity& expected);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  const StoreIdentity& identity() const;
  const std::filesystem::path& path() const;
  const Extent& extent(std::int64_t unit, std::int64_t tier) const;
  // Reads one extent and compares its checksum. `memory` is aligned to 4,096 bytes and as long as the extent.
  // Thread-safe. ErrorKind::io or ::format.
  Result<void> read(std::int64_t unit, std::int64_t tier, std::span<std::byte> memory) const;

 private:
  struct File;
  explicit Store(std::unique_ptr<File> file);
  std::unique_ptr<File> file_;
};

class StoreWriter {
 public:
  // Begins, or goes on with, "PATH.part" whose identity and sizes agree; one with others is begun anew.
  // `bytes` is [units, tiers]. ErrorKind::io with the number of bytes when the disk has too little room.
  static Result<StoreWriter> create(const std::filesystem::path& path, const StoreIdentity& identity,
                                    std::span<const std::int64_t> bytes);
  StoreWriter(StoreWriter&&) noexcept;
  StoreWriter& operator=(StoreWriter&&) noexcept;
  ~StoreWriter();

  bool has(std::int64_t unit, std::int64_t tier) const;
  // Thread-safe for different extents. `errors`: offset, bytes and checksum are filled in here.
  Result<void> write(std::int64_t unit, std::int64_t tier, std::span<const std::byte> version, Extent errors);
  // Makes the finished store appear under its name, durable.
  Result<void> finish();

 private:
  struct File;
  explicit StoreWriter(std::unique_ptr<File> file);
  std::unique_ptr<File> file_;
};

// Where a store of these sizes has its end: what prepare tells before it begins.
std::int64_t store_bytes(std::span<const std::int64_t> bytes);

}  // namespace fovea::checkpoint
