// The micro-benchmark of the operations, over the cases that the tests use, in the shapes of real models.
//
//   bench_kernels [--device NAME] [--set NAME] [--threads N] [--seconds S] [--small] [--json] [FILTER…]
//
// Of the processor (of which --set chooses an instruction set) or a GPU (--device cuda:0). One line for each
// case whose name contains a FILTER: time, GB/s and GFLOP/s, and the share of this device's measured ceiling
// that is nearer: bandwidth for what streams weights or the cache, arithmetic for the rest. --small takes the
// tests' cases instead, the first of each operation and type, and --seconds 0 runs each once. A FILTER that
// nothing contains leaves the ceilings: reading, arithmetic, copies, and of a GPU the kernels of a graph.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "engine/core/device_words.h"
#include "kernels/api/gpus.h"
#include "kernels/cases/case.h"
#include "kernels/cpu/ceiling.h"
#include "kernels/cpu/device.h"

using namespace fovea::kernels;
using namespace fovea::kernels::cases;

namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string device = "cpu";
  int threads = 0;
  double seconds = 0.3;
  std::string set;
  bool small = false, json = false;
  std::vector<std::string> filters;
};

struct Ceiling {
  double gb_per_s = 0;
  double byte_gop_per_s = 0;
  double float_gop_per_s = 0;
  double node_us = 0, overlapping_node_us = 0;  // of a GPU, as DeviceCeiling's
  // Copies of a GPU: from pinned memory, to it, and within its own (bytes copied).
  double to_device_gb_per_s = 0, from_device_gb_per_s = 0, within_gb_per_s = 0;
};

struct Timed {
  std::string name;
  double seconds, gb_per_s, gop_per_s, share;
  const char* of;  // the ceiling that is nearer
};

bool read_options(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const bool has_value = i + 1 < argc;
    if (argument == "--device" && has_value) {
      options.device = argv[++i];
    } else if (argument == "--threads" && has_value) {
      options.threads = std::atoi(argv[++i]);
    } else if (argument == "--seconds" && has_value) {
      options.seconds = std::atof(argv[++i]);
    } else if (argument == "--set" && has_value) {
      options.set = argv[++i];
    } else if (argument == "--small") {
      options.small = true;
    } else if (argument == "--json") {
      options.json = true;
    } else if (argument.starts_with("--")) {
      return false;
    } else {
      options.filters.push_back(argument);
    }
  }
  return true;
}

// Null where there is none, which it says.
const Device* chosen(const Options& options) {
  if (options.device == "cpu") {
    const Device* device = options.set.empty() ? cpu::default_device() : cpu::device(options.set);
    if (device) return device;
    std::fputs("bench_kernels: this instruction set does not run here; there are:", stderr);
    for (const std::string_view set : cpu::available_instruction_sets())
      std::fprintf(stderr, " %s", std::string(set).c_str());
    std::fputs("\n", stderr);
    return nullptr;
  }
  for (const ModuleDevice& gpu : gpus().devices) {
    if (gpu.name != options.device) continue;
    if (gpu.device) return gpu.device;
    std::fprintf(stderr, "bench_kernels: %s: %s\n", gpu.name.c_str(),
                 fovea::english(fovea::phrase_of(gpu.obstacle)).c_str());
    return nullptr;
  }
  std::fprintf(stderr, "bench_kernels: there is no device %s; %s\n", options.device.c_str(),
               fovea::english(fovea::phrase_of(gpus().obstacle)).c_str());
  return nullptr;
}

