// The micro-benchmark of the CPU operations, over the cases that the tests use, in the shapes of real models.
//
//   bench_kernels [--threads N] [--seconds S] [--set NAME] [FILTER]
//
// One line for each case whose name contains FILTER: time, GB/s and GFLOP/s, and the share of this machine's
// measured ceiling that is nearer: bandwidth for what streams weights or the cache, arithmetic for the rest.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/cases/case.h"
#include "kernels/cpu/ceiling.h"
#include "kernels/cpu/device.h"

using namespace fovea::kernels;
using namespace fovea::kernels::cases;

namespace {

struct Options {
  int threads = 0;
  double seconds = 0.3;
  std::string set;
  std::string filter;
};

struct Ceiling {
  double gb_per_s = 0;
  double byte_gop_per_s = 0;
  double float_gop_per_s = 0;
};

bool read_options(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const bool has_value = i + 1 < argc;
    if (argument == "--threads" && has_value) {
      options.threads = std::atoi(argv[++i]);
    } else if (argument == "--seconds" && has_value) {
      options.seconds = std::atof(argv[++i]);
    } else if (argument == "--set" && has_value) {
      options.set = argv[++i];
    } else if (argument.starts_with("--")) {
      return false;
    } else {
      options.filter = argument;
    }
  }
  return true;
}

// Copies of a case that together leave no weight in a cache from one run to the next.
struct Copies {
  std::vector<std::unique_ptr<Memory>> memories;
  std::vector<std::function<void(Stream&)>> runs;
};

Copies copies_of(const Case& one, const Device& device) {
  constexpr double uncached_bytes = 256e6;
  constexpr double most = 24;
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

// The median time of a run, after one that is not counted.
double median_seconds(const Copies& copies, Stream& stream, double least_seconds) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  const auto begin = Clock::now();
  for (std::size_t i = 0;; ++i) {
    const auto start = Clock::now();
    copies.runs[i % copies.runs.size()](stream);
    const auto end = Clock::now();
    if (i > 0) times.push_back(std::chrono::duration<double>(end - start).count());
    const bool enough = std::chrono::duration<double>(end - begin).count() > least_seconds;
    if (enough && times.size() >= 3) break;
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

void report(const Case& one, double seconds, const Ceiling& ceiling) {
  const double gb_per_s = one.work.bytes / seconds / 1e9;
  const double gop_per_s = one.work.operations / seconds / 1e9;
  const bool bytes = one.name.starts_with("linear") || one.name.starts_with("feed_forward");
  const double peak = bytes ? ceiling.byte_gop_per_s : ceiling.float_gop_per_s;
  const double of_bandwidth = gb_per_s / ceiling.gb_per_s;
  const double of_arithmetic = gop_per_s / peak;
  std::printf("%-72s %10.3f ms %8.2f GB/s %9.1f GFLOP/s  %5.1f %% of %s\n", one.name.c_str(), seconds * 1e3,
              gb_per_s, gop_per_s, 100 * std::max(of_bandwidth, of_arithmetic),
              of_bandwidth > of_arithmetic ? "bandwidth" : "arithmetic");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!read_options(argc, argv, options)) {
    std::fputs("bench_kernels [--threads N] [--seconds S] [--set NAME] [FILTER]\n", stderr);
    return 2;
  }
  const Device* device = options.set.empty() ? cpu::default_device() : cpu::device(options.set);
  if (!device) {
    std::fputs("this instruction set does not run here; there are:", stderr);
    for (const std::string_view set : cpu::available_instruction_sets())
      std::fprintf(stderr, " %s", std::string(set).c_str());
    std::fputs("\n", stderr);
    return 1;
  }
  const auto stream = device->make_stream({options.threads});
  const Ceiling ceiling{cpu::read_bandwidth_gb_per_s(*stream), cpu::peak_byte_gop_per_s(*stream),
                        cpu::peak_float_gop_per_s(*stream)};
  std::printf("%s: reads %.1f GB/s, %.0f GFLOP/s of floats, %.0f Gop/s of bytes\n",
              device->instruction_set().c_str(), ceiling.gb_per_s, ceiling.float_gop_per_s,
              ceiling.byte_gop_per_s);
  for (const Benchmark& benchmark : benchmarks()) {
    if (benchmark.name.find(options.filter) == std::string::npos) continue;
    const auto one = benchmark.make();
    const Copies copies = copies_of(*one, *device);
    report(*one, median_seconds(copies, *stream, options.seconds), ceiling);
  }
  return 0;
}
