// What the swap pipeline costs and moves, with versions of an expert of Qwen3-30B-A3B (4.7 M weights).
//   ninja bench_swaps && ./bench_swaps [FOLDER]
// Reads come from memory, so that the pipeline is measured and not a disk; reading alone stands beside it.
// With a folder also from a store there (500 MB, deleted at the end), through the page cache and past it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "engine/api/errors.h"
#include "engine/precision/residency.h"
#include "engine/precision/store_source.h"
#include "engine/precision/swap_storm.h"
#include "kernels/api/forwarding_device.h"
#include "kernels/cpu/ceiling.h"
#include "kernels/cpu/device.h"

using namespace fovea;
using namespace fovea::precision;

namespace {

constexpr std::int64_t layers = 4, experts = 16;

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The CPU as if its memory were somebody else's: reads go through the transient buffer.
class ApartDevice final : public kernels::ForwardingDevice {
 public:
  using Forwarding::Forwarding;
  std::string name() const override { return "apart"; }
  bool memory_is_host() const override { return false; }
};

// Versions out of one block of memory, larger than the caches.
class MemorySource final : public VersionSource {
 public:
  explicit MemorySource(const kernels::Device& device) : device_(device), memory_(device.allocate(bytes)) {
    std::memset(memory_, 1, bytes);
  }
  ~MemorySource() override { device_.release(memory_, bytes); }
  MemorySource(const MemorySource&) = delete;
  MemorySource& operator=(const MemorySource&) = delete;

  Result<void> read(UnitId unit, TierId, std::span<std::byte> target, const checkpoint::Pace& pace) override {
    const std::byte* from = memory_ + unit * std::int64_t{777 * 4096} % (bytes - std::ssize(target));
    while (!target.empty()) {
      const auto piece =
          target.first(pace ? std::min(target.size(), std::size_t{checkpoint::paced_bytes}) : target.size());
      if (pace && !pace(std::ssize(piece))) return fail(errors::stopped_on_request());
      std::memcpy(piece.data(), from, piece.size());
      from += piece.size();
      target = target.subspan(piece.size());
    }
    return {};
  }

 private:
  static constexpr std::int64_t bytes = std::int64_t{512} << 20;
  const kernels::Device& device_;
  std::byte* memory_;
};

PolicyWorld bench_world() {
  PolicyWorld world;
  world.bits_per_weight = {8.5, 4.5};
  world.spare_blocks = 4;
  world.high_per_layer = experts / 2;
  for (std::int64_t layer = 0; layer <= layers; ++layer)
    world.first_unit.push_back(static_cast<std::int32_t>(layer * experts));
  return world;
}

struct Bench {
  checkpoint::TensorInfo tensor;
  models::WeightPlan plan;
  std::unique_ptr<UnitTable> units;
  TierSet tiers = {{"q8", kernels::Type::q8_0}, {"q4", kernels::Type::q4_0}};
  std::vector<std::array<kernels::Weight, 3>> weights;
  std::unique_ptr<Residency> residency;

  Bench(const kernels::Device& device, VersionSource& source, const ResidencySettings& settings) {
    tensor.type = kernels::Type::bf16;
    const models::MatrixSource wide{&tensor, 0, 768, 2048, models::Role::routed_expert};
    const models::MatrixSource tall{&tensor, 0, 2048, 768, models::Role::routed_expert};
    models::LayerPlan layer;
    layer.experts.assign(experts, {wide, wide, tall});
    plan.layers.assign(layers, layer);
    units = std::make_unique<UnitTable>(plan, models::UnitScope::experts);
    weights.resize(static_cast<std::size_t>(units->size()));
    Handles handles;
    for (auto& unit : weights) handles.push_back({&unit[0], &unit[1], &unit[2]});
    const std::int64_t high = bytes(device, 0), low = bytes(device, 1);
    auto arena = Arena::create(device, {.slab_bytes = 4 * high, .slabs = 32, .block_bytes = {low, high}});
    auto made = Residency::create({.units = units.get(),
                                   .tiers = &tiers,
                                   .device = &device,
                                   .source = &source,
                                   .handles = std::move(handles)},
                                  *std::move(arena), settings);
    residency = *std::move(made);
    const std::vector<TierId> first = SwapStorm(bench_world(), std::make_shared<StormControl>()).initial();
    if (auto status = residency->fill(first, 2, {}, {}); !status) std::puts(status.error().message().c_str());
  }
  std::int64_t bytes(const kernels::Device& device, TierId tier) const {
    return version_layout(tiers[tier], (*units)[0], device).bytes;
  }
};

void idle(const kernels::Device& device, VersionSource& source) {
  Bench bench(device, source, {});
  constexpr int passes = 5'000'000;
  std::vector<double> times;
  for (int round = 0; round < 5; ++round) {
    const double begun = seconds();
    for (int pass = 0; pass < passes; ++pass) bench.residency->end_pass();
    times.push_back((seconds() - begun) / passes);
  }
  std::ranges::sort(times);
  std::printf("  end_pass, idle            %6.1f ns\n", 1e9 * times[2]);
}

// Half of the units are at the high tier, others after each turn; four swaps are under way and up to four
// wait.
class Storm {
 public:
  explicit Storm(Bench& bench) : bench_(bench) {
    control_->mode = StormMode::flood;
    bench.residency->on_event = [this](const SwapEvent& event) {
      if (event.outcome == SwapOutcome::published) latency_ms.push_back(1e3 * event.seconds);
    };
  }
  // Between two passes.
  void turn() {
    const double before = seconds();
    Residency& residency = *bench_.residency;
    decisions_.clear();
    policy_.propose(residency.tiers_or_target(), residency.queues().sum(), decisions_);
    for (const Decision& decision : decisions_) residency.request(decision);
    residency.end_pass();
    worst_us = std::max(worst_us, 1e6 * (seconds() - before));
  }

