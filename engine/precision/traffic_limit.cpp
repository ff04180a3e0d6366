#include "engine/precision/traffic_limit.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <condition_variable>

namespace fovea::precision {
namespace {

class SteadyClock final : public Clock {
 public:
  double now() const override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  void sleep(double seconds, std::stop_token stop) override {
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    stopped.wait_for(lock, stop, std::chrono::duration<double>(seconds), [] { return false; });
  }
};

}  // namespace

Clock& real_clock() {
  static SteadyClock clock;
  return clock;
}

TrafficLimit::TrafficLimit(double bytes_per_second, std::int64_t burst_bytes)
    : bytes_per_second_(bytes_per_second),
      burst_bytes_(static_cast<double>(burst_bytes)),
      level_bytes_(burst_bytes_) {}

double TrafficLimit::take(std::int64_t bytes, double now) {
  if (bytes_per_second_ <= 0) return 0;
  const auto wanted = static_cast<double>(bytes);
  assert(wanted <= burst_bytes_);
  const std::scoped_lock lock(mutex_);
  if (started_)
    level_bytes_ = std::min(burst_bytes_, level_bytes_ + (now - last_seconds_) * bytes_per_second_);
  started_ = true;
  last_seconds_ = now;
  if (level_bytes_ < wanted) return (wanted - level_bytes_) / bytes_per_second_;
  level_bytes_ -= wanted;
  return 0;
}

bool TrafficLimit::wait(std::int64_t bytes, Clock& clock, std::stop_token stop) {
  // A moment more than asked, so that rounding does not make another turn.
  constexpr double moment_seconds = 1e-6;
  while (!stop.stop_requested()) {
    const double seconds = take(bytes, clock.now());
    if (seconds <= 0) return true;
    clock.sleep(seconds + moment_seconds, stop);
  }
  return false;
}

}  // namespace fovea::precision
