// The residency's books. Only residency*.cpp, and the test that plants errors in them, look inside.
// Everything belongs to the engine's thread; the pipeline's threads see a place's Transfer and nothing else.
#pragma once

#include <optional>
#include <vector>

#include "engine/precision/thread_pool.h"
#include "engine/precision/residency.h"
#include "engine/precision/swap_pipeline.h"

namespace fovea::precision {

// A swap that holds a block: from the moment that it got one until the block that it replaced is free.
struct Place {
  enum class Stage : std::uint8_t { free, moving, arrived, reclaiming };
  Stage stage = Stage::free;
  Decision decision;
  Transfer transfer;
  Block block;  // the new one; the old one while reclaiming
  std::int64_t started_pass = 0;
  double requested_seconds = 0;
  std::unique_ptr<kernels::Event> readers_ended;
};

struct Waiting {
  Decision decision;
  double requested_seconds = 0;
};

// Units on disk alone that need() has brought, in the order in which they were last needed.
class NeededOrder {
 public:
  explicit NeededOrder(std::int64_t units) : links_(static_cast<std::size_t>(units)) {}
  bool contains(UnitId unit) const { return at(unit).linked; }
  void insert_newest(UnitId unit);
  void erase(UnitId unit);
  UnitId oldest() const { return oldest_; }  // −1: none
  UnitId newer(UnitId unit) const { return at(unit).newer; }
  std::int64_t size() const { return size_; }

 private:
  struct Link {
    UnitId older = -1, newer = -1;
    bool linked = false;
  };
  Link& at(UnitId unit) { return links_[static_cast<std::size_t>(unit)]; }
  const Link& at(UnitId unit) const { return links_[static_cast<std::size_t>(unit)]; }
  std::vector<Link> links_;  // [units]
  UnitId oldest_ = -1, newest_ = -1;
  std::int64_t size_ = 0;
};

struct Residency::State {
  State(Parts given, Arena given_arena, const ResidencySettings& given_settings);
  Result<void> prepare();
  ~State();

  // What never changes.
  Parts parts;
  ResidencySettings settings;
  const Residency* owner = nullptr;  // its on_event
  Clock& clock;
  std::vector<std::int64_t> version_bytes;  // [units, tiers]
  std::vector<std::int64_t> version_bits;   // [units, tiers], of the weights without padding
  std::int64_t largest_bytes = 0;           // of those that may come to the device
  std::byte* transient = nullptr;  // [places, largest_bytes]; null: versions are read into their blocks
  std::int64_t transient_bytes = 0;

  // What is published.
  Arena arena;
  std::vector<TierId> tiers;    // [units]
  std::vector<TierId> arrives;  // [units]: in flight counts as arrived
  std::vector<Block> blocks;    // [units]
  std::int64_t published_bits = 0, published_parameters = 0;
  bool filled = false;

  // What is on its way.
  std::vector<std::unique_ptr<Place>> places;
  std::vector<std::uint8_t> in_flight;  // [units]: holds a place that is not reclaiming, or waits
  std::vector<Waiting> waiting;         // in order
  std::int64_t passes = 0;
  SwapCounters counters;

  // Units on disk alone.
  std::vector<std::uint8_t> on_disk;  // [units]: need() may bring it and take it away again
  std::int64_t on_disk_count = 0;
  NeededOrder needed;
  std::vector<std::uint64_t> needed_at;  // [units]: the call of need() that last named it
  std::uint64_t need_calls = 0;

  std::optional<ThreadPool> pool;  // of need()
  std::vector<std::unique_ptr<kernels::Stream>>
      load_streams;  // [reads_at_once] where there is a transient buffer
  std::optional<TrafficLimit> limit;
  std::optional<SwapPipeline> pipeline;  // last: its threads end first

  static std::size_t at(UnitId unit) { return static_cast<std::size_t>(unit); }
  std::size_t version(UnitId unit, TierId tier) const { return at(unit) * parts.tiers->size() + tier; }
  std::int64_t bytes_of(UnitId unit, TierId tier) const { return version_bytes[version(unit, tier)]; }
  bool deterministic() const { return settings.publish_after_passes >= 0; }
  bool is_tier(TierId tier) const { return tier < parts.tiers->size(); }
  bool on_host(UnitId unit) const { return !parts.on_host.empty() && parts.on_host[at(unit)]; }
  TierId lowest() const { return static_cast<TierId>(parts.tiers->size() - 1); }

  // residency.cpp
  // Sets a unit's published version, its handles and the sums. no_tier has an empty block.
  void set_version(UnitId unit, TierId tier, const Block& block);
  void set_on_disk(UnitId unit, bool value);

  // residency_swaps.cpp
  bool request(const Decision& decision);
  void refuse(const Waiting& request);
  void start_waiting();
  bool start(const Waiting& request, Place& place);
  void collect();
  void mark_arrived(const Transfer& transfer);
  bool is_due(const Place& place) const;
  void wait_for_due();
  void settle(Place& place);
  void settle_due();
  void publish(Place& place);
  void give_up(Place& place, SwapOutcome outcome);
  void reclaim(Place& place, bool wait);
  void refuse_hopeless();
  bool vacates(const Place& place, std::int64_t bytes) const;
  void cancel_all();
  void drain();
  void count(SwapOutcome outcome);
  void emit(const Decision& decision, TierId from, SwapOutcome outcome, std::int64_t bytes,
            double requested_seconds) const;

  // residency_load.cpp
  struct Load {
    UnitId unit = 0;
    TierId tier = 0;
    Block block;
  };
  Result<void> fill(std::span<const TierId> wanted, int threads, const ProgressSink& progress,
                    const std::stop_token& stop);
  Result<std::vector<Load>> reserve(std::span<const TierId> wanted);
  Result<void> load_all(std::span<const Load> loads, int threads, const ProgressSink& progress,
                        const std::stop_token& stop);
  Result<void> load(const Load& load, std::byte* staging, kernels::Stream* stream);
  Result<void> need(std::span<const UnitId> units);
  Result<std::vector<Load>> make_room(std::span<const UnitId> units, double begun);
  Result<void> bring(std::span<const Load> loads, double begun);
  Block room_for(std::int64_t bytes);
  bool evict_oldest(std::int64_t bytes);
  std::vector<std::byte*> unused_stagings();

  // residency_audit.cpp
  Result<void> audit() const;
  Result<void> audit_units() const;
  Result<void> audit_blocks() const;
  Result<void> audit_places() const;
};

}  // namespace fovea::precision
