#include "app/commands/chat_flags.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <spdlog/fmt/fmt.h>

#include "app/files/files.h"
#include "engine/api/errors.h"
#include "engine/api/form.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

// The engine takes 0 for "choose one"; a user who writes 0 wants the same answer again.
constexpr std::uint64_t seed_for_zero = 0x9E3779B97F4A7C15;

// The parser would take -1 for the largest number.
std::string check_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error == std::errc() && end == text.data() + text.size()) return {};
  return text + " is not a whole number from 0 to 18446744073709551615";
}

}  // namespace

void add_sampling(CLI::App& command, ChatFlags& flags) {
  const auto group = [&](CLI::Option* option) { return option->group("Sampling"); };
  group(command.add_option("--seed", flags.seed,
                           "The same seed and threads give the same answer, where experts move only with "
                           "--publish-after (default: a new one)"))
      ->check(CLI::Validator([](std::string& text) { return check_seed(text); }, ""));
  group(command.add_option("--temp", flags.temperature, "Temperature; 0 always takes the most likely token"))
      ->check(number_between(0, 100));
  group(command.add_option("--top-k", flags.top_k, "Only the k most likely tokens; 0: all"))
      ->check(number_between(0, 1 << 30));
  group(command.add_option("--top-p", flags.top_p,
                           "Only the most likely tokens that together have this probability"))
      ->check(number_between(1e-6, 1));
  group(command.add_option("--min-p", flags.min_p,
                           "Only tokens at least this likely, relative to the most likely"))
      ->check(number_between(0, 1));
  group(command.add_option("--repeat-penalty", flags.repetition_penalty,
                           "Divides what was said before; 1: off"))
      ->check(number_between(0.01, 100));
  group(command.add_option("--presence-penalty", flags.presence_penalty,
                           "Subtracted from a token that occurred; 0: off"))
      ->check(number_between(-100, 100));
  group(command.add_option("--frequency-penalty", flags.frequency_penalty,
                           "Subtracted for each time it occurred; 0: off"))
      ->check(number_between(-100, 100));
  group(command.add_option("--penalty-window", flags.penalty_window,
                           "Tokens that the penalties look back at; -1: all"))
      ->check(number_between(-1, 1 << 30));
  group(command.add_option(
            "--dry-multiplier", flags.dry_multiplier,
            "DRY: how much is subtracted from a token that would go on repeating a passage; 0: off"))
      ->check(number_between(0, 100));
  group(
      command.add_option("--dry-base", flags.dry_base, "DRY: times this for each token of a longer passage"))
      ->check(number_between(1, 100));
  group(command.add_option("--dry-allowed-length", flags.dry_allowed_length,
                           "DRY: tokens of the shortest passage that may not go on"))
      ->check(number_between(1, 1 << 30));
  group(command.add_option("--dry-penalty-last-n", flags.dry_window,
                           "Tokens in which DRY looks for passages; -1: all"))
      ->check(number_between(-1, 1 << 30));
  group(command.add_option("--max-tokens", flags.max_tokens,
                           "Tokens of an answer (default: until the model stops)"))
      ->check(number_between(1, 1 << 30));
  group(command.add_option("--stop", flags.stop, "A text that ends the answer (may be repeated)"))
      ->allow_extra_args(false);
  take_one_of(
      group(command.add_option("--on-full", flags.overflow,
                               "When the context is full: fail, or drop the oldest turns (default: fail)")),
      {{"fail", int(ContextOverflow::fail)}, {"drop", int(ContextOverflow::drop_oldest_turns)}});
}

void add_thinking(CLI::App& command, ChatFlags& flags) {
  command
      .add_option_function<std::string>(
          "--thinking", [&flags](const std::string& word) { flags.thinking = word == "on"; },
          "Whether the model thinks before it answers: on or off, where its template can switch that")
      ->check(CLI::IsMember({"on", "off"}))
      ->option_text("on|off");
  command
      .add_option("--effort", flags.effort,
                  "How hard it thinks: low, medium or high, where its template has that")
      ->check(CLI::IsMember({"low", "medium", "high"}))
      ->option_text("low|medium|high");
}

void add_form(CLI::App& command, ChatFlags& flags) {
  CLI::Option* const schema =
      command.add_option("--schema", flags.schema, "Answers are JSON that is valid under the schema in FILE")
          ->option_text("FILE");
  command
      .add_option("--grammar", flags.grammar, "Answers are what the grammar in FILE allows (GBNF, *.gbnf)")
      ->option_text("FILE")
      ->excludes(schema);
}

