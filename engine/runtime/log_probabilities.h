// What a model thought of a token.
#pragma once

#include <cstdint>
#include <span>

#include "engine/api/request.h"
#include "engine/api/token_record.h"
#include "engine/layers/staging.h"
#include "engine/runtime/unit_watch.h"

namespace fovea::runtime {

inline constexpr std::int32_t max_likeliest = 20;

// ln softmax(logits [vocabulary]) of the token, and of the `likeliest` ones (ties: lower id first).
TokenChoice token_choice(std::span<const float> logits, TokenId token, std::int32_t likeliest);

// The same of TokenRecord::most_likely, with what the pass used. Of the logits [vocabulary], or of the
// largest, which the token is among.
TokenRecord token_record(std::span<const float> logits, TokenId token, const TokenUses& uses);
TokenRecord token_record(const layers::TopKLogits& largest, TokenId token, const TokenUses& uses);

}  // namespace fovea::runtime
