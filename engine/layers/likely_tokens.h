// The likeliest next tokens, where a device has sorted the logits and keeps the others to itself.
#pragma once

#include <span>

#include "engine/api/text.h"

namespace fovea::layers {

struct LikelyTokens {
  std::span<const TokenId> ids;   // in descending order of their logits (ties: lower id first)
  std::span<const float> logits;  // theirs
  // Of the whole vocabulary: Σ e^((logit − largest) / temperature), and the entropy of softmax(logits) in
  // nats. Worth nothing where a logit is infinite.
  double weight = 0;
  double entropy = 0;
};

}  // namespace fovea::layers
