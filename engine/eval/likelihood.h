// Log-probabilities of tokens from logits, in nats.
#pragma once

#include <span>

#include "engine/api/text.h"

namespace fovea::eval {

// ln Σ exp(logits)
double log_sum(std::span<const float> logits);

// ln softmax(logits)[token]
double log_likelihood(std::span<const float> logits, TokenId token);

// Whether no other token is likelier.
bool is_greedy(std::span<const float> logits, TokenId token);

}  // namespace fovea::eval
