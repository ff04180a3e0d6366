#include "kernels/cpu/ceiling.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "engine/api/engine.h"
#include "engine/runtime/parts.h"
#include "engine/runtime/processor.h"

namespace fovea {
namespace {

using Clock = std::chrono::steady_clock;

// The best of several copies, each large enough that starting it does not count.
double best_copy_gb_per_s(const kernels::Device& device, std::byte* target, std::byte* host,
                          std::int64_t bytes) {
  const auto stream = device.make_stream({.threads = 1, .background = true});
  const auto copied = device.make_event();
  if (!stream || !copied) return 0;
  double best = 0;
  for (int i = 0; i < 6; ++i) {
    const auto start = Clock::now();
    device.copy(target, host, bytes, *stream);
    device.record(*copied, *stream);
    copied->wait();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (i > 0) best = std::max(best, static_cast<double>(bytes) / seconds / 1e9);
  }
  return stream->failure().empty() ? best : 0;
}

}  // namespace

double runtime::link_gb_per_s(const kernels::Device& device) {
  constexpr std::int64_t bytes = std::int64_t{64} << 20;
  std::byte* const host = device.allocate_host(bytes);
  std::byte* const target = host ? device.allocate(bytes) : nullptr;
  double found = 0;
  if (target) {
    std::memset(host, 1, static_cast<std::size_t>(bytes));
    found = best_copy_gb_per_s(device, target, host, bytes);
    device.release(target, bytes);
  }
  if (host) device.release_host(host, bytes);
  return found;
}

Ceiling Engine::measure_ceiling() {
  const kernels::Device& device = *parts_->device;
  const double link = runtime::link_gb_per_s(device);
  std::unique_ptr<kernels::Stream> threads;  // the processor's
  if (device.memory_is_host() || parts_->host_weight_bytes() > 0) {
    if (const auto processor = runtime::chosen_device({}); processor)
      threads = (*processor)->make_stream({.threads = parts_->plan.options.threads});
  }
  const double host_gb_per_s = threads ? kernels::cpu::read_bandwidth_gb_per_s(*threads) : 0;
  if (device.memory_is_host())
    return {.read_gb_per_s = host_gb_per_s,
            .read_is_measured = true,
            .peak_gop_per_s = threads ? kernels::cpu::peak_gop_per_s(*threads) : 0,
            .link_gb_per_s = link};
  const kernels::DeviceCeiling found = device.measure_ceiling(*parts_->stream);
  const bool measured = found.read_gb_per_s > 0;
  return {.read_gb_per_s = measured ? found.read_gb_per_s : device.facts().bandwidth_gb_per_s,
          .read_is_measured = measured,
          .peak_gop_per_s = std::max(found.byte_gop_per_s, found.half_gop_per_s),
          .link_gb_per_s = link,
          .host_gb_per_s = host_gb_per_s};
}

}  // namespace fovea
