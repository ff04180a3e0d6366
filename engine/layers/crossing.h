// What a pass moves between the host and a device whose memory is out of the host's reach: tokens, positions,
// lists of pages and experts' handles go there; the router's choices and the logits come back, or in their
// place the likeliest tokens.
//
// Everything on the device lies at addresses that stay. Host memory is pinned and is written again by the
// next pass, so a pass must have ended before the next one begins.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/api/text.h"
#include "engine/core/result.h"
#include "engine/layers/likely_tokens.h"
#include "engine/models/model.h"
#include "kernels/api/device.h"

namespace fovea::layers {

class Crossing {
 public:
  // For passes of up to max_tokens in sequences of up to max_pages. ErrorKind::memory.
  static Result<std::unique_ptr<Crossing>> create(const models::Model& model, const kernels::Device& device,
                                                  std::int64_t max_tokens, std::int64_t max_pages);
  ~Crossing();
  Crossing(const Crossing&) = delete;
  Crossing& operator=(const Crossing&) = delete;

  // What it takes, pinned on the host; also before there are weights.
  struct Bytes {
    std::int64_t device = 0, host = 0;
  };
  static Bytes bytes(const models::ModelConfig& config, std::int64_t max_tokens, std::int64_t max_pages);
  Bytes bytes() const { return bytes_; }

  // --- to the device, in the stream's order; what is returned is the device's ---
  struct Rows {
    const std::int32_t* tokens = nullptr;     // [tokens]
    const std::int32_t* positions = nullptr;  // [tokens]
  };
  // `chosen` [layers, tokens, experts_used], or null: on the host, what computes in place of the routers'
  // choices.
  Rows begin(std::span<const TokenId> tokens, std::int64_t first, const std::int32_t* chosen,
             kernels::Stream& stream);
  void inverse_frequency(std::span<const float> values, float* target, kernels::Stream& stream);
  // [layers]: the same pages, in lists on the device; the first `used` of each are looked at.
  std::span<const kernels::KvPages> pages(std::span<const kernels::KvPages> cache, std::int64_t used,
                                          kernels::Stream& stream);
  // The layer's handles as they are now.
  const kernels::Expert* experts(std::int64_t layer, kernels::Stream& stream);

  // One over the temperature.
  void sharpness(float value, kernels::Stream& stream);

  // --- back: what is read may be looked at when the stream has been synchronised ---
  // What a layer's router gives for the last `tokens` of the pass, all of them but in the last layer: ids and
  // gate weights [tokens, experts_used]. All layers' lie behind each other, so that one copy reads any of
  // them.
  struct Routed {
    std::int32_t* ids = nullptr;
    float* weights = nullptr;
  };
  Routed routed(std::int64_t layer, std::int64_t tokens) const;  // on the device, for the router to write
  // Of all layers from `first` to `last`, which has so many tokens.
  void read_choices(std::int64_t first, std::int64_t last, std::int64_t tokens, kernels::Stream& stream);
  struct Choices {
    const std::int32_t* ids = nullptr;
    const float* weights = nullptr;
  };
  Choices choices(std::int64_t layer, std::int64_t tokens) const;  // what was read
  // Waits for the stream. Valid until the next call.
  std::span<const float> read(const float* values, std::int64_t count, kernels::Stream& stream);
  // Logits [count, vocabulary] on the device as rows [first, first + count) of a pass that gives `rows` of
  // them, or of which one is wanted.
  void read_logits(const float* logits, std::int64_t first, std::int64_t count, std::int64_t rows,
                   kernels::Stream& stream);
  std::span<const float> logits(std::int64_t rows) const;  // what was read, [rows, vocabulary]
  // What lists the likeliest tokens by their logits [vocabulary], on the device; to be read behind it.
  kernels::Shortlist shortlist(const float* logits) const;
  void read_shortlist(kernels::Stream& stream);
  LikelyTokens likely() const;

 private:
  Crossing(const models::Model& model, const kernels::Device& device, std::int64_t max_tokens,
           std::int64_t max_pages);
  bool allocate();

  struct Sizes {
    const models::ModelConfig& config;
    std::int64_t max_tokens, max_pages;
  };
  Sizes sizes() const { return {model_.config(), max_tokens_, max_pages_}; }
  Routed routed(std::int32_t* choices, std::int64_t layer, std::int64_t tokens) const;

  // The arrays of both sides, each in one piece of memory.
  struct Sent {                          // what goes to the device, and its copy there
    std::int32_t* rows = nullptr;        // [2 · max_tokens]: a pass's tokens, then its positions
    std::byte** pages = nullptr;         // [layers, 2, max_pages]: keys, then values
    kernels::Expert* experts = nullptr;  // [layers, experts]
    float* inverse_frequency = nullptr;  // [rotary / 2], on the host alone
    float* sharpness = nullptr;          // [1]
    template <class F>
    void each(const Sizes& sizes, F&& f);
  };
  struct List {  // on the device, and its copy; without gaps, so that one copy reads it all
    std::int64_t listed = 0;
    std::int32_t* ids = nullptr;                                              // [listed], then
    float* logits() const { return reinterpret_cast<float*>(ids + listed); }  // [listed]
    float* sums() const { return logits() + listed; }                         // [3]
    std::int64_t words() const { return 2 * listed + 3; }
  };

  const models::Model& model_;
  const kernels::Device& device_;
  std::int64_t max_tokens_, max_pages_;
  std::byte* on_device_ = nullptr;
  std::byte* on_host_ = nullptr;
  Bytes bytes_;
  Sent device_side_, host_side_;
  List device_list_, host_list_;
  // [layers with experts, 2, the pass's tokens, experts_used]: ids, then weights.
  std::int32_t *device_choices_ = nullptr, *host_choices_ = nullptr;
  float* logits_ = nullptr;               // [vocabulary], on the host alone
  std::vector<kernels::KvPages> pages_;   // [layers], their lists on the device
  std::vector<std::uint64_t> revisions_;  // [layers] of the handles that are on the device
  std::int64_t pass_tokens_ = 0;
  const std::int32_t* chosen_ = nullptr;  // begin()'s
  std::vector<float> values_;             // of read()
  std::vector<float> all_logits_;         // of a pass that gives more than one row
};

}  // namespace fovea::layers
