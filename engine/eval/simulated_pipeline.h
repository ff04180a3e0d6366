// The swap pipeline and the pools' blocks on a simulated clock: read → upload → publish between passes →
// reclaim, with the bounds of the real one.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/api/snapshot.h"
#include "engine/eval/replay.h"
#include "engine/precision/policy.h"

namespace fovea::eval {

class SimulatedPipeline {
 public:
  SimulatedPipeline(const precision::PolicyWorld& world, const ReplaySettings& settings,
                    std::vector<std::uint8_t> tiers);

  // False, and counted: too many in flight, no block, no room in the transient buffer, or already in flight.
  bool request(const precision::Decision& decision, double now);
  // Publishes what has arrived by now, in the order of the requests. Old blocks are free at once: the pass
  // that could see them has ended.
  void end_pass(double now);
  // A pass needs a unit that is on disk alone. Returns the seconds that it waits: 0 while the unit is still
  // there from an earlier visit.
  double visit(std::int32_t unit, double now);

  std::span<const std::uint8_t> tiers() const { return tiers_; }              // published
  std::span<const std::uint8_t> tiers_or_target() const { return targets_; }  // in flight counts as arrived
  std::int32_t in_flight() const { return static_cast<std::int32_t>(flights_.size()); }
  const SwapCounters& counters() const { return counters_; }
  double busy_seconds() const { return busy_seconds_; }
  double held_bits() const { return held_bits_; }  // Σ over the published units
  std::span<const std::int64_t> most_blocks() const { return most_blocks_; }

 private:
  struct Flight {
    precision::Decision decision;
    std::int64_t bytes = 0;
    double ready = 0;  // seconds
    std::int64_t requested_in_pass = 0;
  };
  std::int64_t bytes_of(std::int32_t unit, std::uint8_t tier) const;
  double bits_of(std::int32_t unit, std::uint8_t tier) const;
  double read(std::int64_t bytes, double now);
  bool arrived(const Flight& flight, double now) const;
  void publish(const Flight& flight);

  const precision::PolicyWorld& world_;
  ReplaySettings settings_;
  std::vector<std::uint8_t> tiers_, targets_;       // [units]
  std::vector<std::int64_t> blocks_, most_blocks_;  // [tiers] in use: published, old and in flight
  std::deque<Flight> flights_;
  // The visitors, the last needed one first, and where each unit stands among them.
  std::list<std::int32_t> visitors_;
  std::unordered_map<std::int32_t, std::list<std::int32_t>::iterator> visiting_;
  SwapCounters counters_;
  std::int64_t buffered_bytes_ = 0;
  double reader_free_ = 0, uploader_free_ = 0, busy_seconds_ = 0, held_bits_ = 0;
  std::int64_t pass_ = 0;
};

}  // namespace fovea::eval