// The median time, after one that is not counted.
double median_seconds(double min_seconds, const auto& run) {
  std::vector<double> times;
  const std::size_t fewest = min_seconds > 0 ? 3 : 1;
  const auto begin = Clock::now();
  for (std::size_t i = 0;; ++i) {
    const auto start = Clock::now();
    run(i);
    const auto end = Clock::now();
    if (i > 0) times.push_back(std::chrono::duration<double>(end - start).count());
    const bool enough = std::chrono::duration<double>(end - begin).count() > min_seconds;
    if (enough && times.size() >= fewest) break;
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

// --- ceilings ---

void measure_copies(const Device& device, Stream& stream, double seconds, Ceiling& ceiling) {
  constexpr std::int64_t bytes = std::int64_t{64} << 20;
  std::byte* const host = device.allocate_host(bytes);
  std::byte* const memory = host ? device.allocate(2 * bytes) : nullptr;
  const auto rate = [&](const auto& copy) {
    const double each = median_seconds(seconds, [&](std::size_t) {
      copy();
      stream.synchronize();
    });
    return static_cast<double>(bytes) / each / 1e9;
  };
  if (memory) {
    std::memset(host, 1, static_cast<std::size_t>(bytes));
    ceiling.to_device_gb_per_s = rate([&] { device.copy(memory, host, bytes, stream); });
    ceiling.from_device_gb_per_s = rate([&] { device.read_back(host, memory, bytes, stream); });
    ceiling.within_gb_per_s =
        rate([&] { device.copy_within(memory + bytes, memory, bytes, bytes, 1, stream); });
    device.release(memory, 2 * bytes);
  }
  if (host) device.release_host(host, bytes);
}

Ceiling measure(const Device& device, Stream& stream, double seconds) {
  if (device.memory_is_host())
    return {cpu::read_bandwidth_gb_per_s(stream), cpu::peak_byte_gop_per_s(stream),
            cpu::peak_float_gop_per_s(stream)};
  const DeviceCeiling found = device.measure_ceiling(stream);
  Ceiling ceiling{found.read_gb_per_s, found.byte_gop_per_s, found.half_gop_per_s, found.node_us,
                  found.overlapping_node_us};
  measure_copies(device, stream, seconds, ceiling);
  return ceiling;
}

// --- cases ---

// Copies of a case that together leave no weight in a cache from one run to the next.
struct Copies {
  std::vector<std::unique_ptr<Memory>> memories;
  std::vector<std::function<void(Stream&)>> runs;
};

Copies copies_of(const Case& one, const Device& device) {
  constexpr double uncached_bytes = 256e6;
  const double most = device.memory_is_host() ? 24 : 128;
  const bool small = one.work.bytes < 1e6;  // activations: those are in a cache in a real pass too
  const auto count = small ? 1 : static_cast<int>(std::clamp(uncached_bytes / one.work.bytes, 1.0, most));
  Copies copies;
  for (int i = 0; i < count; ++i) {
    copies.memories.push_back(std::make_unique<Memory>(device, true));
    copies.runs.push_back(one.build(*copies.memories.back()));
    copies.memories.back()->reset();
  }
  return copies;
}

// Of one run. On a GPU many are given to it at once, as a pass gives them: as a graph where it captures.
double seconds_of_run(const Copies& copies, const Device& device, Stream& stream, double min_seconds) {
  if (device.memory_is_host())
    return median_seconds(min_seconds, [&](std::size_t i) { copies.runs[i % copies.runs.size()](stream); });
  const std::size_t fewest = min_seconds > 0 ? 64 : 1;
  const std::size_t count = std::max(copies.runs.size(), fewest);
  const auto give = [&] {
    for (std::size_t i = 0; i < count; ++i) copies.runs[i % copies.runs.size()](stream);
  };
  std::unique_ptr<Graph> graph;
  if (stream.begin_capture()) {
    give();
    std::string why;
    graph = stream.end_capture(why);
  }
  const double seconds = median_seconds(min_seconds, [&](std::size_t) {
    graph ? stream.launch(*graph) : give();
    stream.synchronize();
  });
  return seconds / static_cast<double>(count);
}

Timed timed(const Case& one, double seconds, const Ceiling& ceiling) {
  const double gb_per_s = one.work.bytes / seconds / 1e9;
  const double gop_per_s = one.work.operations / seconds / 1e9;
  const bool bytes = one.name.starts_with("linear") || one.name.starts_with("feed_forward");
  const auto share = [](double reached, double most) { return most > 0 ? reached / most : 0; };
  const double of_bandwidth = share(gb_per_s, ceiling.gb_per_s);
  const double of_arithmetic = share(gop_per_s, bytes ? ceiling.byte_gop_per_s : ceiling.float_gop_per_s);
  return {one.name,
          seconds,
          gb_per_s,
          gop_per_s,
          std::max(of_bandwidth, of_arithmetic),
          of_bandwidth > of_arithmetic ? "bandwidth" : "arithmetic"};
}

// The first case of each operation and type: of the first two words of its name.
Benchmarks small_cases() {
  Benchmarks all;
  std::set<std::string> seen;
  for (auto& one : sweep_cases(1)) {
    const std::size_t word = one->name.find(' ');
    if (!seen.insert(one->name.substr(0, one->name.find(' ', word + 1))).second) continue;
    const auto kept = std::make_shared<std::unique_ptr<Case>>(std::move(one));
    all.push_back({(*kept)->name, [kept] { return std::move(*kept); }});
  }
  return all;
}

bool wanted(const std::string& name, const std::vector<std::string>& filters) {
  return filters.empty() ||
         std::ranges::any_of(filters, [&](const std::string& filter) { return name.contains(filter); });
}

// --- what is said ---

nlohmann::ordered_json as_json(const Device& device, const Ceiling& ceiling) {
  return {{"device", device.name()},
          {"instruction_set", device.instruction_set()},
          {"switched_off", device.switched_off()},
          {"read_gb_per_s", ceiling.gb_per_s},
          {"byte_gop_per_s", ceiling.byte_gop_per_s},
          {"float_gop_per_s", ceiling.float_gop_per_s},
          {"node_us", ceiling.node_us},
          {"overlapping_node_us", ceiling.overlapping_node_us},
          {"to_device_gb_per_s", ceiling.to_device_gb_per_s},
          {"from_device_gb_per_s", ceiling.from_device_gb_per_s},
          {"within_gb_per_s", ceiling.within_gb_per_s},
          {"cases", nlohmann::ordered_json::array()}};
}
nlohmann::ordered_json as_json(const Timed& one) {
  return {{"name", one.name},           {"us", one.seconds * 1e6}, {"gb_per_s", one.gb_per_s},
          {"gop_per_s", one.gop_per_s}, {"share", one.share},      {"of", one.of}};
}

void print(const Device& device, const Ceiling& ceiling) {
  std::printf("%s, %s: reads %.1f GB/s, %.0f GFLOP/s of floats, %.0f Gop/s of bytes\n", device.name().c_str(),
              device.instruction_set().c_str(), ceiling.gb_per_s, ceiling.float_gop_per_s,
              ceiling.byte_gop_per_s);
  if (device.memory_is_host()) return;
  std::printf("a kernel of a graph %.2f µs, overlapping %.2f; copies %.1f GB/s in, %.1f out, %.1f within\n",
              ceiling.node_us, ceiling.overlapping_node_us, ceiling.to_device_gb_per_s,
              ceiling.from_device_gb_per_s, ceiling.within_gb_per_s);
}
void print(const Timed& one) {
  std::printf("%-72s %10.3f ms %8.2f GB/s %9.1f GFLOP/s  %5.1f %% of %s\n", one.name.c_str(),
              one.seconds * 1e3, one.gb_per_s, one.gop_per_s, 100 * one.share, one.of);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!read_options(argc, argv, options)) {
    std::fputs(
        "bench_kernels [--device NAME] [--set NAME] [--threads N] [--seconds S] [--small] [--json] "
        "[FILTER…]\n",
        stderr);
    return 2;
  }
  const Device* const device = chosen(options);
  const auto stream = device ? device->make_stream({.threads = options.threads}) : nullptr;
  if (!stream) return 1;
  const Ceiling ceiling = measure(*device, *stream, options.seconds);
  nlohmann::ordered_json found = as_json(*device, ceiling);
  if (!options.json) print(*device, ceiling);
  for (const Benchmark& benchmark : options.small ? small_cases() : benchmarks()) {
    if (!wanted(benchmark.name, options.filters) || !stream->failure().empty()) continue;
    const auto one = benchmark.make();
    const Copies copies = copies_of(*one, *device);
    const Timed time = timed(*one, seconds_of_run(copies, *device, *stream, options.seconds), ceiling);
    if (!options.json) print(time);
    found["cases"].push_back(as_json(time));
  }
  if (options.json) std::printf("%s\n", found.dump().c_str());
  if (stream->failure().empty()) return 0;
  std::fprintf(stderr, "bench_kernels: %s: %s\n", device->name().c_str(), stream->failure().said.c_str());
  return 1;
}
