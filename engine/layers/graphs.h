// Decoding as captured graphs: one for each shape that a pass may have, made when the shape is met for the
// second time. The first time it is done piece by piece, since drivers load a kernel when it is first
// started, which a capture does not allow.
//
// A graph holds addresses and numbers as they were. What differs from pass to pass lies behind addresses that
// stay (crossing.h), also the experts' handles, so that tiers change under a graph. Everything else is in its
// Shape, or one of the weights that all graphs have inside: where one of those changes, all graphs go.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "kernels/api/operations.h"

namespace fovea::layers {

struct GraphUse {
  std::int64_t captured = 0;
  std::int64_t launched = 0;
};

class Graphs {
 public:
  struct Shape {
    std::int64_t tokens = 0;
    std::int64_t most_first = 0;  // the first token's position is at most this
    std::int64_t page_tokens = 0;
    kernels::Type cache_type = kernels::Type::f32;
    float magnitude = 1;    // of the rotary embedding
    bool observed = false;  // the router's choices are read back
    bool lists = false;     // the likeliest tokens too
    bool operator==(const Shape&) const = default;
  };
  // How far the positions of a graph reach: so few shapes serve any context, and each divides its work well.
  static std::int64_t most_first(std::int64_t first, std::int64_t page_tokens);

  // work() gives a pass to the stream, waits for nothing, and does the same whenever the shape and `inside`,
  // the weights that it names itself, are the same. True: a graph did it.
  using Work = std::function<void()>;
  bool run(const Shape& shape, std::span<const kernels::Weight> inside, kernels::Stream& stream,
           const Work& work);

  // When the same shapes and weights mean other work than before.
  void forget() { known_.clear(); }

  GraphUse use() const { return use_; }

  // What drivers may take of the device's memory for the graphs of a context, which they do not tell. The
  // only figures found are of driver 470: 362, 395 and 458 MB for 500, 1,000 and 2,000 kernels
  // (forums.developer.nvidia.com/t/244901), 64 KiB each.
  static std::int64_t driver_bytes(std::int64_t layers, std::int64_t context, std::int64_t page_tokens);

 private:
  struct Known {
    Shape shape;
    std::unique_ptr<kernels::Graph> graph;  // null until the shape is met again
  };
  bool capture(Known& known, kernels::Stream& stream, const Work& work);

  std::vector<Known> known_;
  std::vector<kernels::Weight> inside_;
  const kernels::Stream* stream_ = nullptr;
  bool captures_ = true;  // the device does, as far as is known
  GraphUse use_;
};

}  // namespace fovea::layers
