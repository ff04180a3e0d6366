#include "swap_world.h"

#include <QtGlobal>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>

#include "engine/checkpoint/errors.h"
#include "engine/precision/arena.h"
#include "tests/support/say.h"

namespace fovea::tests {
namespace {

using precision::SwapOutcome;

constexpr std::align_val_t alignment{4096};
constexpr std::byte poison{0xDB};
constexpr std::size_t piece_bytes = 4096;

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

void take_a_moment() {
  std::this_thread::sleep_for(std::chrono::microseconds(100));
}

// Copies that run when somebody waits for them.
class CopyStream final : public kernels::Stream {
 public:
  CopyStream(bool slow, const std::atomic<bool>& loses) : slow_(slow), loses_(loses) {}
  struct Copy {
    std::byte* target;
    const std::byte* host;
    std::int64_t bytes;
  };
  void push(const Copy& copy) { copies_.push_back(copy); }
  void synchronize() override {
    if (slow_ && !copies_.empty()) take_a_moment();
    for (const Copy& copy : copies_) {
      if (!loses_) std::memcpy(copy.target, copy.host, static_cast<std::size_t>(copy.bytes));
    }
    copies_.clear();
  }
  kernels::Failure failure() const override {
    if (!loses_) return {};
    return {.action = kernels::Action::emulating, .said = "the device is gone"};
  }
  bool idle() const { return copies_.empty(); }

 private:
  bool slow_;
  const std::atomic<bool>& loses_;
  std::vector<Copy> copies_;
};

class LaggingEvent final : public kernels::Event {
 public:
  explicit LaggingEvent(const Faults& faults) : faults_(faults) {}
  void record(kernels::Stream& stream) {
    passes_ = dynamic_cast<PassStream*>(&stream);
    copies_ = dynamic_cast<CopyStream*>(&stream);
    if (passes_) mark_ = passes_->launched();
  }
  bool done() const override {
    if (passes_) return faults_.early_events || passes_->ended() >= mark_;
    return !copies_ || copies_->idle();
  }
  void wait() const override {
    if (passes_ && faults_.early_events) return;
    while (passes_ && passes_->ended() < mark_) passes_->end_oldest();
    if (copies_ && !faults_.early_copies) copies_->synchronize();
  }

