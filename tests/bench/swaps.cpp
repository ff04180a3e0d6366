// What the swap pipeline costs and moves, with versions of an expert of Qwen3-30B-A3B (4.7 M weights).
//   ninja bench_swaps && ./bench_swaps [STORE_FILE_FOLDER]
// Reads come from memory, so that the pipeline is measured and not a disk; a copy of the same bytes on one
// thread stands beside it. With a folder they come from a file there, through the page cache.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <vector>

#include "engine/precision/residency.h"
#include "kernels/api/host_device.h"
#include "kernels/cpu/device.h"

using namespace fovea;
using namespace fovea::precision;

namespace {

constexpr std::int64_t layers = 8, experts = 16;

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The CPU as if its memory were somebody else's: reads go through the transient buffer.
class ApartDevice final : public kernels::HostDevice {
 public:
  explicit ApartDevice(const kernels::Device& cpu) : cpu_(cpu) {}
  std::string name() const override { return "apart"; }
  std::string instruction_set() const override { return cpu_.instruction_set(); }
  const kernels::OperationTable& operations() const override { return cpu_.operations(); }
  std::unique_ptr<kernels::Stream> make_stream(const kernels::StreamOptions& options) const override {
    return cpu_.make_stream(options);
  }
  kernels::Packing preferred_packing(kernels::Type type, std::int64_t rows,
                                     std::int64_t columns) const override {
    return cpu_.preferred_packing(type, rows, columns);
  }
  std::int64_t packed_bytes(kernels::Packing packing, kernels::Type type, std::int64_t rows,
                            std::int64_t columns) const override {
    return cpu_.packed_bytes(packing, type, rows, columns);
  }
  void pack(kernels::Packing packing, kernels::Type type, std::int64_t rows, std::int64_t columns,
            const std::byte* source, std::int64_t first, std::int64_t count,
            std::byte* packed) const override {
    cpu_.pack(packing, type, rows, columns, source, first, count, packed);
  }
  std::int64_t pack_granularity(kernels::Packing packing) const override {
    return cpu_.pack_granularity(packing);
  }
  std::byte* allocate(std::int64_t bytes) const override { return cpu_.allocate(bytes); }
  void release(std::byte* memory, std::int64_t bytes) const override { cpu_.release(memory, bytes); }
  bool memory_is_host() const override { return false; }

 private:
  const kernels::Device& cpu_;
};

// All versions have the same bytes: one file, or one block of memory, larger than the caches.
class OneSource final : public VersionSource {
 public:
  OneSource(const kernels::Device& device, const std::string& folder) : device_(device) {
    memory_ = device.allocate(bytes);
    std::memset(memory_, 1, bytes);
    if (folder.empty()) return;
    const std::string path = folder + "/bench_swaps.tmp";
    file_ = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (file_ < 0 || write(file_, memory_, bytes) != bytes) std::perror(path.c_str());
    unlink(path.c_str());
  }
  ~OneSource() override {
    device_.release(memory_, bytes);
    if (file_ >= 0) close(file_);
  }
  OneSource(const OneSource&) = delete;
  OneSource& operator=(const OneSource&) = delete;

  Result<void> read(UnitId unit, TierId, std::span<std::byte> target) override {
    const std::int64_t offset =
        unit * std::int64_t{1} * 4096 * 777 % (bytes - std::ssize(target)) / 4096 * 4096;
    if (file_ < 0) {
      std::memcpy(target.data(), memory_ + offset, target.size());
    } else if (pread(file_, target.data(), target.size(), offset) != std::ssize(target)) {
      return std::unexpected(Error{ErrorKind::io, "bench_swaps.tmp", "cannot be read", {}});
    }
    return {};
  }

 private:
  static constexpr std::int64_t bytes = std::int64_t{512} << 20;
  const kernels::Device& device_;
  std::byte* memory_ = nullptr;
  int file_ = -1;
};

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
    const std::vector<TierId> first(weights.size(), 1);
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

// A promotion to the high tier and back for unit after unit, as fast as end_pass publishes them.
void storm(const char* name, const kernels::Device& device, VersionSource& source, double copy_gb_per_s) {
  Bench bench(device, source, {});
  std::vector<double> latency, published;
  bench.residency->on_event = [&](const SwapEvent& event) { latency.push_back(event.seconds); };
  double worst = 0, in_passes = 0;
  const double begun = seconds();
  UnitId next = 0;
  TierId target = 0;
  while (seconds() - begun < 2) {
    const double before = seconds();
    for (int i = 0; i < 2; ++i) {
      if (bench.residency->queues().queued > 2) break;
      bench.residency->request({.unit = next, .target = target});
      next = (next + 1) % (bench.units->size() / 2);
      if (next == 0) target = target == 0 ? 1 : 0;
    }
    bench.residency->end_pass();
    const double took = seconds() - before;
    worst = std::max(worst, took);
    in_passes += took;
    usleep(200);
  }
  const double took = seconds() - begun;
  bench.residency->drain();
  const SwapCounters& counters = bench.residency->counters();
  std::ranges::sort(latency);
  const auto at = [&](double share) {
    return 1e3 * latency[static_cast<std::size_t>(share * static_cast<double>(latency.size() - 1))];
  };
  const double gb_per_s = static_cast<double>(counters.bytes_read) / took / 1e9;
  std::printf("  %-25s %6.2f GB/s, %.0f %% of a copy's; %lld swaps, %lld refused\n", name, gb_per_s,
              100 * gb_per_s / copy_gb_per_s,
              static_cast<long long>(counters.promotions + counters.demotions),
              static_cast<long long>(counters.refused));
  std::printf(
      "  %-25s request to publish %.2f ms (median), %.2f ms (99 %%); request + end_pass took %.0f us at "
      "most\n",
      "", at(0.5), at(0.99), 1e6 * worst);
}

}  // namespace

int main(int argc, char** argv) {
  const kernels::Device* const cpu = kernels::cpu::default_device();
  if (!cpu) {
    std::fputs("FOVEA_CPU names an instruction set that cannot run here\n", stderr);
    return 1;
  }
  OneSource source(*cpu, argc > 1 ? argv[1] : "");
  std::vector<std::byte> target(std::size_t{4} << 20);
  for (UnitId unit = 0; unit < 50; ++unit) static_cast<void>(source.read(unit, 0, target));
  const double begun = seconds();
  for (UnitId unit = 0; unit < 500; ++unit) static_cast<void>(source.read(unit, 0, target));
  const double copy = 500.0 * static_cast<double>(target.size()) / (seconds() - begun) / 1e9;
  std::printf("swap pipeline on %s\n  reading alone             %6.2f GB/s\n", cpu->instruction_set().c_str(),
              copy);
  idle(*cpu, source);
  storm("straight into the block", *cpu, source, copy);
  const ApartDevice apart(*cpu);
  storm("through the buffer", apart, source, copy);
}
