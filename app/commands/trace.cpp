// fovea trace MODEL FILE -o T: which experts a text needs. fovea trace --report T…: what the routers did.
#include "engine/api/trace.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include "app/commands/errors.h"
#include "app/commands/flags.h"
#include "app/commands/loading.h"
#include "app/commands/precision_use.h"
#include "app/commands/text_input.h"
#include "app/commands/trace_report.h"
#include "app/files/files.h"
#include "engine/api/limits.h"
#include "engine/core/atomic_file.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

struct TraceFlags {
  std::string model, file, out;
  LoadOptions load{.context = 2048, .chunk = 128};
  TraceSettings settings;
  TraceReportFlags report;
  bool json = false;
};

Result<void> write_trace(const TraceFlags& flags, Console& console, Interrupts& interrupts) {
  FOVEA_TRY(const LoadOptions request, load_options(flags.model, flags.load));
  FOVEA_TRY(const std::string text, read_input(flags.file, text_limit_bytes));
  const Interrupts::Operation operation(interrupts);
  if (text.empty()) return fail(place_of(flags.file), errors::nothing_to_trace());
  note_invalid_utf8(console, "trace", place_of(flags.file), text);
  FOVEA_TRY(auto file, AtomicFile::create(flags.out));
  FOVEA_TRY(const LoadedEngine loaded, load_engine(request, console, operation.token()));
  TraceSettings settings = flags.settings;
  settings.chunk = flags.load.chunk;
  FOVEA_TRY(const TraceResult result,
            record_trace(
                *loaded.engine, text, settings, [&](std::string_view bytes) { return file.write(bytes); },
                console.progress(), operation.token()));
  console.clear_progress();
  FOVEA_CHECK(file.commit());
  if (const std::string warning = precision_warning(*loaded.engine); !warning.empty()) console.note(warning);
  if (flags.json) {
    nlohmann::ordered_json object = {{"path", flags.out},         {"tokens", result.tokens},
                                     {"passes", result.passes},   {"layers", result.layers},
                                     {"experts", result.experts}, {"bytes", result.bytes},
                                     {"seconds", result.seconds}};
    add_precision_use(object, *loaded.engine);
    return write_json(console, object);
  }
  FOVEA_CHECK(console.write(precision_line(*loaded.engine)));
  return console.write(fmt::format(
      "{}: {} tokens in {} passes through {} layers of {} experts, {:.1f} KB, "
      "{:.1f} tok/s\n",
      flags.out, result.tokens, result.passes, result.layers, result.experts,
      static_cast<double>(result.bytes) / 1e3, static_cast<double>(result.tokens) / result.seconds));
}

// A report takes traces and reads no model; a recording needs one, a text and a place.
void check_usage(const TraceFlags& flags) {
  if (!flags.report.traces.empty()) return;
  if (flags.model.empty()) throw CLI::RequiredError("MODEL or --report");
  if (flags.file.empty()) throw CLI::RequiredError("FILE");
  if (flags.out.empty()) throw CLI::RequiredError("--out");
}

void add_report(CLI::App& command, TraceReportFlags& flags) {
  const std::vector<CLI::Option*> of_recording = command.get_options([](const CLI::Option* option) {
    return !option->check_name("--json") && !option->check_name("--verbose") && !option->check_name("--help");
  });
  CLI::Option* report = command.add_option(
      "--report", flags.traces,
      "Instead of recording, say what the routers did in these traces: load, specialisation, overlap");
  report->type_name("TRACE");
  for (CLI::Option* option : of_recording) report->excludes(option);
  command
      .add_option("--reference", flags.reference,
                  "A trace of the same tokens, recorded with --decode as the others: how many of its choices "
                  "they make too")
      ->needs(report);
  command
      .add_option("--hottest", flags.hottest,
                  "Experts of a layer whose overlap is told (default: twice those that a token uses)")
      ->check(number_between(1, 1 << 20))
      ->needs(report);
}

}  // namespace

void add_trace(Registry& registry) {
  auto flags = std::make_shared<TraceFlags>();
  CLI::App* command =
      add_command(registry, "trace",
                  "Record which experts a text needs, for `fovea replay`; or report on that", flags->json,
                  "  path            the trace\n"
                  "  tokens, passes  that it holds\n"
                  "  layers          that have experts; experts in each\n"
                  "  bytes           of the trace; seconds that recording took\n" +
                      std::string(precision_keys) + trace_report_keys);
  add_model(*command, flags->model);
  command->add_option("FILE", flags->file, "The text, - for standard input");
  command->add_option("-o,--out", flags->out, "The trace to write");
  command->add_option("--tokens", flags->settings.tokens, "Tokens of the text (default: all)")
      ->check(number_between(1, 1 << 30));
  command->add_flag("--decode", flags->settings.decode,
                    "One token after the other, as an answer is written (default: in chunks, as a prompt)");
  add_context(*command, flags->load, "Tokens after which the context begins anew (default: 2048)");
  command->add_option("--chunk", flags->load.chunk, "Tokens in one prefill pass (default: 128)")
      ->check(number_between(1, static_cast<double>(max_chunk)));
  add_device(*command, flags->load.device, 2);
  add_threads(*command, flags->load);
  add_kv(*command, flags->load);
  add_precision(*command, flags->load.precision);
  add_report(*command, flags->report);
  command->callback([&registry, flags] {
    check_usage(*flags);
    registry.chosen = [flags](Console& console, Interrupts& interrupts) {
      if (!flags->report.traces.empty())
        return print_trace_report(flags->report, flags->json, console, interrupts);
      return write_trace(*flags, console, interrupts);
    };
  });
}

}  // namespace fovea::app
