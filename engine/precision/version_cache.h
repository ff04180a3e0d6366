// Main memory beside a card as a place for versions (DynaExq §3.3: SSD, DRAM, HBM): what swaps have read
// stays there, as far as a bound goes, pinned, so that what leaves the card and comes back is copied to it
// from where it lies and not read from the disk again. The version that was used last of all goes last.
//
// What somebody waits for, as the first filling, is read past it: that is the whole model once, most of which
// lies on the card then.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/precision/arena.h"
#include "engine/precision/version_io.h"
#include "kernels/api/device.h"

namespace fovea::precision {

class VersionCache final : public VersionSource {
 public:
  // Of at most `bytes` of the processor's memory, which are taken, and pinned for `device`, as they are
  // needed, a slab at a time; what cannot be pinned stays unused. `sizes` [units, tiers]. ErrorKind::memory.
  static Result<std::unique_ptr<VersionCache>> create(const kernels::Device& processor,
                                                      const kernels::Device& device, std::int64_t bytes,
                                                      std::int64_t tiers, std::vector<std::int64_t> sizes);
  ~VersionCache() override;  // nobody holds a version any more
  VersionCache(const VersionCache&) = delete;
  VersionCache& operator=(const VersionCache&) = delete;
  // What is not here comes from there; before the first read.
  void read_from(std::unique_ptr<VersionSource> inner) { inner_ = std::move(inner); }
  // What a cache of so many bytes divides into blocks; no slabs: it has no room for one of the largest.
  static ArenaPlan plan(std::int64_t bytes, std::span<const std::int64_t> sizes);

  // Past it.
  Result<void> read(UnitId unit, TierId tier, std::span<std::byte> memory,
                    const checkpoint::Pace& pace) override;
  // The version where it lies, read into there if it is not there yet.
  Result<HeldVersion> hold(UnitId unit, TierId tier, const checkpoint::Pace& pace) override;

  struct Use {
    std::int64_t held_bytes = 0;   // of versions, now
    std::int64_t bytes_found = 0;  // that swaps need not read
  };
  Use use() const;

 private:
  struct Entry {
    std::int64_t version = 0;  // unit · tiers + tier
    Block block;
    std::int64_t used = 0;  // when, in uses of all
    int holders = 0;        // it is not forgotten before
    bool is_read = false;   // its bytes are there
  };
  using Entries = std::list<Entry>;  // the last one that was used is the last

  VersionCache(const kernels::Device& device, std::int64_t tiers, std::vector<std::int64_t> sizes,
               Arena arena);
  std::int64_t size(std::int64_t version) const { return sizes_[static_cast<std::size_t>(version)]; }
  HeldVersion held(Entries::iterator entry);
  Block room(std::int64_t bytes);
  bool make_room(std::int64_t bytes);
  bool pin(std::int32_t slab);
  void forget(Entries::iterator entry);

  std::unique_ptr<VersionSource> inner_;
  const kernels::Device& device_;
  const std::int64_t tiers_;
  const std::vector<std::int64_t> sizes_;  // [units, tiers]
  mutable std::mutex mutex_;               // of what follows
  Arena arena_;
  std::vector<bool> pinned_;  // [slabs]
  bool can_pin_ = true;
  Entries entries_;
  std::unordered_map<std::int64_t, Entries::iterator> places_;
  std::int64_t uses_ = 0, held_bytes_ = 0, bytes_found_ = 0;
};

}  // namespace fovea::precision
