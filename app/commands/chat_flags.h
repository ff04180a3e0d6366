// What a user may say about a chat, and what becomes of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/commands/flags.h"
#include "app/commands/precision_flags.h"
#include "app/library/sampling_defaults.h"
#include "engine/api/request.h"

namespace fovea::app {

struct ChatFlags {
  std::string model;
  LoadOptions load;
  std::optional<std::string> prompt;
  std::string system;
  bool raw = false;
  bool json = false;
  bool stats = false;
  std::optional<std::uint64_t> seed;
  std::optional<float> temperature, top_p, min_p, repetition_penalty, presence_penalty, frequency_penalty;
  std::optional<float> dry_multiplier, dry_base;
  std::optional<std::int32_t> top_k, penalty_window, dry_allowed_length, dry_window;
  std::int32_t max_tokens = -1;
  std::vector<std::string> stop;
  ContextOverflow overflow = ContextOverflow::fail;
  std::optional<bool> thinking;
  std::string effort;
  std::string schema, grammar;  // files; empty: none
  AnswerForm form;              // that one of them holds
};

// Options for everything in the flags but the prompt.
void add_sampling(CLI::App& command, ChatFlags& flags);

void add_thinking(CLI::App& command, ChatFlags& flags);

void add_form(CLI::App& command, ChatFlags& flags);

// What the flags ask of the answers' form: the file's text, which was checked.
Result<AnswerForm> form_of(const ChatFlags& flags);

// The model's defaults, with what the user said in their place.
SamplingSettings sampling_of(const ChatFlags& flags, const SamplingDefaults& defaults);

// "temperature 0.6, top-k 40, …": what is switched on.
std::string describe(const SamplingSettings& sampling);

// A request without messages or prompt. `turn` moves a given seed on, so that an answer can be asked for
// again.
GenerateRequest request_of(const ChatFlags& flags, const SamplingSettings& sampling, std::uint64_t turn);

// What the user should know about an answer that ended early or lost context; empty for a usual one.
std::string remark(const GenerateResult& result, std::int64_t context);

const char* finish_name(FinishReason finish);

}  // namespace fovea::app
