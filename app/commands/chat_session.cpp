#include "app/commands/chat_session.h"

#include <algorithm>
#include <iostream>
#include <optional>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include "app/commands/loading.h"
#include "app/commands/precision_use.h"
#include "app/library/data_folder.h"
#include "app/terminal/live_view.h"
#include "app/terminal/screen.h"
#include "engine/core/log.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

constexpr const char* prompt = "> ";

constexpr const char* help =
    "/help           this list\n"
    "/again          another answer to the last question\n"
    "/system TEXT    set the system message (without TEXT: show it) and keep the conversation\n"
    "/thinking on    or off, or auto: as the model likes; without a word: show it\n"
    "/effort low     or medium, high or auto\n"
    "/reset          forget the conversation, keep the system message\n"
    "/quit           leave (Ctrl-D does too)\n"
    "Ctrl-C stops an answer; Alt-Enter begins a new line; the arrow keys bring earlier lines back.\n";

std::filesystem::path typed_lines_file() {
  const auto folder = make_folder(data_folder());
  return folder ? *folder / "history" : std::filesystem::path();
}

// "word rest": the rest, without blanks around it.
std::string argument_of(const std::string& line) {
  const std::size_t space = line.find(' ');
  const std::size_t begin = space == std::string::npos ? space : line.find_first_not_of(' ', space);
  return begin == std::string::npos ? "" : line.substr(begin, line.find_last_not_of(' ') + 1 - begin);
}

}  // namespace

ChatSession::ChatSession(const ChatFlags& flags, Engine& engine, Console& console, Interrupts& interrupts)
    : flags_(flags),
      engine_(engine),
      watched_(engine),
      console_(console),
      interrupts_(interrupts),
      defaults_(sampling_defaults(engine.info())),
      sampling_(sampling_of(flags, defaults_)),
      history_(typed_lines_file()),
      system_(flags.system) {
  if (console.output_is_terminal() && LineReader::possible())
    reader_ = std::make_unique<LineReader>(history_);
}

Result<void> ChatSession::greet() {
  const ModelInfo& info = engine_.info();
  const std::string experts =
      info.experts > 0 ? fmt::format(", {} experts, {} for each token", info.experts, info.experts_used) : "";
  return console_.write_text(
      fmt::format("{}\n{} layers{}; context {} tokens; {} threads\nsampling ({}): {}\n/help lists the "
                  "commands, Ctrl-D quits.\n\n",
                  info.name, info.layers, experts, engine_.settings().context, engine_.settings().threads,
                  english(defaults_.source), describe(sampling_)));
}

// Where lines are edited, the terminal knows how.
std::string ChatSession::dimmed(const std::string& text) const {
  return reader_ ? "\033[2m" + text + "\033[0m" : text;
}

Result<LineReader::Outcome> ChatSession::read_line(std::string& line) {
  if (reader_) return reader_->read(prompt, line);
  FOVEA_CHECK(console_.write(prompt));
  return std::getline(std::cin, line) ? LineReader::Outcome::line : LineReader::Outcome::end;
}

Result<void> ChatSession::run() {
  FOVEA_CHECK(greet());
  bool warned = false;  // the last thing was Ctrl-C at an empty line
  for (std::string line;;) {
    FOVEA_TRY(const LineReader::Outcome outcome, read_line(line));
    if (outcome == LineReader::Outcome::end) return {};
    if (outcome == LineReader::Outcome::interrupted) {
      if (line.empty() && warned) return {};
      warned = line.empty();
      if (warned) FOVEA_CHECK(console_.write("Ctrl-C again, or Ctrl-D, quits.\n"));
      continue;
    }
    warned = false;
    if (line.find_first_not_of(" \n") == std::string::npos) continue;
    if (const auto kept = history_.add(line); !kept) log::warning("app", kept.error().message());
    if (line.starts_with('/')) {
      FOVEA_TRY(const Next next, command(line));
      if (next == Next::leave) return {};
    } else {
      FOVEA_CHECK(ask(line));
    }
  }
}

