// A store's bytes before the extents: header, JSON, index. Pure: nothing here touches a file.
//
//   offset  header, 88 bytes                           offset  index entry, 48 bytes
//        0  "FOVEASTO"                                      0  u64 offset of the extent
//        8  u32 version (1)                                 8  u64 bytes
//       12  u32 bytes of an index entry (48)               16  u64 checksum of the extent
//       16  u64 units                                      24  f32 weight_error
//       24  u64 tiers                                      28  f32 output_error
//       32  u64 bytes of the JSON, at 88                   32  f32 divergence
//       40  u64 checksum of the JSON                       36  u32 calibration_tokens
//       48  u64 checksum of the extents' sizes             40  u64 checksum of bytes 0 … 39, seeded with the
//       56  u64 offset of the index, [tiers, units]                header's checksum + the entry's number
//       64  u64 offset of the first extent
//       72  u64 bytes of the whole file
//       80  u64 checksum of bytes 0 … 79
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "engine/checkpoint/store.h"

namespace fovea::checkpoint {

inline constexpr std::size_t store_header_bytes = 88;
inline constexpr std::size_t store_entry_bytes = 48;
inline constexpr std::size_t store_json_limit_bytes = std::size_t{1} << 20;

using StoreEntry = std::array<std::byte, store_entry_bytes>;

struct StoreLayout {
  StoreIdentity identity;
  std::int64_t index_offset = 0;
  std::int64_t data_offset = 0;
  std::int64_t file_bytes = 0;
  std::uint64_t seed = 0;       // of the entries' checksums
  std::vector<Extent> extents;  // [tiers, units], the order in the index and in the file

  std::size_t slot(std::int64_t unit, std::int64_t tier) const {
    return static_cast<std::size_t>(tier * identity.units + unit);
  }
};

// Where everything goes. `bytes` [units, tiers]: positive multiples of 4,096, else ErrorKind::invalid.
Result<StoreLayout> plan_store(const StoreIdentity& identity, std::span<const std::int64_t> bytes);
// Header and JSON, up to the index. Sets the layout's seed.
std::vector<std::byte> encode_store_front(StoreLayout& layout);
StoreEntry encode_store_entry(const StoreLayout& layout, std::size_t slot);
// Takes checksum and errors from an entry. False, and nothing is changed, when its checksum is not right or
// it describes another extent than the layout does.
bool decode_store_entry(StoreLayout& layout, std::size_t slot,
                        std::span<const std::byte, store_entry_bytes> entry);

// What the header says, checked: enough to know how much to read for read_store_front. `file_bytes`: of the
// file as it is. `name` is the file in errors.
struct StoreHeader {
  std::int64_t units = 0, tiers = 0;
  std::int64_t json_bytes = 0;
  std::uint64_t json_checksum = 0, sizes_checksum = 0;
  std::int64_t index_offset = 0, data_offset = 0, file_bytes = 0;
  std::uint64_t checksum = 0;
};
bool begins_as_store(std::span<const std::byte> bytes);
Result<StoreHeader> read_store_header(std::span<const std::byte> bytes, std::int64_t file_bytes,
                                      const std::filesystem::path& name);
// The identity alone, from header and JSON.
Result<StoreIdentity> read_store_description(const StoreHeader& header, std::span<const std::byte> front,
                                             const std::filesystem::path& name);
// Everything before the extents: at least StoreHeader::data_offset bytes.
Result<StoreLayout> read_store_front(std::span<const std::byte> front, std::int64_t file_bytes,
                                     const std::filesystem::path& name);

// Where each tier stands among those that a store holds, in the order of both; empty when it lacks one.
std::vector<std::int64_t> tiers_among(std::span<const std::string> wanted, std::span<const std::string> held);

// ErrorKind::invalid names the first field that differs: calibration is not compared, and a store may hold
// more tiers than are expected.
Result<void> check_identity(const StoreIdentity& found, const StoreIdentity& expected,
                            const std::filesystem::path& name);

}  // namespace fovea::checkpoint
