// Hands the newest value from one writer thread to one reader thread. Neither ever waits, nothing is
// allocated, and a value that the reader was too slow for is simply replaced.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace fovea {

template <class T>
class TripleBuffer {
 public:
  // All three copies begin as `initial`, so that vectors in it have their sizes from the start.
  explicit TripleBuffer(const T& initial) : values_{Padded{initial}, Padded{initial}, Padded{initial}} {}
  TripleBuffer() : TripleBuffer(T{}) {}
  TripleBuffer(const TripleBuffer&) = delete;
  TripleBuffer& operator=(const TripleBuffer&) = delete;

  // Writer: the value to fill. It holds an older state, whose vectors keep their memory.
  T& back() { return values_[back_].value; }
  // Writer: makes back() the newest value; back() is another one afterwards.
  void publish() { back_ = middle_.exchange(back_ | fresh, std::memory_order_acq_rel) & index_mask; }

  // Reader: takes over the newest value. False when there is none since the last call.
  bool update() {
    if ((middle_.load(std::memory_order_relaxed) & fresh) == 0) return false;
    front_ = middle_.exchange(front_, std::memory_order_acq_rel) & index_mask;
    return true;
  }
  // Reader: what the last successful update() took over.
  const T& front() const { return values_[front_].value; }

 private:
  static constexpr std::uint32_t fresh = 4, index_mask = 3;
  struct alignas(64) Padded {
    T value;
  };

  std::array<Padded, 3> values_;
  alignas(64) std::uint32_t back_ = 0;                // the writer's
  alignas(64) std::uint32_t front_ = 1;               // the reader's
  alignas(64) std::atomic<std::uint32_t> middle_{2};  // in between; `fresh` when the reader has not seen it
};

}  // namespace fovea