  std::vector<double> latency_ms;  // from request to publish
  double worst_us = 0;             // of turn()

 private:
  Bench& bench_;
  std::shared_ptr<StormControl> control_ = std::make_shared<StormControl>();
  SwapStorm policy_{bench_world(), control_};
  std::vector<Decision> decisions_;
};

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

void throughput(const char* name, const kernels::Device& device, VersionSource& source) {
  Bench bench(device, source, {});
  std::byte* const target = device.allocate(bench.bytes(device, 1));
  const std::span<std::byte> version(target, static_cast<std::size_t>(bench.bytes(device, 1)));
  double alone = seconds();
  for (UnitId unit = 0; unit < layers * experts; ++unit) static_cast<void>(source.read(unit, 1, version, {}));
  alone =
      static_cast<double>(layers * experts) * static_cast<double>(version.size()) / (seconds() - alone) / 1e9;
  device.release(target, std::ssize(version));
  Storm storm(bench);
  const double begun = seconds();
  while (seconds() - begun < 2) {
    storm.turn();
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  const SwapCounters& counters = bench.residency->counters();
  const double gb_per_s = static_cast<double>(counters.bytes_read) / (seconds() - begun) / 1e9;
  std::printf(
      "  %-38s %5.2f GB/s, %3.0f %% of reading alone; request to publish %.2f ms (median), %.2f ms (99 %%); "
      "a turn took %.0f us at most; %lld errors\n",
      name, gb_per_s, 100 * gb_per_s / alone, quantile(storm.latency_ms, 0.5),
      quantile(storm.latency_ms, 0.99), storm.worst_us,
      static_cast<long long>(counters.io_errors + counters.checksum_errors));
}

// Something like a decoded token: every core reads quantised matrices from memory.
class Token {
 public:
  Token(const kernels::Device& device, kernels::Stream& stream) : device_(device), stream_(stream) {
    memory_ = device.allocate(matrices * matrix_bytes());
    std::memset(memory_, 1, static_cast<std::size_t>(matrices * matrix_bytes()));
    x_.assign(columns, 0.5F);
    out_.resize(rows);
  }
  ~Token() { device_.release(memory_, matrices * matrix_bytes()); }
  Token(const Token&) = delete;
  Token& operator=(const Token&) = delete;

  void decode() {
    for (std::int64_t i = 0; i < matrices; ++i) {
      const kernels::Projection projection{
          .weight = {memory_ + i * matrix_bytes(), kernels::Type::q4_0,
                     device_.preferred_packing(kernels::Type::q4_0, rows, columns), rows, columns},
          .out = out_.data(),
          .out_stride = rows};
      device_.operations().linear(
          {.x = x_.data(), .tokens = 1, .columns = columns, .projections = {&projection, 1}}, stream_);
    }
  }

 private:
  static constexpr std::int64_t matrices = 160, rows = 2048, columns = 2048;  // 378 MB
  std::int64_t matrix_bytes() const {
    const kernels::Packing packing = device_.preferred_packing(kernels::Type::q4_0, rows, columns);
    return device_.packed_bytes(packing, kernels::Type::q4_0, rows, columns);
  }
  const kernels::Device& device_;
  kernels::Stream& stream_;
  std::byte* memory_ = nullptr;
  std::vector<float> x_, out_;
};

// Times between tokens without the pipeline, with it idle, and in a storm whose traffic is 5 % of the
// memory's bandwidth; taken in turns, because the machine is not always the same.
void tokens(const char* name, const kernels::Device& device, VersionSource& source) {
  const auto stream = device.make_stream({});
  Token token(device, *stream);
  const double bandwidth = 1e9 * kernels::cpu::read_bandwidth_gb_per_s(*stream);
  Bench idle(device, source, {});
  Bench bench(device, source, {.bytes_per_second = 0.05 * bandwidth});
  Storm storm(bench);
  std::vector<double> without, with_idle, with_storm;
  const auto measure = [&](std::vector<double>& times, auto&& between) {
    for (int i = 0; i < 40; ++i) {
      const double begun = seconds();
      token.decode();
      between();
      times.push_back(1e3 * (seconds() - begun));
    }
  };
  std::int64_t read = 0;
  double storming = 0;
  for (int round = 0; round < 8; ++round) {
    measure(without, [] {});
    measure(with_idle, [&] { idle.residency->end_pass(); });
    const std::int64_t read_before = bench.residency->counters().bytes_read;
    const double begun = seconds();
    measure(with_storm, [&] { storm.turn(); });
    storming += seconds() - begun;
    read += bench.residency->counters().bytes_read - read_before;
    bench.residency->cancel_all();
    bench.residency->drain();
  }
  std::printf(
      "  %-38s median %.2f ms, 99 %% %.2f ms; idle pipeline %.3f x, %.3f x; storm of %.2f GB/s %.3f x, %.3f "
      "x\n",
      name, quantile(without, 0.5), quantile(without, 0.99),
      quantile(with_idle, 0.5) / quantile(without, 0.5), quantile(with_idle, 0.99) / quantile(without, 0.99),
      static_cast<double>(read) / storming / 1e9, quantile(with_storm, 0.5) / quantile(without, 0.5),
      quantile(with_storm, 0.99) / quantile(without, 0.99));
}

// A store with every version of the bench, each full of its unit's number.
Result<void> write_store(const kernels::Device& device, const std::filesystem::path& path) {
  MemorySource source(device);
  const Bench bench(device, source, {});
  checkpoint::StoreIdentity identity;
  identity.packing = "bench";
  identity.scope = "experts";
  identity.tiers = {"q8", "q4"};
  identity.units = bench.units->size();
  std::vector<std::int64_t> bytes;
  for (std::int64_t unit = 0; unit < identity.units; ++unit) {
    for (const TierId tier : {0, 1}) bytes.push_back(bench.bytes(device, tier));
  }
  FOVEA_TRY(auto writer, checkpoint::StoreWriter::create(path, identity, bytes));
  for (std::int64_t unit = 0; unit < identity.units; ++unit) {
    for (const TierId tier : {0, 1}) {
      const std::vector<std::byte> version(static_cast<std::size_t>(bench.bytes(device, tier)),
                                           std::byte(unit));
      FOVEA_CHECK(writer.write(unit, tier, version, {}));
    }
  }
  return writer.finish();
}

Result<void> with_store(const kernels::Device& device, const std::filesystem::path& path) {
  FOVEA_CHECK(write_store(device, path));
  for (const auto mode : {checkpoint::ReadMode::buffered, checkpoint::ReadMode::direct}) {
    FOVEA_TRY(auto store, checkpoint::Store::open(path, mode));
    const char* const name = store.mode() == checkpoint::ReadMode::direct ? "store, past the page cache"
                                                                          : "store, through the page cache";
    StoreSource source(std::move(store));
    throughput(name, device, source);
    tokens(name, device, source);
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const kernels::Device* const cpu = kernels::cpu::default_device();
  if (!cpu) {
    std::fputs("FOVEA_CPU names an instruction set that cannot run here\n", stderr);
    return 1;
  }
  const ApartDevice apart(*cpu);
  MemorySource memory(*cpu);
  std::printf("swap pipeline on %s\n", cpu->instruction_set().c_str());
  idle(*cpu, memory);
  std::puts("throughput");
  throughput("memory, straight into the block", *cpu, memory);
  throughput("memory, through the transient buffer", apart, memory);
  std::puts("time between tokens");
  tokens("memory, straight into the block", *cpu, memory);
  tokens("memory, through the transient buffer", apart, memory);
  if (argc < 2) return 0;
  const std::filesystem::path path = std::filesystem::path(argv[1]) / "bench_swaps.store";
  const auto status = with_store(*cpu, path);
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  if (!status) std::fputs((status.error().message() + "\n").c_str(), stderr);
  return status ? 0 : 1;
}
