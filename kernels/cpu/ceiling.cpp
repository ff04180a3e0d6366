#include "kernels/cpu/ceiling.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <vector>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/memory.h"
#include "kernels/cpu/stream.h"

namespace fovea::kernels::cpu {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// 64 bytes apart, so that no two threads write to one cache line.
struct alignas(64) Sink {
  float value = 0;
};

// The fastest passes of many: a neighbour's load slows some of them down, and a single one may be lucky.
class FastestPasses {
 public:
  void add(double rate) {
    best_.push_back(rate);
    std::ranges::sort(best_, std::greater<>());
    if (best_.size() > 3) best_.pop_back();
  }
  bool agree() const { return best_.size() == 3 && best_.back() >= 0.97 * best_.front(); }
  double median() const { return best_.empty() ? 0 : best_[best_.size() / 2]; }

 private:
  std::vector<double> best_;
};

// The best rate of `work` over all threads, in 10^9 operations per second.
double best_rate(CpuStream& cpu, double (*work)(std::int64_t, float*)) {
  constexpr std::int64_t chunk_rounds = 20000;
  constexpr double min_seconds = 0.1;
  std::vector<Sink> sinks(static_cast<std::size_t>(cpu.pool().threads()));
  const std::int64_t chunks = 16 * cpu.pool().threads();
  double best = 0;
  const auto begin = Clock::now();
  while (seconds_since(begin) < min_seconds) {
    const auto start = Clock::now();
    const double each = work(1, &sinks[0].value);
    cpu.pool().for_chunks(chunks, 1, [&](std::int64_t, std::int64_t, int thread) {
      work(chunk_rounds, &sinks[static_cast<std::size_t>(thread)].value);
    });
    best = std::max(best, each * static_cast<double>(chunk_rounds * chunks) / seconds_since(start) / 1e9);
  }
  return best;
}

}  // namespace

double read_bandwidth_gb_per_s(Stream& stream, std::int64_t buffer_bytes) {
  constexpr std::int64_t chunk_bytes = std::int64_t{1} << 20;
  constexpr double min_seconds = 0.3, max_seconds = 2;
  CpuStream& cpu = on_cpu(stream);
  std::byte* const memory = allocate_pages(buffer_bytes);
  if (!memory) return 0;
  std::vector<Sink> sinks(static_cast<std::size_t>(cpu.pool().threads()));
  // Pages that were never written are all the same zero page.
  cpu.pool().for_chunks(buffer_bytes, chunk_bytes, [&](std::int64_t from, std::int64_t to, int) {
    std::memset(memory + from, 1, static_cast<std::size_t>(to - from));
  });
  FastestPasses passes;
  const auto begin = Clock::now();
  for (double spent = 0; spent < min_seconds || (spent < max_seconds && !passes.agree());
       spent = seconds_since(begin)) {
    const auto start = Clock::now();
    cpu.pool().for_chunks(buffer_bytes, chunk_bytes, [&](std::int64_t from, std::int64_t to, int thread) {
      cpu.kernels().read_work(memory + from, to - from, &sinks[static_cast<std::size_t>(thread)].value);
    });
    passes.add(static_cast<double>(buffer_bytes) / seconds_since(start) / 1e9);
  }
  release_pages(memory, buffer_bytes);
  return passes.median();
}

double peak_byte_gop_per_s(Stream& stream) {
  return best_rate(on_cpu(stream), on_cpu(stream).kernels().byte_work);
}
double peak_float_gop_per_s(Stream& stream) {
  return best_rate(on_cpu(stream), on_cpu(stream).kernels().float_work);
}

double peak_gop_per_s(Stream& stream) {
  return std::max(peak_byte_gop_per_s(stream), peak_float_gop_per_s(stream));
}

}  // namespace fovea::kernels::cpu
