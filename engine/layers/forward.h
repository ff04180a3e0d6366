// The forward pass: tokens in, logits out, keys and values into the sequence's pages.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>

#include "engine/api/text.h"
#include "engine/models/model.h"
#include "kernels/api/device.h"

namespace fovea::layers {

enum class LogitsWanted : std::uint8_t { none, last, all };

struct Pass {
  std::span<const TokenId> tokens;          // 1 … max_tokens
  std::int64_t first = 0;                   // position of tokens[0]
  std::span<const kernels::KvPages> cache;  // [layers], room for first + tokens.size() positions
  std::int64_t context = 0;                 // of this sequence, for dynamic rotary scaling
  LogitsWanted logits = LogitsWanted::last;
  std::stop_token stop = {};  // asked between layers; a stopped pass leaves its positions undefined
};

class Forward {
 public:
  // Allocates all activations for passes of up to max_tokens; nothing is allocated afterwards.
  static Result<Forward> create(const models::Model&, const kernels::Device&, std::int64_t max_tokens);
  Forward(Forward&&) noexcept;
  Forward& operator=(Forward&&) noexcept;
  ~Forward();

  // Logits [1 or tokens, vocabulary], valid until the next run; empty for none, and when stopped. Ids must
  // be in the vocabulary.
  std::span<const float> run(const Pass&, kernels::Stream&);
  std::int64_t activation_bytes() const;

 private:
  struct Buffers;
  class Runner;
  explicit Forward(std::unique_ptr<Buffers>);
  std::unique_ptr<Buffers> buffers_;
};

}  // namespace fovea::layers
