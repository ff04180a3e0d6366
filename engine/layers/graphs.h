// Decoding as captured graphs: one for each shape that a pass may have, made when the shape is met for the
// second time. The first time it is done piece by piece, since drivers load a kernel when it is first
// started, which a capture does not allow.
//
// A graph holds addresses and numbers as they were. What differs from pass to pass lies behind addresses that
// stay (staging.h), also the experts' handles, so that tiers change under a graph. Everything else is in its
// Shape, or one of the weights that all graphs have inside: where one of those changes, all graphs go.
//
// Where the host has something to do in the middle of a pass (host_experts.h), the device asks it through
// memory that both reach, and waits a second at most: one launch for all, and a layer that needs nothing of
// the host has no way there and back. Two other ways are known:
//   - Host nodes within one graph (KTransformers: cudaLaunchHostFunc, two for each layer). They run on a
//     thread of the driver's, which is slow to wake (100 us on an RTX 3080, facebookincubator/velox#6096),
//     may not call the driver, and could not end the pass.
//   - Cutting the pass into a graph for each part: two launches, a record and a wait for each layer that host
//     and device share, whether it needs the host or not. 0.1 ms on an H100 (docs/first_card.md).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "kernels/api/operations.h"

namespace fovea::layers {

struct GraphUse {
  std::int64_t captured = 0;  // shapes
  std::int64_t launched = 0;  // passes
};

class Graphs {
 public:
  struct Shape {
    struct Part {                        // a sequence, of which it computes one token
      std::int64_t max_first = 0;        // the token's position is at most this
      const std::byte* state = nullptr;  // null: it has none
      bool operator==(const Part&) const = default;
    };
    std::vector<Part> parts;
    std::int64_t page_tokens = 0;
    kernels::Type cache_type = kernels::Type::f32;
    bool observed = false;  // the router's choices are read back
    bool top_k = false;     // the largest logits are read back too
    bool operator==(const Shape&) const = default;
  };
  // How far the positions of a graph reach: so few shapes serve any context, and each divides its work well.
  static std::int64_t max_first(std::int64_t first, std::int64_t page_tokens);

  // work() gives a pass to the stream, waits for nothing, and does the same whenever the shape and `inside`,
  // the weights that it names itself, are the same. False: it has ended early. It may be called twice for a
  // pass, the second time from the beginning.
  using Work = std::function<bool()>;
  struct Ran {
    bool by_graph = false;
    bool whole = true;  // neither the work nor the host beside it has ended it
  };
  // The host beside a graph asks for `stop`; work() may itself.
  Ran run(const Shape& shape, std::span<const kernels::Weight> inside, kernels::Stream& stream,
          const std::stop_token& stop, const Work& work);

  // For work(): what the host does beside the pass when it has been given to the stream, in its order. The
  // device may wait for it. It is called again in each pass that a graph does, without work(). False: the
  // pass ends, and work() shall. `wanted` false: it has ended, and only what the device waits for is to be
  // done. By pieces, and outside run(), it is called at once.
  using Beside = std::function<bool(bool wanted)>;
  bool beside(Beside step);

  // False: everything is done by pieces, as by a device that captures nothing.
  void use(bool graphs) { captures_ = graphs; }

  // When the same shapes and weights mean other work than before.
  void forget() { known_.clear(); }

  GraphUse use() const { return use_; }

  // What drivers may take of the device's memory for the graphs of a context and of so many sequences, which
  // they do not tell. The only figures found are of driver 470: 362, 395 and 458 MB for 500, 1,000 and 2,000
  // kernels (forums.developer.nvidia.com/t/244901), 64 KiB each.
  static std::int64_t driver_bytes(std::int64_t layers, std::int64_t context, std::int64_t page_tokens,
                                   std::int64_t sequences);

 private:
  struct Known {
    Shape shape;
    std::unique_ptr<kernels::Graph> graph = {};  // null until the shape is met again
    std::vector<Beside> beside = {};
    bool is_batch() const { return shape.parts.size() > 1; }
  };
  void forget_a_batch();
  Ran capture(Known& known, const std::stop_token& stop, const Work& work);
  bool launch(const Known& known, const std::stop_token& stop) const;

  std::vector<Known> known_;
  std::vector<kernels::Weight> inside_;
  kernels::Stream* stream_ = nullptr;
  std::vector<Beside>* noted_ = nullptr;  // while a pass is captured
  bool captures_ = true;                  // the device does, as far as is known
  GraphUse use_;
};

}  // namespace fovea::layers
