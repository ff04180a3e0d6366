// Engines on the self test's models.
#pragma once

#include <span>
#include <stop_token>
#include <vector>

#include "engine/api/engine.h"
#include "engine/selftest/golden_models.h"
#include "engine/selftest/selftest.h"

namespace fovea::selftest {

// Puts the model's file into the folder. ErrorKind::io.
Result<LoadOptions> request_for(const GoldenModel& model, const Bench& bench);
// [tokens, vocabulary]
Result<std::vector<float>> all_logits(Engine& engine, std::span<const TokenId> tokens,
                                      const std::stop_token& stop);

// Where they are off from the model's by more than is allowed; empty: nowhere.
Phrase wrong_logit(std::span<const float> logits, const GoldenModel& model);
// Tokens of which one is.
std::int64_t wrong_rows(std::span<const float> logits, const GoldenModel& model);

}  // namespace fovea::selftest
