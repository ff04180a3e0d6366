// fovea trace MODEL FILE -o T: which experts a text needs.
#include "engine/api/trace.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include "app/commands/errors.h"
#include "app/commands/flags.h"
#include "app/commands/loading.h"
#include "app/commands/text_input.h"
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
  if (flags.json) {
    return write_json(console, {{"path", flags.out},
                                {"tokens", result.tokens},
                                {"passes", result.passes},
                                {"layers", result.layers},
                                {"experts", result.experts},
                                {"bytes", result.bytes},
                                {"seconds", result.seconds}});
  }
  return console.write(fmt::format(
      "{}: {} tokens in {} passes through {} layers of {} experts, {:.1f} KB, "
      "{:.1f} tok/s\n",
      flags.out, result.tokens, result.passes, result.layers, result.experts,
      static_cast<double>(result.bytes) / 1e3, static_cast<double>(result.tokens) / result.seconds));
}

}  // namespace

void add_trace(Registry& registry) {
  auto flags = std::make_shared<TraceFlags>();
  CLI::App* command =
      add_command(registry, "trace", "Record which experts a text needs, for `fovea replay`", flags->json,
                  "  path            the trace\n"
                  "  tokens, passes  that it holds\n"
                  "  layers          that have experts; experts in each\n"
                  "  bytes           of the trace; seconds that recording took\n");
  add_model(*command, flags->model)->required();
  command->add_option("FILE", flags->file, "The text, - for standard input")->required();
  command->add_option("-o,--out", flags->out, "The trace to write")->required();
  command->add_option("--tokens", flags->settings.tokens, "Tokens of the text (default: all)")
      ->check(number_between(1, 1 << 30));
  command->add_flag("--decode", flags->settings.decode,
                    "One token after the other, as an answer is written (default: in chunks, as a prompt)");
  add_context(*command, flags->load, "Tokens after which the context begins anew (default: 2048)");
  command->add_option("--chunk", flags->load.chunk, "Tokens in one prefill pass (default: 128)")
      ->check(number_between(1, static_cast<double>(max_chunk)));
  add_device(*command, flags->load.device);
  add_threads(*command, flags->load);
  add_kv(*command, flags->load);
  command->callback([&registry, flags] {
    registry.chosen = [flags](Console& console, Interrupts& interrupts) {
      return write_trace(*flags, console, interrupts);
    };
  });
}

}  // namespace fovea::app
