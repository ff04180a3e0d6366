// fovea, fovea MODEL: the window, or the chat in the terminal where no window can open.
#include "app/window/window.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>

#include "app/commands/chat.h"
#include "app/commands/errors.h"
#include "app/commands/flags.h"
#include "app/commands/loading.h"
#include "app/commands/plan_report.h"
#include "engine/core/log.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

struct WindowFlags {
  std::string model;
  std::int64_t conversation = 0;
  LoadOptions load;
};

// Without the conversation, and without the program's own name.
std::vector<std::string> restart_arguments(int argc, char** argv) {
  std::vector<std::string> kept;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--conversation") {
      ++i;
    } else if (!argument.starts_with("--conversation=")) {
      kept.emplace_back(argument);
    }
  }
  return kept;
}

Result<void> open_window_or_chat(const WindowFlags& flags, int argc, char** argv, Console& console,
                                 Interrupts& interrupts) {
  WindowRequest request{.load = {},
                        .policy_given = flags.load.precision.policy != PolicyKind::automatic,
                        .conversation = flags.conversation,
                        .arguments = restart_arguments(argc, argv),
                        .plan_text = served_plan};
  if (!flags.model.empty()) {
    FOVEA_TRY(request.load, load_options(flags.model, flags.load));
  }
  if (const auto obstacle = window_obstacle()) {
    ChatFlags chat_flags;
    chat_flags.model = flags.model.empty() ? "demo" : flags.model;
    chat_flags.load = flags.load;
    console.note("fovea: " + *obstacle + ", so the chat is in the terminal: fovea chat " + chat_flags.model);
    return chat(chat_flags, console, interrupts);
  }
  const int code = run_window(argc, argv, request);
  if (code == 0) return {};
  return fail(phrases::own_window(), errors::window_ended(code));
}

// The window's options before a command would be read and then ignored.
void refuse_before_a_command(const CLI::App& program) {
  for (const CLI::Option* option : program.get_options()) {
    if (option->count() > 0 && !option->check_name("--verbose"))
      throw CLI::ValidationError(option->get_name(), "stands before the command, where only --verbose may");
  }
}

}  // namespace

void add_window(Registry& registry, int argc, char** argv) {
  auto flags = std::make_shared<WindowFlags>();
  CLI::App& program = registry.program;
  add_model(program, flags->model);
  program.add_flag("--verbose", registry.verbose, "Write the log to standard error");
  program
      .add_option("--conversation", flags->conversation,
                  "Open this conversation, by its number (a restart of the window gives it)")
      ->check(number_between(1, 9e15));
  add_context(program, flags->load, "Tokens of context (default: the model's, at most 8192)");
  add_device(program, flags->load.device, 2);
  add_threads(program, flags->load);
  add_kv(program, flags->load);
  add_precision(program, flags->load.precision);
  program.footer(
      "Without a command: the window, with MODEL loaded; where there is no display, the chat in the "
      "terminal.\n"
      "fovea COMMAND --help tells more about a command.\n"
      "Exit codes: 0 done, 1 failed, 2 wrong usage. Errors are one line on standard error.");
  program.final_callback([&registry, &program, flags, argc, argv] {
    if (registry.chosen) return refuse_before_a_command(program);
    registry.chosen = [flags, argc, argv](Console& console, Interrupts& interrupts) {
      return open_window_or_chat(*flags, argc, argv, console, interrupts);
    };
  });
}

}  // namespace fovea::app
