#include "engine/eval/simulated_pipeline.h"

#include <algorithm>

namespace fovea::eval {

using precision::Decision;

SimulatedPipeline::SimulatedPipeline(const precision::PolicyWorld& world, const ReplaySettings& settings,
                                     std::vector<std::uint8_t> tiers)
    : world_(world), settings_(settings), tiers_(std::move(tiers)), targets_(tiers_) {
  blocks_.assign(static_cast<std::size_t>(world.tiers()), 0);
  for (std::size_t unit = 0; unit < tiers_.size(); ++unit) {
    if (tiers_[unit] == no_tier) continue;
    ++blocks_[tiers_[unit]];
    held_bits_ += bits_of(static_cast<std::int32_t>(unit), tiers_[unit]);
  }
  most_blocks_ = blocks_;
  if (settings_.clock.transfer_bytes == 0)
    settings_.clock.transfer_bytes = settings_.in_flight * *std::ranges::max_element(world.unit_bytes);
}

std::int64_t SimulatedPipeline::bytes_of(std::int32_t unit, std::uint8_t tier) const {
  return world_.unit_bytes[static_cast<std::size_t>(unit * world_.tiers() + tier)];
}

double SimulatedPipeline::bits_of(std::int32_t, std::uint8_t tier) const {
  return tier == no_tier ? 0 : world_.bits_per_weight[tier];
}

// When the bytes are in the transient buffer.
double SimulatedPipeline::read(std::int64_t bytes, double now) {
  const double seconds = settings_.clock.read_latency_ms / 1e3 +
                         static_cast<double>(bytes) / (settings_.clock.read_gb_per_s * 1e9);
  reader_free_ = std::max(reader_free_, now) + seconds;
  busy_seconds_ += seconds;
  counters_.bytes_read += bytes;
  return reader_free_;
}

bool SimulatedPipeline::request(const Decision& decision, double now) {
  const auto unit = static_cast<std::size_t>(decision.unit);
  const std::int64_t bytes = bytes_of(decision.unit, decision.target);
  if (targets_[unit] != tiers_[unit] || in_flight() >= settings_.in_flight ||
      buffered_bytes_ + bytes > settings_.clock.transfer_bytes ||
      blocks_[decision.target] >= world_.capacity[decision.target] + world_.spare_blocks) {
    ++counters_.refused;
    return false;
  }
  targets_[unit] = decision.target;
  buffered_bytes_ += bytes;
  std::int64_t& blocks = blocks_[decision.target];
  most_blocks_[decision.target] = std::max(most_blocks_[decision.target], ++blocks);
  double ready = read(bytes, now);
  if (settings_.clock.upload_gb_per_s > 0) {
    uploader_free_ = std::max(uploader_free_, ready) +
                     static_cast<double>(bytes) / (settings_.clock.upload_gb_per_s * 1e9);
    ready = uploader_free_;
  }
  flights_.push_back({decision, bytes, ready, pass_});
  return true;
}

bool SimulatedPipeline::arrived(const Flight& flight, double now) const {
  if (settings_.clock.publish_after_passes >= 0)
    return pass_ - flight.requested_in_pass >= settings_.clock.publish_after_passes;
  return flight.ready <= now;
}

void SimulatedPipeline::end_pass(double now) {
  ++pass_;
  for (; !flights_.empty() && arrived(flights_.front(), now); flights_.pop_front()) publish(flights_.front());
}

void SimulatedPipeline::publish(const Flight& flight) {
  const auto [unit, target] = std::pair(flight.decision.unit, flight.decision.target);
  std::uint8_t& tier = tiers_[static_cast<std::size_t>(unit)];
  const bool promotion = tier == no_tier || target < tier;
  ++(promotion ? counters_.promotions : counters_.demotions);
  (promotion ? counters_.bytes_promoted : counters_.bytes_demoted) += flight.bytes;
  if (tier != no_tier) --blocks_[tier];
  held_bits_ += bits_of(unit, target) - bits_of(unit, tier);
  buffered_bytes_ -= flight.bytes;
  tier = target;
}

double SimulatedPipeline::visit(std::int32_t unit, double now) {
  if (const auto found = visiting_.find(unit); found != visiting_.end()) {
    visitors_.splice(visitors_.begin(), visitors_, found->second);
    return 0;
  }
  if (settings_.visitors > 0) {
    if (std::ssize(visitors_) == settings_.visitors) {
      visiting_.erase(visitors_.back());
      visitors_.pop_back();
    }
    visitors_.push_front(unit);
    visiting_[unit] = visitors_.begin();
  }
  const std::int64_t bytes = bytes_of(unit, static_cast<std::uint8_t>(world_.tiers() - 1));
  const double seconds = read(bytes, now) - now;
  ++counters_.stalls;
  counters_.stall_seconds += seconds;
  return seconds;
}

}  // namespace fovea::eval
