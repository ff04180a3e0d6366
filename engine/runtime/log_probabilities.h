// What a model thought of a token.
#pragma once

#include <cstdint>
#include <span>

#include "engine/api/request.h"

namespace fovea::runtime {

inline constexpr std::int32_t max_likeliest = 20;

// ln softmax(logits [vocabulary]) of the token, and of the `likeliest` ones (ties: lower id first).
TokenChoice token_choice(std::span<const float> logits, TokenId token, std::int32_t likeliest);

}  // namespace fovea::runtime