 private:
  Faults faults_;
  PassStream* passes_ = nullptr;
  CopyStream* copies_ = nullptr;
  std::int64_t mark_ = 0;
};

}  // namespace

std::uint64_t pattern_word(UnitId unit, TierId tier, std::size_t index) {
  const auto version = static_cast<std::uint64_t>(unit) * 8 + tier + 1;
  return mixed(version) + index * 0x9E3779B97F4A7C15U;
}

void fill_pattern(UnitId unit, TierId tier, std::span<std::byte> memory) {
  for (std::size_t word = 0; word < memory.size() / 8; ++word) {
    const std::uint64_t value = pattern_word(unit, tier, word);
    std::memcpy(memory.data() + 8 * word, &value, 8);
  }
}

bool has_pattern(UnitId unit, TierId tier, std::span<const std::byte> memory) {
  for (std::size_t word = 0; word < memory.size() / 8; ++word) {
    const std::uint64_t value = pattern_word(unit, tier, word);
    if (std::memcmp(memory.data() + 8 * word, &value, 8) != 0) return false;
  }
  return true;
}

double TestClock::now() const {
  const std::scoped_lock lock(mutex_);
  return now_seconds_;
}
void TestClock::sleep(double seconds, std::stop_token) {
  const std::scoped_lock lock(mutex_);
  now_seconds_ += seconds;
}

std::string overfull_window(std::span<const Movement> movements, double bytes_per_second,
                            std::int64_t burst_bytes) {
  for (std::size_t first = 0; first < movements.size(); ++first) {
    std::int64_t moved = 0;
    for (std::size_t last = first; last < movements.size(); ++last) {
      moved += movements[last].bytes;
      const double seconds = movements[last].seconds - movements[first].seconds;
      const double most = static_cast<double>(burst_bytes) + seconds * bytes_per_second;
      if (static_cast<double>(moved) > most * (1 + 1e-9))
        return say("movements ", first, " to ", last, ": ", moved, " bytes in ", seconds, " s; at most ",
                   most);
    }
  }
  return {};
}

const kernels::OperationTable& LaggingDevice::operations() const {
  std::abort();
}
std::unique_ptr<kernels::Stream> LaggingDevice::make_stream(const kernels::StreamOptions&) const {
  if (!gives_streams) return nullptr;
  return std::make_unique<CopyStream>(faults_.slow > 0, loses_copies);
}
std::byte* LaggingDevice::allocate(std::int64_t bytes) const {
  if (bytes > memory_bytes) return nullptr;
  allocated_ += bytes;
  max_allocated_ = std::max(max_allocated_, allocated_);
  return static_cast<std::byte*>(::operator new(static_cast<std::size_t>(bytes), alignment));
}
void LaggingDevice::release(std::byte* memory, std::int64_t bytes) const {
  allocated_ -= bytes;
  ::operator delete(memory, alignment);
}
std::byte* LaggingDevice::allocate_host(std::int64_t bytes) const {
  host_allocated_ += bytes;
  return static_cast<std::byte*>(::operator new(static_cast<std::size_t>(bytes), alignment));
}
void LaggingDevice::release_host(std::byte* memory, std::int64_t bytes) const {
  host_allocated_ -= bytes;
  ::operator delete(memory, alignment);
}
void LaggingDevice::copy(std::byte* target, const std::byte* host, std::int64_t bytes,
                         kernels::Stream& stream) const {
  if (on_copy) on_copy(bytes);
  dynamic_cast<CopyStream&>(stream).push({target, host, bytes});
}
void LaggingDevice::read_back(std::byte*, const std::byte*, std::int64_t, kernels::Stream&) const {
  std::abort();
}
void LaggingDevice::copy_within(std::byte* target, const std::byte* source, std::int64_t bytes,
                                std::int64_t stride, std::int64_t count, kernels::Stream&) const {
  for (std::int64_t i = 0; i < count; ++i)
    std::memcpy(target + i * stride, source + i * stride, static_cast<std::size_t>(bytes));
}
std::unique_ptr<kernels::Event> LaggingDevice::make_event() const {
  if (!gives_streams) return nullptr;
  return std::make_unique<LaggingEvent>(faults_);
}
void LaggingDevice::record(kernels::Event& event, kernels::Stream& stream) const {
  dynamic_cast<LaggingEvent&>(event).record(stream);
}

void PassStream::end_oldest() {
  for (const Promise& promise : running_.front()) {
    if (has_pattern(promise.unit, promise.tier, {promise.memory, promise.bytes})) continue;
    complaint_ = say("pass ", ended_, " saw other bytes than unit ", promise.unit, "'s at tier ",
                     int{promise.tier}, promise.memory[0] == poison ? " (a block that was released)" : "");
  }
  running_.pop_front();
  ++ended_;
}
void PassStream::synchronize() {
  while (!running_.empty()) end_oldest();
}

Result<void> FaultySource::read(UnitId unit, TierId tier, std::span<std::byte> memory,
                                const checkpoint::Pace& pace) {
  const int now = ++at_once_;
  for (int most = max_at_once_; most < now && !max_at_once_.compare_exchange_weak(most, now);) continue;
  const auto leave = [this](void*) { --at_once_; };
  const std::unique_ptr<void, decltype(leave)> leaving(this, leave);
  Faults faults;
  int dice[3];
  {
    const std::scoped_lock lock(mutex_);
    faults = faults_;
    for (int& die : dice) die = static_cast<int>(random_() % 100);
  }
  for (std::size_t done = 0; done < memory.size(); done += piece_bytes) {
    const auto bytes = static_cast<std::int64_t>(std::min(piece_bytes, memory.size() - done));
    if (pace && !pace(bytes)) return std::unexpected(errors::stopped_on_request());
    note(bytes);
  }
  if (dice[0] < faults.slow) take_a_moment();
  for (int moments = 0; max_at_once_ < faults.meet && moments < 100'000; ++moments) take_a_moment();
  if (dice[1] < faults.io_error) {
    std::ranges::fill(memory.first(memory.size() / 2), std::byte{0xEE});
    return std::unexpected(errors::cannot_read(Said{"the disk is gone"}));
  }
  fill_pattern(static_cast<UnitId>(faults.wrong_unit ? (unit + 1) % units_ : unit), tier, memory);
  if (dice[2] < faults.checksum_error) {
    memory[memory.size() / 3] ^= std::byte{1};
    return std::unexpected(errors::store_extent_checksum());
  }
  return {};
}
Result<precision::HeldVersion> FaultySource::hold(UnitId unit, TierId tier, const checkpoint::Pace& pace) {
  {
    const std::scoped_lock lock(mutex_);
    if (static_cast<int>(random_() % 100) >= faults_.holds) return precision::HeldVersion();
  }
  const auto memory = std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(bytes(unit, tier)));
  FOVEA_CHECK(read(unit, tier, *memory, pace));
  ++held_;
  return precision::HeldVersion(memory->data(), [this, memory](const std::byte*) {
    std::ranges::fill(*memory, std::byte{0xDD});
    --held_;
  });
}
void FaultySource::set_faults(const Faults& faults) {
  const std::scoped_lock lock(mutex_);
  faults_ = faults;
}
void FaultySource::note(std::int64_t bytes) {
  const std::scoped_lock lock(mutex_);
  if (clock_) movements_.push_back({clock_->now(), bytes});
}
std::vector<Movement> FaultySource::movements() const {
  const std::scoped_lock lock(mutex_);
  return movements_;
}
void FaultySource::forget_movements() {
  const std::scoped_lock lock(mutex_);
  movements_.clear();
}

SwapWorld::SwapWorld(const WorldOptions& options)
    : options_(options), device_(options.host_memory, options.faults), weights_(units) {
  tensor_ = {.name = "experts", .type = kernels::Type::bf16, .shape = {64, 64}};
  for (const std::int64_t rows : {32, 64}) {
    const models::MatrixSource matrix{&tensor_, 0, rows, 64, models::Role::routed_expert};
    models::LayerPlan layer;
    layer.experts.assign(units / 2, {matrix, matrix, matrix});
    plan_.layers.push_back(layer);
  }
  table_ = std::make_unique<precision::UnitTable>(plan_, models::UnitScope::experts);
  tiers_ = {{"file", std::nullopt}, {"q8", kernels::Type::q8_0}, {"q4", kernels::Type::q4_0}};
  source_ = std::make_unique<FaultySource>(options.seed, units, Faults{}, options.settings.clock);
  source_->bytes = [this](UnitId unit, TierId tier) { return bytes(unit, tier); };
  device_.on_copy = [this](std::int64_t bytes) { source_->note(bytes); };
}

SwapWorld::~SwapWorld() {
  close();
}

std::int64_t SwapWorld::bytes(UnitId unit, TierId tier) const {
  return version_layout(tiers_[tier], (*table_)[unit], device_).bytes;
}

Result<void> SwapWorld::make() {
  const std::int64_t in_slab = options_.any_mix ? slab_bytes / precision::version_alignment : 1;
  precision::ArenaPlan plan{.slab_bytes = slab_bytes / in_slab,
                            .slabs = options_.slabs * in_slab,
                            .block_bytes = {},
                            .any_mix = options_.any_mix};
  for (UnitId unit = 0; unit < units; ++unit) {
    for (TierId tier = 0; tier <= lowest; ++tier) plan.block_bytes.push_back(bytes(unit, tier));
  }
  std::ranges::sort(plan.block_bytes);
  plan.block_bytes.erase(std::ranges::unique(plan.block_bytes).begin(), plan.block_bytes.end());
  FOVEA_TRY(precision::Arena arena, precision::Arena::create(device_, plan));
  arena_bytes_ = arena.bytes();
  arena.on_release([](std::span<std::byte> block) { std::ranges::fill(block, poison); });
  precision::Handles handles;
  for (auto& unit : weights_) handles.push_back({&unit[0], &unit[1], &unit[2]});
  FOVEA_TRY(residency_, precision::Residency::create({.units = table_.get(),
                                                      .tiers = &tiers_,
                                                      .device = &device_,
                                                      .source = source_.get(),
                                                      .handles = std::move(handles),
                                                      .stream = options_.lagging_passes ? &stream_ : nullptr,
                                                      .on_publish = [this](UnitId) { ++story.handles; },
                                                      .on_host = options_.on_host},
                                                     std::move(arena), options_.settings));
  residency_->on_event = [this](const precision::SwapEvent& event) { hear(event); };
  return {};
}

Result<void> SwapWorld::open() {
  FOVEA_CHECK(make());
  told_ = options_.first.empty() ? std::vector<TierId>(units, lowest) : options_.first;
  was_absent_.clear();
  for (const TierId tier : told_) was_absent_.push_back(tier == no_tier);
  source_->set_faults({.wrong_unit = options_.faults.wrong_unit});
  const auto status = residency_->fill(told_, 3, {}, {});
  source_->set_faults(options_.faults);
  return status;
}

void SwapWorld::hear(const precision::SwapEvent& event) {
  story.events.push_back(event);
  ++story.outcomes[event.outcome];
  if (event.decision.unit < 0 || event.decision.unit >= units) return;  // refused
  const auto unit = static_cast<std::size_t>(event.decision.unit);
  if (event.from != told_[unit])
    contradiction_ = say("unit ", unit, " was at ", int{told_[unit]}, ", an event says ", int{event.from});
  if (event.outcome != SwapOutcome::published) return;
  told_[unit] = event.decision.target;
  if (told_[unit] == no_tier) was_absent_[unit] = true;
}

PassStream::Promise SwapWorld::promise(UnitId unit) {
  const auto& weight = weights_[static_cast<std::size_t>(unit)];
  const TierId tier = residency_->tiers()[static_cast<std::size_t>(unit)];
  const auto expected = weights_at(tiers_[tier], (*table_)[unit], device_, weight[0].data);
  for (std::size_t part = 0; part < weight.size(); ++part) {
    if (weight[part].data != expected[part].data || weight[part].type != expected[part].type)
      contradiction_ = say("a handle of unit ", unit, " is not at its tier");
  }
  return {unit, tier, weight[0].data, static_cast<std::size_t>(bytes(unit, tier))};
}

void SwapWorld::pass(std::size_t lag) {
  std::vector<PassStream::Promise> promises;
  for (UnitId unit = 0; unit < units; ++unit) {
    if (!was_absent_[static_cast<std::size_t>(unit)]) promises.push_back(promise(unit));
  }
  stream_.begin_pass(std::move(promises));
  while (stream_.running() > (options_.lagging_passes ? lag : 0)) stream_.end_oldest();
}

Result<void> SwapWorld::need(const std::vector<UnitId>& wanted) {
  FOVEA_CHECK(residency_->need(wanted));
  for (const UnitId unit : wanted) {
    if (residency_->on_host(unit)) continue;
    if (residency_->tiers()[static_cast<std::size_t>(unit)] == no_tier) {
      contradiction_ = say("unit ", unit, " was needed and is not there");
      continue;
    }
    const PassStream::Promise promised = promise(unit);
    if (!has_pattern(unit, promised.tier, {promised.memory, promised.bytes}))
      contradiction_ = say("unit ", unit, " was needed and has other bytes");
  }
  return {};
}

void SwapWorld::close() {
  stream_.synchronize();
  residency_.reset();
  if (source_->held() != 0) qFatal("%d versions are still held", source_->held());
}

std::string SwapWorld::complaint() {
  if (!stream_.complaint().empty()) return stream_.complaint();
  if (!contradiction_.empty()) return contradiction_;
  if (device_.allocated() != arena_bytes_ || device_.max_allocated() > arena_bytes_)
    return say("the device gave ", device_.max_allocated(), " bytes; the budget is ", arena_bytes_);
  if (const auto audit = residency_->audit(); !audit) return audit.error().message();
  for (std::size_t unit = 0; unit < told_.size(); ++unit) {
    const bool on_host = residency_->on_host(static_cast<UnitId>(unit));
    if (on_host && (residency_->tiers_or_target()[unit] != no_tier || weights_[unit][0].data != nullptr))
      return say("unit ", unit, " is the host's, and has a version");
    if (residency_->tiers()[unit] != told_[unit])
      return say("unit ", unit, " is at ", int{residency_->tiers()[unit]}, ", the events say ",
                 int{told_[unit]});
  }
  const SwapCounters& counters = residency_->counters();
  if (counters.io_errors != story.outcomes[SwapOutcome::io_error] ||
      counters.checksum_errors != story.outcomes[SwapOutcome::checksum_error] ||
      counters.refused != story.outcomes[SwapOutcome::refused] ||
      counters.cancelled != story.outcomes[SwapOutcome::cancelled])
    return "the counters differ from the events";
  return {};
}

void settle(SwapWorld& world) {
  for (int i = 0; i < 10'000; ++i) {
    world.pass();
    world.residency().end_pass();
    if (world.residency().queues().sum() == 0) return;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

}  // namespace fovea::tests
