// fovea: the program's entry. Parses the command line, runs what was chosen, and turns its outcome into an
// exit code.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/commands/command.h"
#include "app/commands/download/download.h"
#include "app/commands/errors.h"
#include "app/commands/flags.h"
#include "app/commands/precision_flags.h"
#include "app/console/console.h"
#include "app/console/interrupts.h"
#include "app/library/errors.h"
#include "app/terminal/full_screen.h"
#include "app/terminal/line_reader.h"
#include "app/terminal/live_view.h"
#include "engine/core/log.h"

namespace {

using namespace fovea::app;

constexpr int exit_failed = 1;
constexpr int exit_usage = 2;

// The command whose arguments were wrong, for the error's beginning and the hint at its help.
std::string command_name(const CLI::App& program) {
  const auto commands = program.get_subcommands();
  return commands.empty() ? "fovea" : "fovea " + commands.front()->get_name();
}

// How many letters must be put in, taken out or changed to make one word of the other.
std::size_t letters_between(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t corner = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t changed = corner + (from[i] == to[j] ? 0 : 1);
      corner = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// The command whose name is nearly what stands for MODEL, which a mistyped command is taken for; else empty.
std::string nearest_command(const CLI::App& program) {
  if (!program.get_subcommands().empty()) return {};
  const auto typed = program.get_option("MODEL")->results();
  if (typed.empty()) return {};
  const auto commands = program.get_subcommands([](const CLI::App*) { return true; });
  const auto distance = [&](const CLI::App* command) {
    return letters_between(typed.front(), command->get_name());
  };
  const CLI::App* const nearest = *std::ranges::min_element(commands, {}, distance);
  // Of a short name half is another word.
  const std::size_t most = std::min<std::size_t>(2, nearest->get_name().size() / 2);
  return distance(nearest) > most ? std::string() : nearest->get_name();
}

int report_usage(const CLI::App& program, const CLI::ParseError& error, Console& console) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {  // --help, --version
    std::ostringstream text;
    program.exit(error, text, text);
    return console.write(text.str()) ? 0 : exit_failed;
  }
  const std::string name = command_name(program);
  std::string what = error.what();
  // A mistyped command: what follows it is one argument too many.
  if (const std::string nearest = nearest_command(program); !nearest.empty())
    what = "there is no command " + program.get_option("MODEL")->results().front() + "; the nearest is " +
           nearest;
  console.note(name + ": " + what + ". " + name + " --help tells how to use it");
  return exit_usage;
}

// The commands before the window's own options, of which there are more.
class CommandsFirst : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    if (app->get_parent() != nullptr) return CLI::Formatter::make_help(app, name, mode);
    return make_description(app) + make_usage(app, name) + make_positionals(app) +
           make_subcommands(app, mode) + make_groups(app, mode) + '\n' + make_footer(app);
  }
};

// A mistyped command alone is a model that nobody has.
fovea::Error with_nearest_command(fovea::Error error, const CLI::App& program) {
  const std::string nearest = nearest_command(program);
  if (!nearest.empty() && (error.is(fovea::errors::library_no_such_name.code) ||
                           error.is(fovea::errors::library_nothing_there.code)))
    error.advice = fovea::phrases::or_did_you_mean(nearest);
  return error;
}

int run_chosen(const Registry& registry, Console& console) {
  const std::string name = command_name(registry.program);
  try {
    Interrupts interrupts([] {
      LiveView::restore_terminal();
      LineReader::restore_terminal();
      FullScreen::restore_terminal();
    });
    // Its thread, too, leaves signals to `interrupts`.
    if (registry.verbose) {
      const auto started = fovea::log::start({.file = {}, .stderr_level = fovea::log::Level::debug});
      if (!started) console.error("fovea", started.error());
    }
    if (const auto done = registry.chosen(console, interrupts); !done) {
      console.error(name, with_nearest_command(done.error(), registry.program));
      return exit_failed;
    }
    return 0;
  } catch (const std::bad_alloc&) {
    console.note(name +
                 ": the memory is not enough. Close other programs, or use a smaller model or context");
  } catch (const std::exception& error) {
    console.note(name + ": a bug: " + error.what() + ". Please report it with the output of --verbose");
  }
  return exit_failed;
}

}  // namespace

int main(int argc, char** argv) {
  guard_standard_streams();
  Console console;
  CLI::App program("Fovea: chat with Mixture-of-Experts models whose experts change precision", "fovea");
  program.formatter(std::make_shared<CommandsFirst>());
  program.set_version_flag("--version", "fovea " FOVEA_VERSION);
  Registry registry{.program = program, .chosen = {}};
  add_window(registry, argc, argv);
  add_chat(registry);
  add_serve(registry);
  add_top(registry);
  add_tokenize(registry);
  add_template(registry);
  add_logits(registry);
  add_perplexity(registry);
  add_eval(registry);
  add_bench(registry);
  add_trace(registry);
  add_replay(registry);
  add_inspect(registry);
  add_plan(registry);
  add_devices(registry);
  add_selftest(registry);
  add_prepare(registry);
  add_download(registry);
  add_demo_model(registry);
  refuse_empty_texts(program);
  try {
    program.parse(arguments_of(argc, argv));
  } catch (const CLI::ParseError& error) {
    return report_usage(program, error, console);
  }
  const int code = run_chosen(registry, console);
  fovea::log::stop();
  return code;
}
