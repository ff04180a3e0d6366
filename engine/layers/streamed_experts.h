// Prompts' way with experts that lie in main memory: a few of them at a time come to the device, which
// computes them for all the pass's tokens. What crosses is an expert's weights, once for a pass, instead of
// each token's activations; from some number of tokens on that takes less time than the processor needs.
//
// Copies go ahead on a stream of their own, into buffers in turn, also of the next layer's experts while the
// device is at this one's attention. They bring bytes as the processor has packed them; the device unpacks
// them (kernels/api/operations.h: Repack). All experts of a layer come, whoever chose them: 512 tokens choose
// nearly all, and to know which ones the host would have to wait for each layer's router.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/core/result.h"
#include "engine/layers/layout.h"
#include "engine/models/host_weights.h"
#include "kernels/api/device.h"

namespace fovea::layers {

struct StreamSettings {
  static constexpr std::int64_t never = -1, measured = 0;
  std::int64_t from_tokens = never;                  // of a pass; or one of these
  std::int64_t part_bytes = std::int64_t{32} << 20;  // that come at once: 1.3 ms over 25 GB/s

  bool operator==(const StreamSettings&) const = default;
};

// From how many tokens on bringing all of `bytes` takes less time than the processor needs, which computes so
// many of the experts that a token chooses and takes `expert_seconds` for each: T · uses · seconds = bytes /
// link. Rounded up to a power of two, so that it is seldom another one with the next start, and 16 at least.
std::int64_t tokens_that_pay(double bytes, double link_bytes_per_second, double uses_per_token,
                             double expert_seconds);

class StreamedExperts {
 public:
  // For passes of up to max_tokens. Pins the weights, which must outlive it. ErrorKind::memory.
  static Result<std::unique_ptr<StreamedExperts>> create(const models::ModelConfig& config,
                                                         const kernels::Device& device,
                                                         const models::HostWeights& weights,
                                                         std::int64_t max_tokens, std::int64_t part_bytes);
  ~StreamedExperts();
  StreamedExperts(const StreamedExperts&) = delete;
  StreamedExperts& operator=(const StreamedExperts&) = delete;

  // What it takes, pinned on the host. `largest`: bytes of an expert in main memory.
  struct Bytes {
    std::int64_t device = 0, host = 0;
  };
  static Bytes bytes(const models::ModelConfig& config, std::int64_t max_tokens, std::int64_t largest,
                     std::int64_t part_bytes);
  Bytes bytes() const { return bytes_; }

  // Whether the processor has experts of the layer now, all of which can come.
  bool has(std::int64_t layer) const { return !parts_of(layer).empty(); }
  double all_bytes() const;  // that a pass brings, of all layers
  // Bytes a second that come, measured by a copy.
  double measure_link();

  void begin_pass();
  // Adds to block.out what the layer's experts here give for block's tokens; `alone`: writes it. Of `block`
  // it reads x, the choices and the sizes. False: the device has failed.
  bool feed_forward(std::int64_t layer, const kernels::FeedForward& block, bool alone,
                    kernels::Stream& stream);

 private:
  static constexpr int buffer_count = 3;
  // Experts that come together and lie behind each other then.
  struct Part {
    struct Place {
      std::int32_t expert = 0;
      std::int64_t offset = 0;  // in the part
    };
    std::int64_t layer = 0;
    std::int64_t bytes = 0;
    std::vector<Place> places;
  };
  struct Buffer {
    std::byte* memory = nullptr;
    kernels::Expert* table = nullptr;      // [experts], pinned
    std::unique_ptr<kernels::Event> here;  // the part has come
    std::unique_ptr<kernels::Event> free;  // the device has unpacked it, and has the table
  };
  struct Memory {
    std::byte* parts[buffer_count] = {};
    std::byte* unpacked = nullptr;
    kernels::Expert* table = nullptr;  // [experts]
    float* out = nullptr;              // [max_tokens, d]
    void each(const models::ModelConfig& config, std::int64_t max_tokens, std::int64_t part_bytes,
              Layout& layout);
  };

  StreamedExperts(const models::ModelConfig& config, const kernels::Device& device,
                  const models::HostWeights& weights, std::int64_t max_tokens, std::int64_t part_bytes);
  void divide();
  bool allocate();
  std::span<const Part> parts_of(std::int64_t layer) const;
  std::span<const std::byte> region(const Part& part, const Part::Place& place) const {
    return weights_.layer(part.layer).regions[static_cast<std::size_t>(place.expert)];
  }
  bool bring(std::int64_t part, kernels::Stream& stream);
  void copy(const Part& part, std::byte* memory);
  void unpack(const Part& part, Buffer& buffer, kernels::Stream& stream);
  void unpack_run(const Part& part, std::size_t first, std::size_t count, const std::byte* source,
                  kernels::Stream& stream);
  void compute(const Buffer& buffer, const kernels::FeedForward& block, bool alone, kernels::Stream& stream);

  const models::ModelConfig& config_;
  const kernels::Device& device_;
  const models::HostWeights& weights_;
  const std::int64_t max_tokens_, part_bytes_;
  std::vector<Part> parts_;
  std::vector<std::size_t> first_part_;  // [layers + 1]
  std::unique_ptr<kernels::Stream> link_;
  Buffer buffers_[buffer_count];
  Memory memory_;
  std::byte* on_device_ = nullptr;
  std::byte* on_host_ = nullptr;
  Bytes bytes_;
  std::int64_t brought_ = 0;            // parts, of this pass
  std::uint64_t divided_revision_ = 0;  // of the weights
};

}  // namespace fovea::layers
