// Decoding as captured graphs: one for each shape that a pass may have, made when the shape is met for the
// second time. The first time it is done piece by piece, since drivers load a kernel when it is first
// started, which a capture does not allow.
//
// A graph holds addresses and numbers as they were. What differs from pass to pass lies behind addresses that
// stay (staging.h), also the experts' handles, so that tiers change under a graph. Everything else is in its
// Shape, or one of the weights that all graphs have inside: where one of those changes, all graphs go.
//
// Where the host has something to do in the middle of a pass (host_experts.h), the pass is cut there into
// sections, a graph each, which are kept together. Two other ways are known, and neither could be measured:
//   - Host nodes within one graph (KTransformers: cudaLaunchHostFunc, two for each layer). They run on a
//     thread of the driver's, which is slow to wake (100 us on an RTX 3080, facebookincubator/velox#6096),
//     may not call the driver, and could not end the pass.
//   - Flags in pinned memory that the device waits for, one launch for all. The fewest calls, but a host that
//     is stopped or fails leaves a device that waits for ever.
// Sections take two launches, a record and a wait for a layer that host and device share, about 2.5 us each,
// where the pieces were about 18 calls; the device finds a layer's ten kernels without a gap, and its own
// experts are queued before the host waits. llama.cpp measured 4 to 10 % more tokens from cutting likewise
// (ggml-org/llama.cpp#18934, RTX 4090 and 5090).
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
  std::int64_t sections = 0;  // of them
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
    bool whole = true;  // neither the work nor the host aside has ended it
  };
  // A graph asks for `stop` where the host has something to do; work() may itself.
  Ran run(const Shape& shape, std::span<const kernels::Weight> inside, kernels::Stream& stream,
          const std::stop_token& stop, const Work& work);

  // For work(): what the host does in the middle of a pass, in its order, and may wait for the stream. It is
  // called again in each pass that a graph does, without work(). False: the pass ends, and work() shall.
  // Outside run() it is only called.
  using Aside = std::function<bool()>;
  bool aside(Aside step);

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
  struct Step {
    std::unique_ptr<kernels::Graph> section;  // null: the host's
    Aside aside;
  };
  struct Known {
    Shape shape;
    std::vector<Step> steps;  // none until the shape is met again
    bool is_batch() const { return shape.parts.size() > 1; }
  };
  void forget_a_batch();
  Ran capture(Known& known, const Work& work);
  bool begin_section();
  bool end_section();
  bool replay(const Known& known, const std::stop_token& stop) const;

  std::vector<Known> known_;
  std::vector<kernels::Weight> inside_;
  kernels::Stream* stream_ = nullptr;
  std::vector<Step>* noted_ = nullptr;  // while a pass is captured
  bool capturing_ = false;              // a section
  bool captures_ = true;                // the device does, as far as is known
  GraphUse use_;
};

}  // namespace fovea::layers
