#include "engine/eval/replay_residency.h"

namespace fovea::eval {
namespace {

std::vector<std::int32_t> units_of_layers(const precision::PolicyWorld& world) {
  std::vector<std::int32_t> units;
  for (std::size_t layer = 0; layer + 1 < world.first_unit.size(); ++layer)
    units.push_back(world.first_unit[layer + 1] - world.first_unit[layer]);
  return units;
}

std::vector<std::string> tier_names(const precision::PolicyWorld& world, std::vector<std::string> names) {
  for (auto tier = std::ssize(names); tier < world.tiers(); ++tier)
    names.push_back("tier " + std::to_string(tier));
  return names;
}

}  // namespace

// When the bytes are there, if nobody else wants some meanwhile.
double ModelledDisk::bring(std::int64_t bytes) {
  const double seconds =
      speeds_.read_latency_ms / 1e3 + static_cast<double>(bytes) / (speeds_.read_gb_per_s * 1e9);
  reader_free_ = std::max(reader_free_, clock_.now()) + seconds;
  busy_seconds_ += seconds;
  if (speeds_.upload_gb_per_s <= 0) return reader_free_;
  uploader_free_ =
      std::max(uploader_free_, reader_free_) + static_cast<double>(bytes) / (speeds_.upload_gb_per_s * 1e9);
  return uploader_free_;
}

void ModelledDisk::submit(precision::Transfer& transfer) {
  under_way_.push_back({&transfer, bring(transfer.bytes)});
  transfer.bytes_read = transfer.bytes;
}

precision::Transfer* ModelledDisk::take() {
  if (under_way_.empty() || under_way_.front().ready_seconds > clock_.now()) return nullptr;
  precision::Transfer* const transfer = under_way_.front().transfer;
  under_way_.pop_front();
  return transfer;
}

precision::Transfer* ModelledDisk::wait() {
  clock_.advance_to(under_way_.front().ready_seconds);
  return take();
}

std::vector<Result<void>> ModelledDisk::read(std::span<const precision::VersionLoad> loads) {
  double ready = clock_.now();
  for (const precision::VersionLoad& load : loads)
    ready = bring(world_.unit_bytes[static_cast<std::size_t>(load.unit * world_.tiers() + load.tier)]);
  clock_.advance_to(ready);
  return std::vector<Result<void>>(loads.size());
}

ReplayResidency::ReplayResidency(const precision::PolicyWorld& world, const ReplaySettings& settings)
    : world_(world),
      units_(units_of_layers(world)),
      disk_(world, settings.clock, clock_),
      recorder_(clock_) {}

Result<std::unique_ptr<ReplayResidency>> ReplayResidency::create(const precision::PolicyWorld& world,
                                                                 const ReplaySettings& settings,
                                                                 std::span<const std::uint8_t> first) {
  std::unique_ptr<ReplayResidency> made(new ReplayResidency(world, settings));
  ReplayResidency& r = *made;
  const precision::SwapLimits limits{.transfer_bytes = settings.clock.transfer_bytes,
                                     .in_flight = settings.in_flight,
                                     .queue = std::max(precision::SwapLimits{}.queue, settings.in_flight),
                                     .publish_after_passes = settings.clock.publish_after_passes};
  FOVEA_TRY(const std::int64_t in_flight,
            precision::swaps_in_flight(limits, *std::ranges::max_element(world.unit_bytes)));
  FOVEA_TRY(precision::Arena arena, precision::Arena::without_memory(settings.arena));
  FOVEA_TRY(r.versions_,
            precision::VersionTable::create(
                {.units = &r.units_,
                 .tiers = tier_names(world, settings.tier_names),
                 .bytes = world.unit_bytes,
                 .on_host = world.on_host,
                 .on_change =
                     [&r](precision::UnitId, std::uint8_t from, std::uint8_t to, const precision::Block&) {
                       const std::vector<double>& bits = r.world_.bits_per_weight;
                       r.published_bits_ +=
                           (to == no_tier ? 0 : bits[to]) - (from == no_tier ? 0 : bits[from]);
                     }},
                std::move(arena)));
  r.cache_.emplace(*r.versions_, r.disk_, r.recorder_, settings.on_demand_blocks);
  r.swaps_.emplace(*r.versions_, *r.cache_, r.disk_, r.recorder_, limits, in_flight,
                   std::span<std::byte* const>());
  FOVEA_TRY(const auto loads, r.versions_->reserve(first));
  r.versions_->publish_first(loads, first);
  r.cache_->begin();
  return made;
}

double ReplayResidency::held_bits() const {
  return published_bits_ - static_cast<double>(cache_->held()) * world_.bits_per_weight.back();
}

}  // namespace fovea::eval