Result<AnswerForm> form_of(const ChatFlags& flags) {
  if (flags.schema.empty() && flags.grammar.empty()) return AnswerForm();
  constexpr std::int64_t limit_bytes = 1 << 20;
  const std::string& file = flags.schema.empty() ? flags.grammar : flags.schema;
  AnswerForm form{.kind = flags.schema.empty() ? AnswerForm::Kind::gbnf : AnswerForm::Kind::json_schema};
  FOVEA_TRY(form.text, read_file(file, limit_bytes));
  FOVEA_CHECK(check_form(form, phrases::file_place(file)));
  return form;
}

SamplingSettings sampling_of(const ChatFlags& flags, const SamplingDefaults& defaults) {
  SamplingSettings s = defaults.sampling;
  s.temperature = flags.temperature.value_or(s.temperature);
  s.top_k = flags.top_k.value_or(s.top_k);
  s.top_p = flags.top_p.value_or(s.top_p);
  s.min_p = flags.min_p.value_or(s.min_p);
  s.repetition_penalty = flags.repetition_penalty.value_or(s.repetition_penalty);
  s.presence_penalty = flags.presence_penalty.value_or(s.presence_penalty);
  s.frequency_penalty = flags.frequency_penalty.value_or(s.frequency_penalty);
  s.penalty_window = flags.penalty_window.value_or(s.penalty_window);
  s.dry_multiplier = flags.dry_multiplier.value_or(s.dry_multiplier);
  s.dry_base = flags.dry_base.value_or(s.dry_base);
  s.dry_allowed_length = flags.dry_allowed_length.value_or(s.dry_allowed_length);
  s.dry_window = flags.dry_window.value_or(s.dry_window);
  return s;
}

std::string describe(const SamplingSettings& s) {
  std::string text = s.temperature == 0 ? "greedy" : fmt::format("temperature {:g}", s.temperature);
  if (s.temperature != 0 && s.top_k != 0) text += fmt::format(", top-k {}", s.top_k);
  if (s.temperature != 0 && s.top_p < 1) text += fmt::format(", top-p {:g}", s.top_p);
  if (s.temperature != 0 && s.min_p > 0) text += fmt::format(", min-p {:g}", s.min_p);
  if (s.repetition_penalty != 1) text += fmt::format(", repetition penalty {:g}", s.repetition_penalty);
  if (s.presence_penalty != 0) text += fmt::format(", presence penalty {:g}", s.presence_penalty);
  if (s.frequency_penalty != 0) text += fmt::format(", frequency penalty {:g}", s.frequency_penalty);
  if (s.dry_multiplier != 0) text += fmt::format(", DRY {:g}", s.dry_multiplier);
  return text;
}

GenerateRequest request_of(const ChatFlags& flags, const SamplingSettings& sampling, std::uint64_t turn) {
  GenerateRequest request;
  request.sampling = sampling;
  if (flags.seed) {
    const std::uint64_t seed = *flags.seed + turn;
    request.sampling.seed = seed == 0 ? seed_for_zero : seed;
  }
  request.max_tokens = flags.max_tokens;
  request.stop = flags.stop;
  request.overflow = flags.overflow;
  request.thinking = flags.thinking;
  request.effort = flags.effort;
  request.form = flags.form;
  return request;
}

std::string remark(const GenerateResult& result, std::int64_t context) {
  std::string text;
  if (result.dropped_messages > 0) {
    text = fmt::format("the {} oldest messages no longer fit the context of {} tokens and were left out",
                       result.dropped_messages, context);
  }
  if (result.finish == FinishReason::context_full) {
    text += fmt::format(
        "{}the answer ends here because the context of {} tokens is full. Use --context or --on-full drop",
        text.empty() ? "" : "; ", context);
  }
  return text;
}

const char* finish_name(FinishReason finish) {
  switch (finish) {
    case FinishReason::stop_token:
      return "stop_token";
    case FinishReason::stop_string:
      return "stop_string";
    case FinishReason::max_tokens:
      return "max_tokens";
    case FinishReason::context_full:
      return "context_full";
    case FinishReason::cancelled:
      return "cancelled";
  }
  return "";
}

}  // namespace fovea::app