Result<ChatSession::Next> ChatSession::command(const std::string& line) {
  const std::string name = line.substr(0, line.find(' '));
  if (name == "/quit" || name == "/exit") return Next::leave;
  if (name == "/reset") {
    messages_.clear();
    FOVEA_CHECK(console_.write("The conversation is forgotten.\n"));
  } else if (name == "/system") {
    const std::string text = argument_of(line);
    if (!text.empty()) system_ = text;
    FOVEA_CHECK(console_.write_text("system message: " + (system_.empty() ? "none" : system_) + "\n"));
  } else if (name == "/thinking" || name == "/effort") {
    FOVEA_CHECK(console_.write_text(choose_thinking(name, argument_of(line))));
  } else if (name == "/again") {
    if (messages_.empty()) {
      FOVEA_CHECK(console_.write("There is no question yet.\n"));
      return Next::go_on;
    }
    if (messages_.back().role == "assistant") messages_.pop_back();
    FOVEA_CHECK(answer());
  } else if (name == "/help") {
    FOVEA_CHECK(console_.write(help));
  } else {
    FOVEA_CHECK(console_.write_text("There is no " + name + ".\n" + help));
  }
  return Next::go_on;
}

// What the next answers are asked for, and what to say of it.
std::string ChatSession::choose_thinking(const std::string& name, const std::string& word) {
  const bool effort = name == "/effort";
  const std::string what = effort ? "effort" : "thinking";
  if (effort ? !engine_.info().has_effort : !engine_.info().can_switch_thinking)
    return "This model's chat template has no " + what + " to choose.\n";
  const std::vector<std::string> words =
      effort ? std::vector<std::string>{"low", "medium", "high"} : std::vector<std::string>{"on", "off"};
  const bool known = std::ranges::find(words, word) != words.end();
  if (!word.empty() && !known && word != "auto") return "There is no " + name + " " + word + ".\n" + help;
  if (effort && !word.empty()) flags_.effort = known ? word : std::string();
  if (!effort && !word.empty()) flags_.thinking = known ? std::optional(word == "on") : std::nullopt;
  const std::string chosen = effort ? flags_.effort : !flags_.thinking ? "" : *flags_.thinking ? "on" : "off";
  return what + ": " + (chosen.empty() ? "as the model likes" : chosen) + "\n";
}

Result<void> ChatSession::ask(const std::string& text) {
  messages_.push_back({"user", text});
  return answer();
}

Result<void> ChatSession::answer() {
  watched_.question();
  Interrupts::Operation operation(interrupts_);
  std::optional<LineReader::KeysSignal> keys;  // not before there is something to stop
  if (reader_) keys.emplace();
  GenerateRequest request = request_of(flags_, sampling_, turn_++);
  if (!system_.empty()) request.messages.push_back({"system", system_});
  request.messages.insert(request.messages.end(), messages_.begin(), messages_.end());

  // While it answers; the line that is typed next has the whole screen.
  std::optional<LiveView> view;
  if (flags_.stats && reader_) view.emplace(watched_.reader());
  Result<void> written;
  const auto sink = [&](std::string_view text, const Timings&) {
    if (!written) return;
    written = console_.write_text(text);
    if (!written) operation.stop();
    if (view) view->refresh();
  };
  auto result = engine_.generate(request, sink, console_.progress(), operation.token());
  console_.clear_progress();
  view.reset();
  FOVEA_CHECK(written);
  if (!result && result.error().kind == ErrorKind::device)
    return std::unexpected(as_seen_in_terminal(result.error()));
  if (!result) {
    console_.error("fovea chat", result.error());
    messages_.pop_back();  // the question, so that a shorter one can be asked
    return {};
  }
  messages_.push_back({"assistant", result->text});
  const Timings& times = result->timings;
  const std::string stopped = result->finish == FinishReason::cancelled ? "stopped, " : "";
  FOVEA_CHECK(console_.write(
      "\n" +
      dimmed(fmt::format("{}{} tokens, {:.1f} tok/s, context {} of {}", stopped, times.generated_tokens,
                         times.tokens_per_second(), times.prompt_tokens + times.generated_tokens,
                         engine_.settings().context)) +
      "\n\n"));
  if (const std::string text = remark(*result, engine_.settings().context); !text.empty())
    console_.note(text);
  if (const std::string text = memory_warning(engine_); !text.empty()) console_.note(text);
  if (const std::string text = precision_warning(engine_); !text.empty()) console_.note(text);
  if (flags_.stats)
    return console_.write(
        dimmed(wrapped(stats_line(engine_, watched_.reader()), terminal_columns(STDOUT_FILENO))));
  return {};
}

}  // namespace fovea::app
