// The expert store: one file that holds every version of every weight unit, packed as the device reads it, so
// that a promotion is one read.
//
// The file is little-endian: a fixed header, a JSON description (of what the store was made from and for), an
// index with one entry for each unit and tier, then the extents, tier after tier, unit after unit, each at a
// multiple of 4,096 bytes. While it is being written it has another name; an entry counts when its own
// checksum is right, so that an interrupted preparation goes on where it was. store_format.h has the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/core/result.h"

namespace fovea::checkpoint {

inline constexpr std::int64_t extent_alignment = 4096;

// What a store must agree on with those who use it. Compared field by field; a difference is named.
struct StoreIdentity {
  std::uint64_t model_fingerprint = 0;
  std::string packing;  // "cpu-tiles-16": the device's order of weights
  std::string scope;    // "experts", "linear_layers"
  std::uint32_t quantizer_version = 0;
  // Of the texts and how they were used; 0: data-free. Any calibration serves who reads: Store::open does not
  // compare it. A preparation goes on only with its own.
  std::uint64_t calibration = 0;
  std::vector<std::string> tiers;  // high to low, "file", "q4"
  std::int64_t units = 0;

  bool operator==(const StoreIdentity&) const = default;
};

struct Extent {
  std::int64_t offset = 0;  // in the file
  std::int64_t bytes = 0;
  std::uint64_t checksum = 0;  // XXH3, 64 bits
  float weight_error = 0;      // ‖W − W'‖ / ‖W‖
  float output_error = 0;      // ‖X Wᵀ − X W'ᵀ‖ / ‖X Wᵀ‖ on calibration inputs; else weight_error
  float divergence = -1;  // KL of the model's output when this unit alone has this tier; −1: not measured
  std::uint32_t calibration_tokens = 0;  // that reached the unit; 0: output_error is not measured
};

// How extents are read. buffered: through the system's page cache. direct: past it (O_DIRECT), where the file
// system can; else buffered.
enum class ReadMode : std::uint8_t { buffered, direct };

// Asked before each piece of a read that shall not be noticed; false gives the read up.
using Pace = std::function<bool(std::int64_t bytes)>;
inline constexpr std::int64_t paced_bytes = 256 << 10;  // of a piece, at most

class Store {
 public:
  // With the tiers that are expected, also where the file holds more. ErrorKind::invalid names what differs
  // from `expected`; ::not_found: there is none, or it is not finished; ::format: damaged, with the offset.
  static Result<Store> open(const std::filesystem::path& path, const StoreIdentity& expected,
                            ReadMode mode = ReadMode::buffered);
  // Whatever store it is.
  static Result<Store> open(const std::filesystem::path& path, ReadMode mode = ReadMode::buffered);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  const StoreIdentity& identity() const;  // with the tiers it was opened for
  const std::filesystem::path& path() const;
  std::int64_t file_bytes() const;
  ReadMode mode() const;  // the one in use
  const Extent& extent(std::int64_t unit, std::int64_t tier) const;
  // Reads one extent and compares its checksum. `memory` is aligned to 4,096 bytes (only direct reading needs
  // it) and as long as the extent. Thread-safe. ErrorKind::io, ::format, or ::cancelled when `pace` says so;
  // without one the extent is a single piece.
  Result<void> read(std::int64_t unit, std::int64_t tier, std::span<std::byte> memory,
                    const Pace& pace = {}) const;

 private:
  struct File;
  explicit Store(std::unique_ptr<File> file);
  std::unique_ptr<File> file_;
};

class StoreWriter {
 public:
  // Begins, or goes on with, "PATH.part" whose identity and sizes agree; one with others is begun anew. The
  // folder is made when it is missing. `bytes` is [units, tiers], multiples of 4,096. The whole file's room
  // is taken from the disk here, where the file system can: ErrorKind::io with the number of bytes when there
  // is too little, and when somebody else is writing the same store.
  static Result<StoreWriter> create(const std::filesystem::path& path, const StoreIdentity& identity,
                                    std::span<const std::int64_t> bytes);
  StoreWriter(StoreWriter&&) noexcept;
  StoreWriter& operator=(StoreWriter&&) noexcept;
  ~StoreWriter();  // what was written stays, to go on with

  bool has(std::int64_t unit, std::int64_t tier) const;
  const Extent& extent(std::int64_t unit, std::int64_t tier) const;  // that it has
  // Of what an earlier process wrote, only read() tells whether it reached the disk before a power cut.
  Result<void> read(std::int64_t unit, std::int64_t tier, std::span<std::byte> memory) const;
  // Thread-safe for different extents. `errors`: offset, bytes and checksum are filled in here.
  Result<void> write(std::int64_t unit, std::int64_t tier, std::span<const std::byte> version, Extent errors);
  // Changes the errors of an extent that it has.
  Result<void> amend(std::int64_t unit, std::int64_t tier, Extent errors);
  // Makes the finished store appear under its name, durable; one that was there is replaced.
  Result<void> finish();

 private:
  struct File;
  explicit StoreWriter(std::unique_ptr<File> file);
  std::unique_ptr<File> file_;
};

// The size of the finished file: what prepare tells before it begins. `bytes` as in StoreWriter::create.
std::int64_t store_bytes(const StoreIdentity& identity, std::span<const std::int64_t> bytes);

// What lies under a store's name: its identity without opening it for reading. As Store::open.
Result<StoreIdentity> read_store_identity(const std::filesystem::path& path);

// Whether there is a store, sound or damaged, and no other file: that one may be replaced.
bool begins_as_store(const std::filesystem::path& path);

}  // namespace fovea::checkpoint
