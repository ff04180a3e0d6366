// One question answered twice with one seed: by experts that follow the conversation, and by a fixed mix of
// as many at each precision; and how far each answer is from what the full model would have written.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "app/advisor/comparison.h"
#include "engine/api/engine.h"

namespace fovea::app {

struct BesideRequest {
  LoadOptions adaptive = {}, fixed = {};
  // Every weight as the file has it; nothing: there is no room for that.
  std::optional<LoadOptions> full = {};
  double full_pass_seconds = 0;  // that each of its passes reads the disk for
  // Its messages, sampling and limit; a seed of 0 becomes one that both share.
  GenerateRequest question = {};
};

struct BesideAnswer {
  std::string text = {};
  std::int64_t tokens = 0;
  double tokens_per_second = 0;
  double bits_per_use = 0;                  // see GenerateResult
  std::optional<double> quality_kept = {};  // …
  // Of its own tokens, mean nats: by how much the full model gives them a smaller probability than the model
  // that wrote them did. For tokens drawn at temperature 1 its expectation is the Kullback-Leibler divergence
  // from the full model.
  std::optional<double> divergence = {};
};

struct BesideResult {
  BesideAnswer adaptive, fixed;
  std::uint64_t seed = 0;
  bool left_out = false;              // the full model: it was stopped while that read …
  std::optional<Error> trouble = {};  // … or this went wrong
};

struct BesideProgress {
  enum class Part : std::uint8_t { opens, writes, judges };
  Part part = Part::opens;
  int setting = 0;  // 0: adaptive, 1: fixed, 2: the full model
  Progress opening = {};
  std::string_view text = {};  // of the answer, that came now
  // Or the tokens that it is of, with their ends in the answer's bytes; valid during the call.
  std::span<const TokenRecord> tokens = {};
  double seconds_left = 0;  // of judging: as long as opening took before, and what is read; 0: not known
};

// ErrorKind::cancelled when stopped before both have answered, and errors of loading and answering. What goes
// wrong later leaves out the full model, and the answers stay.
Result<BesideResult> answer_beside(const BesideRequest& request, const ComparisonLoader& load,
                                   const std::function<void(const BesideProgress&)>& tell = {},
                                   std::stop_token stop = {});

}  // namespace fovea::app
