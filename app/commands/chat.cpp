// fovea chat MODEL: a conversation, or one question and its answer.
#include "app/commands/chat.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include "app/commands/chat_session.h"
#include "app/commands/errors.h"
#include "app/commands/loading.h"
#include "app/commands/precision_use.h"
#include "app/commands/text_input.h"
#include "app/commands/watched_chat.h"
#include "app/files/files.h"
#include "app/terminal/live_view.h"
#include "app/terminal/screen.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t prompt_limit_bytes = 64 << 20;

// Models are trained on text; what is none is refused where it came from.
Result<void> check_text(const std::string& text, const Phrase& where) {
  const std::size_t at = invalid_utf8(text);
  if (at == std::string::npos) return {};
  return fail(phrases::byte_of_input(where, at), errors::text_not_utf8());
}

Result<std::string> read_prompt(const ChatFlags& flags) {
  if (flags.prompt) return *flags.prompt;
  FOVEA_TRY(std::string text, read_standard_input(prompt_limit_bytes));
  FOVEA_CHECK(check_text(text, place_of("-")));
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  if (!text.empty()) return text;
  return fail(place_of("-"), errors::no_prompt_given());
}

// The shortest decimal number that is this float: 0.6, not 0.60000002384.
double decimal(float value) {
  return std::stod(fmt::format("{}", value));
}

nlohmann::ordered_json as_json(const SamplingSettings& sampling) {
  return {{"temperature", decimal(sampling.temperature)},
          {"top_k", sampling.top_k},
          {"top_p", decimal(sampling.top_p)},
          {"min_p", decimal(sampling.min_p)},
          {"repeat_penalty", decimal(sampling.repetition_penalty)},
          {"presence_penalty", decimal(sampling.presence_penalty)},
          {"frequency_penalty", decimal(sampling.frequency_penalty)},
          {"penalty_window", sampling.penalty_window},
          {"dry_multiplier", decimal(sampling.dry_multiplier)},
          {"dry_base", decimal(sampling.dry_base)},
          {"dry_allowed_length", sampling.dry_allowed_length},
          {"dry_penalty_last_n", sampling.dry_window}};
}

nlohmann::ordered_json as_json(const GenerateResult& result, const ChatFlags& flags,
                               const LoadedEngine& loaded, const SamplingSettings& sampling,
                               double first_text_seconds) {
  const Timings& times = result.timings;
  const double prompt_computed = static_cast<double>(times.prompt_tokens - times.reused_tokens);
  nlohmann::ordered_json object = {
      {"text", result.text},
      {"tokens", times.generated_tokens},
      {"tok_per_s", times.tokens_per_second()},
      {"finish", finish_name(result.finish)},
      {"seed", flags.seed ? *flags.seed : result.seed},
      {"prompt_tokens", times.prompt_tokens},
      {"prefill_tok_per_s", times.prefill_seconds > 0 ? prompt_computed / times.prefill_seconds : 0},
      {"ttft_ms", 1e3 * first_text_seconds},
      {"load_seconds", loaded.seconds},
      {"dropped_messages", result.dropped_messages},
      {"token_ids", result.tokens},
      {"sampling", as_json(sampling)}};
  if (result.quality_kept) object["quality_kept"] = *result.quality_kept;
  if (result.joules) object["joules"] = *result.joules;
  add_precision_use(object, *loaded.engine);
  return object;
}

Result<void> answer_once(const ChatFlags& flags, Console& console, Interrupts& interrupts) {
  FOVEA_TRY(LoadOptions load, load_options(flags.model, flags.load));
  FOVEA_TRY(const std::string prompt, read_prompt(flags));
  Interrupts::Operation operation(interrupts);
  FOVEA_TRY(const LoadedEngine loaded, load_engine(load, console, operation.token()));
  if (flags.stats) FOVEA_CHECK(check_stats(*loaded.engine));
  const SamplingSettings sampling = sampling_of(flags, sampling_defaults(loaded.engine->info()));
  GenerateRequest request = request_of(flags, sampling, 0);
  if (flags.raw) {
    request.raw_prompt = prompt;
  } else {
    if (!flags.system.empty()) request.messages.push_back({"system", flags.system});
    request.messages.push_back({"user", prompt});
  }

  WatchedChat watched(*loaded.engine);
  watched.question();
  std::optional<LiveView> view;
  if (flags.stats && !flags.json) view.emplace(watched.reader());
  Result<void> written;
  const auto start = Clock::now();
  double first_text_seconds = 0;
  const auto sink = [&](std::string_view text, const Timings&) {
    if (first_text_seconds == 0)
      first_text_seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (flags.json || !written) return;
    written = console.write_text(text);
    if (!written) operation.stop();  // nobody reads any more
    if (view) view->refresh();
  };
  auto result = loaded.engine->generate(request, sink, console.progress(), operation.token());
  console.clear_progress();
  view.reset();
  FOVEA_CHECK(written);
  if (!result) return std::unexpected(as_seen_in_terminal(result.error()));
  if (flags.json) {
    FOVEA_CHECK(write_json(console, as_json(*result, flags, loaded, sampling, first_text_seconds)));
  } else if (!result->text.ends_with('\n')) {
    FOVEA_CHECK(console.write("\n"));
  }
  if (const std::string text = remark(*result, loaded.engine->settings().context); !text.empty()) {
    console.note("fovea chat: " + text);
  }
  if (flags.stats && !flags.json) {
    std::string line = stats_line(*loaded.engine, watched.reader());
    line.pop_back();  // its line break
    console.note(wrapped(line, terminal_columns(STDERR_FILENO)));
  }
  if (const std::string text = memory_warning(*loaded.engine); !text.empty()) console.note(text);
  if (const std::string text = precision_warning(*loaded.engine); !text.empty()) console.note(text);
  if (result->finish != FinishReason::cancelled) return {};
  return fail(errors::answer_stopped());
}

