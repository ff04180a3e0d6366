// Keeps the pipeline's traffic below a share of the memory's bandwidth, which decoding needs.
#pragma once

#include <cstdint>
#include <mutex>
#include <stop_token>

namespace fovea::precision {

// Time as the pipeline sees it. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual double now() const = 0;                                // seconds since some moment
  virtual void sleep(double seconds, std::stop_token stop) = 0;  // ends early when stopped
};

// The machine's steady clock.
Clock& real_clock();

// A token bucket: in any window of T seconds at most burst_bytes + T · bytes_per_second pass. Thread-safe.
class TrafficLimit {
 public:
  // bytes_per_second 0: no limit. The bucket begins full.
  TrafficLimit(double bytes_per_second, std::int64_t burst_bytes);

  // 0 when `bytes` (at most the burst) may move now, and they are taken; else the seconds after which to ask
  // again. `now` never goes back.
  double take(std::int64_t bytes, double now);

  // Takes `bytes` as soon as they may move. False when stopped first; nothing is taken then.
  bool wait(std::int64_t bytes, Clock& clock, std::stop_token stop);

 private:
  const double bytes_per_second_;
  const double burst_bytes_;
  std::mutex mutex_;
  double level_bytes_;       // guarded by mutex_
  double last_seconds_ = 0;  // guarded by mutex_
  bool started_ = false;     // guarded by mutex_
};

}  // namespace fovea::precision
