// Any bytes as the beginning of an expert store: what is accepted lies inside the file, extent after extent.
// The first byte says whether the checksums are put right (else hardly anything gets past them) and whether
// the file is as long as the header says.
#include <cmath>
#include <cstring>
#include <vector>

#include "engine/checkpoint/checksum.h"
#include "engine/checkpoint/store_format.h"

#include "fuzz.h"

using namespace fovea;
using namespace fovea::checkpoint;

namespace {

using FileBytes = std::vector<std::byte>;

std::uint64_t number(const FileBytes& front, std::size_t offset) {
  std::uint64_t value = 0;
  std::memcpy(&value, front.data() + offset, sizeof value);
  return value;
}

void set(FileBytes& front, std::size_t offset, std::uint64_t value) {
  std::memcpy(front.data() + offset, &value, sizeof value);
}

void seal(FileBytes& front) {
  const std::span all(front);
  const std::uint64_t json = std::min<std::uint64_t>(number(front, 32), front.size() - store_header_bytes);
  set(front, 40, checksum64(all.subspan(store_header_bytes, json)));
  const std::uint64_t index = std::min<std::uint64_t>(number(front, 56), front.size());
  const std::size_t room = (front.size() - index) / store_entry_bytes;
  const std::uint64_t units = number(front, 16), tiers = number(front, 24);
  const std::size_t entries =
      tiers == 0 || units > room / tiers ? room : static_cast<std::size_t>(units * tiers);
  std::vector<std::uint64_t> sizes(entries);
  for (std::size_t slot = 0; slot < entries; ++slot)
    sizes[slot] = number(front, index + slot * store_entry_bytes + 8);
  set(front, 48, checksum64(std::as_bytes(std::span(sizes))));
  set(front, 80, checksum64(all.first(80)));
  for (std::size_t slot = 0; slot < entries; ++slot) {
    const std::size_t at = index + slot * store_entry_bytes;
    set(front, at + 40, checksum64(all.subspan(at, 40), number(front, 80) + slot));
  }
}

void check_layout(const StoreLayout& layout) {
  std::int64_t end = layout.data_offset;
  for (const Extent& extent : layout.extents) {
    fuzz_check(extent.offset == end && extent.bytes > 0 && extent.bytes % extent_alignment == 0);
    fuzz_check(std::isfinite(extent.weight_error) && std::isfinite(extent.output_error));
    end += extent.bytes;
    fuzz_check(end <= layout.file_bytes);
  }
  fuzz_check(end == layout.file_bytes);
  fuzz_check(std::ssize(layout.identity.tiers) * layout.identity.units == std::ssize(layout.extents));
  fuzz_check(check_identity(layout.identity, layout.identity, "fuzz.store").has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto input = fuzz::bytes_of(data + 1, size - 1);
  FileBytes front(input.begin(), input.end());
  if (data[0] & 1 && front.size() >= store_header_bytes) seal(front);
  auto file_bytes = static_cast<std::int64_t>(front.size());
  if (data[0] & 2 && front.size() >= store_header_bytes) {
    file_bytes = static_cast<std::int64_t>(number(front, 72));
    // The rest of the page that the index ends in.
    if (front.size() < 4096) front.resize(4096);
  }
  const auto layout = read_store_front(front, file_bytes, "fuzz.store");
  if (layout) {
    check_layout(*layout);
  } else {
    fuzz::check_error(layout.error());
  }
  return 0;
}
