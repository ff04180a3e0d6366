// How versions get into their blocks: in the background for swaps, or at once while a pass waits. The
// residency reads a store with threads of its own (SwapPipeline, VersionLoader); a replay's disk takes
// modelled time on a virtual clock. Those who decide what moves (SwapQueue, OnDemandCache) know nothing but
// these interfaces.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/checkpoint/store.h"
#include "engine/core/result.h"
#include "engine/precision/arena.h"
#include "engine/precision/swap_events.h"
#include "engine/precision/tiers.h"
#include "kernels/api/device.h"

namespace fovea::precision {

// A version's bytes in pinned memory, which stay as they are until the last one who holds them lets go.
using HeldVersion = std::shared_ptr<const std::byte>;

// Where versions are read from. The store, or in tests something that fails on purpose. Called from several
// threads at once; ErrorKind::format is a wrong checksum, ::cancelled that `pace` (may be empty; see
// checkpoint::Store::read) gave it up, any other a failed read.
class VersionSource {
 public:
  // On its way from pinned memory to a block of the device.
  struct Upload {
    UnitId unit = 0;
    TierId tier = 0;
    const std::byte* from = nullptr;
    std::byte* block = nullptr;
    std::int64_t bytes = 0;  // of the block
  };
  virtual ~VersionSource() = default;
  virtual Result<void> read(UnitId unit, TierId tier, std::span<std::byte> memory,
                            const checkpoint::Pace& pace) = 0;
  // The same in memory of the source's own, which outlives whoever holds it; null: it has none to spare, and
  // nothing was read.
  virtual Result<HeldVersion> hold(UnitId, TierId, const checkpoint::Pace&) { return HeldVersion(); }
  // hold() gives every version, and nothing is read. What it gives need not look as in the block …
  virtual bool holds_all() const { return false; }
  // … which this makes of it, behind what the stream has. Of one stream at a time.
  virtual void upload(const Upload& upload, const kernels::Device& device, kernels::Stream& stream) {
    device.copy(upload.block, upload.from, upload.bytes, stream);
  }
};

// What an error of VersionSource::read means for a swap.
SwapOutcome outcome_of(const Error& error);

// A version on its way to its block in the background. Owned by the engine's thread before submit() and after
// take(), by the mover in between.
struct Transfer {
  UnitId unit = 0;
  TierId tier = 0;
  std::int64_t bytes = 0;
  std::byte* block = nullptr;           // the target
  std::byte* staging = nullptr;         // a part of the transient buffer; null: there is none
  HeldVersion held = {};                // what is uploaded instead, between the two threads
  std::atomic<bool> cancelled = false;  // set by the engine's thread at any time; each stage looks first

  SwapOutcome outcome = SwapOutcome::published;  // published: the bytes are in the block
  std::int64_t bytes_read = 0;
};

// Carries out transfers in the order in which they are submitted. Called by the engine's thread.
class VersionMover {
 public:
  virtual ~VersionMover() = default;
  virtual void submit(Transfer& transfer) = 0;  // never waits
  virtual Transfer* take() = 0;                 // that has arrived; null: none
  virtual Transfer* wait() = 0;                 // the next that arrives; only while one is under way
};

// A version that is read into its block at once.
struct VersionLoad {
  UnitId unit = 0;
  TierId tier = 0;
  Block block;
};

class VersionReader {
 public:
  virtual ~VersionReader() = default;
  // Reads all of them while the engine's thread waits. What became of each.
  virtual std::vector<Result<void>> read(std::span<const VersionLoad> loads) = 0;
};

}  // namespace fovea::precision
