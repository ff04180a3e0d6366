// What is kept of one token of an answer, for somebody who looks inside: what the model thought of it, and
// the experts of the pass that chose it. A token's pass is the one whose logits it was drawn from: the pass
// that read the token before it.
//
// 96 bytes a token and 4 for each use of an expert: 1.6 kB where 48 layers use 8 each.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/api/text.h"

namespace fovea {

// An expert that a token used.
struct TokenUse {
  std::uint16_t expert = 0;  // in its layer
  std::uint8_t tier = 0;     // that the pass met it at: as in Snapshot::tiers, or host_tier
  std::uint8_t share = 0;    // of the gate weights of the token in this layer, in 255ths
  bool operator==(const TokenUse&) const = default;
};

struct TokenRecord {
  static constexpr std::size_t most_likely = 5;
  struct Likely {
    TokenId token = -1;  // −1: there is none
    float logprob = 0;   // in nats
    bool operator==(const Likely&) const = default;
  };

  TokenId token = 0;
  float logprob = 0;  // as the model has it before the sampling settings, in nats
  float entropy = 0;  // of the model's output, in nats
  std::array<Likely, most_likely> likeliest = {};  // from likely to less likely
  std::int64_t text_end = 0;                       // as TokenChoice has it
  std::int64_t pass_end = 0;                       // tokens of all passes until its own: Snapshot::tokens
  std::vector<TokenUse> uses = {};  // [layers of a snapshot, used]; empty: its units are no experts

  bool operator==(const TokenRecord&) const = default;
};

// Called as a TextSink is, behind the text of these tokens.
using RecordSink = std::function<void(std::span<const TokenRecord>)>;

}  // namespace fovea