Result<void> converse(const ChatFlags& flags, Console& console, Interrupts& interrupts) {
  FOVEA_TRY(const LoadOptions load, load_options(flags.model, flags.load));
  std::unique_ptr<Engine> engine;
  {
    const Interrupts::Operation operation(interrupts);
    FOVEA_TRY(LoadedEngine loaded, load_engine(load, console, operation.token()));
    engine = std::move(loaded.engine);
    if (flags.stats) FOVEA_CHECK(check_stats(*engine));
  }
  ChatSession session(flags, *engine, console, interrupts);
  return session.run();
}

}  // namespace

Result<void> chat(const ChatFlags& flags, Console& console, Interrupts& interrupts) {
  const bool once = flags.prompt || !console.input_is_terminal() || flags.json;
  if (!once && flags.raw) return fail(phrases::option_place("--raw"), errors::raw_conversation());
  ChatFlags read = flags;
  FOVEA_TRY(read.form, form_of(flags));
  return once ? answer_once(read, console, interrupts) : converse(read, console, interrupts);
}

void add_chat(Registry& registry) {
  auto flags = std::make_shared<ChatFlags>();
  CLI::App* command = add_command(
      registry, "chat",
      "Chat in the terminal; with -p, --json or input from a file or pipe: one question, one answer",
      flags->json,
      "  text               the answer; token_ids are its tokens\n"
      "  tokens             how many were generated\n"
      "  tok_per_s          speed of generation; prefill_tok_per_s of reading the prompt\n"
      "  ttft_ms            from the question to the first text\n"
      "  finish             stop_token, stop_string, max_tokens, context_full or cancelled\n"
      "  seed               gives this answer again, as --seed says; sampling holds the other settings:\n"
      "                     temperature, top_k, top_p, min_p, repeat_penalty, presence_penalty,\n"
      "                     frequency_penalty, penalty_window, dry_multiplier, dry_base,\n"
      "                     dry_allowed_length, dry_penalty_last_n\n"
      "  prompt_tokens      with the template's; dropped_messages: left out because the context was full\n"
      "  load_seconds       time to load the model\n" +
          std::string(precision_keys));
  add_model(*command, flags->model)->required();
  command->add_option("-p,--prompt", flags->prompt, "The question (default: standard input)");
  CLI::Option* system = command->add_option("--system", flags->system, "The system message");
  command
      ->add_flag("--raw", flags->raw,
                 "The prompt of one question goes in as it is, without the chat template")
      ->excludes(system);
  add_context(*command, flags->load, "Tokens of context (default: the model's, at most 8192)");
  add_device(*command, flags->load.device, 2);
  add_threads(*command, flags->load);
  add_kv(*command, flags->load);
  add_chunk(*command, flags->load);
  command->add_flag("--stats", flags->stats,
                    "Show at the bottom of the terminal what the experts do: use, tiers, traffic, hits");
  add_thinking(*command, *flags);
  add_form(*command, *flags);
  add_sampling(*command, *flags);
  add_precision(*command, flags->load.precision);
  command->callback([&registry, flags] {
    std::vector<std::pair<const char*, std::string>> texts{{"--prompt", flags->prompt.value_or("")},
                                                           {"--system", flags->system}};
    for (const std::string& stop : flags->stop) texts.emplace_back("--stop", stop);
    for (const auto& [name, text] : texts) {
      if (const auto valid = check_text(text, phrases::option_place(name)); !valid) {
        throw CLI::ValidationError(valid.error().where_words(), valid.error().what_words());
      }
    }
    registry.chosen = [flags](Console& console, Interrupts& interrupts) {
      return chat(*flags, console, interrupts);
    };
  });
}

}  // namespace fovea::app
