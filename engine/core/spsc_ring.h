// A bounded queue between exactly one producer thread and one consumer thread. Neither ever waits.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace fovea {

template <class T>
class SpscRing {
 public:
  // Room for at least `capacity` values; the memory is taken here and never again.
  explicit SpscRing(std::size_t capacity) : values_(std::bit_ceil(capacity)), mask_(values_.size() - 1) {}
  SpscRing(const SpscRing&) = delete;
  SpscRing& operator=(const SpscRing&) = delete;

  std::size_t capacity() const { return values_.size(); }

  // Producer. False when the ring is full; the value is then untouched.
  bool push(T&& value) {
    const std::size_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - head_seen_ == values_.size()) {
      head_seen_ = head_.load(std::memory_order_acquire);
      if (tail - head_seen_ == values_.size()) return false;
    }
    values_[tail & mask_] = std::move(value);
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }
  bool push(const T& value) {
    T copy = value;
    return push(std::move(copy));
  }

  // Consumer. Empty when the ring is.
  std::optional<T> pop() {
    const std::size_t head = head_.load(std::memory_order_relaxed);
    if (head == tail_seen_) {
      tail_seen_ = tail_.load(std::memory_order_acquire);
      if (head == tail_seen_) return std::nullopt;
    }
    std::optional<T> value(std::move(values_[head & mask_]));
    head_.store(head + 1, std::memory_order_release);
    return value;
  }

  // Any thread; a moment's view.
  std::size_t size() const {
    const std::size_t head = head_.load(std::memory_order_acquire);
    return tail_.load(std::memory_order_acquire) - head;
  }

 private:
  static constexpr std::size_t cache_line = 64;

  std::vector<T> values_;
  std::size_t mask_;
  // Counts that never wrap in practice. Each side keeps its last look at the other's, so that it touches the
  // other's cache line only when that look is used up.
  alignas(cache_line) std::atomic<std::size_t> head_{0};  // written by the consumer
  std::size_t tail_seen_ = 0;                             // the consumer's
  alignas(cache_line) std::atomic<std::size_t> tail_{0};  // written by the producer
  std::size_t head_seen_ = 0;                             // the producer's
};

}  // namespace fovea
