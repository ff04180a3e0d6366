// fovea bench MODEL: how fast the model reads a prompt and writes an answer.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include "app/commands/bench_shape.h"
#include "app/commands/flags.h"
#include "app/commands/loading.h"
#include "app/commands/precision_use.h"
#include "engine/api/evaluate.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

struct BenchFlags {
  std::string model;
  LoadOptions load;
  ShapeFlags shape;
  BenchSettings settings;
  bool json = false;
};

nlohmann::ordered_json as_json(const SpeedResult& speed) {
  const Spread& spread = speed.tokens_per_second;
  return {{"tokens", speed.tokens},
          {"tok_per_s", {{"median", spread.median}, {"min", spread.min}, {"max", spread.max}}},
          {"ceiling_share", speed.ceiling_share}};
}

nlohmann::ordered_json as_json(const Percentiles& times) {
  return {{"median", times.median}, {"p90", times.p90}, {"p99", times.p99}};
}

nlohmann::ordered_json as_json(const BenchResult& result, const LoadedEngine& loaded) {
  const LoadOptions& settings = loaded.engine->settings();
  const MemoryUse memory = loaded.engine->memory();
  nlohmann::ordered_json object = {{"model", loaded.engine->info().name},
                                   {"threads", settings.threads},
                                   {"depth", result.depth},
                                   {"prefill", as_json(result.prefill)},
                                   {"decode", as_json(result.decode)},
                                   {"ttft_ms", as_json(result.ttft_ms)},
                                   {"tpot_ms", as_json(result.tpot_ms)},
                                   {"bandwidth_gb_per_s", result.bandwidth_gb_per_s},
                                   {"peak_gop_per_s", result.peak_gop_per_s},
                                   {"load_seconds", loaded.seconds},
                                   {"peak_memory_bytes", resident_peak_bytes()},
                                   {"memory",
                                    {{"weights", memory.weights},
                                     {"host_weights", memory.host_weights},
                                     {"kv_cache", memory.kv_cache},
                                     {"windows", memory.windows},
                                     {"states", memory.states},
                                     {"activations", memory.activations}}}};
  add_precision_use(object, *loaded.engine);
  return object;
}

std::string line(const char* name, const SpeedResult& speed, const char* ceiling) {
  const Spread& spread = speed.tokens_per_second;
  return fmt::format("{:<8} {:>5} tokens  {:>9.1f} tok/s  (from {:.1f} to {:.1f})  {:.0f} % of {}\n", name,
                     speed.tokens, spread.median, spread.min, spread.max, 100 * speed.ceiling_share, ceiling);
}

std::string for_people(const BenchResult& result, const LoadedEngine& loaded) {
  const std::string bandwidth = fmt::format("{:.1f} GB/s read", result.bandwidth_gb_per_s);
  const std::string peak = fmt::format("{:.1f} Gop/s", result.peak_gop_per_s);
  const std::string depth = result.depth > 0 ? fmt::format(", behind {} tokens", result.depth) : "";
  return fmt::format("{}, {} threads{}\n", loaded.engine->info().name, loaded.engine->settings().threads,
                     depth) +
         line("prefill", result.prefill, peak.c_str()) + line("decode", result.decode, bandwidth.c_str()) +
         fmt::format(
             "first token after {:.1f} ms (p90 {:.1f}, p99 {:.1f}), then one each {:.2f} ms (p90 {:.2f}, p99 "
             "{:.2f})\n",
             result.ttft_ms.median, result.ttft_ms.p90, result.ttft_ms.p99, result.tpot_ms.median,
             result.tpot_ms.p90, result.tpot_ms.p99) +
         fmt::format("loaded in {:.2f} s\n", loaded.seconds) + precision_line(*loaded.engine);
}

Result<void> print_bench(const BenchFlags& flags, Console& console, Interrupts& interrupts) {
  if (!flags.shape.shape.empty())
    return bench_of_shape(flags.shape, flags.load, flags.settings, flags.json, console, interrupts);
  const Interrupts::Operation operation(interrupts);
  FOVEA_TRY(LoadOptions request, load_options(flags.model, flags.load));
  request.need_tokenizer = false;
  request.context = flags.settings.depth + flags.settings.prompt_tokens + flags.settings.generated_tokens;
  FOVEA_TRY(const LoadedEngine loaded, load_engine(request, console, operation.token()));
  FOVEA_TRY(const BenchResult result,
            bench(*loaded.engine, flags.settings, console.progress(), operation.token()));
  if (const std::string warning = precision_warning(*loaded.engine); !warning.empty()) console.note(warning);
  return flags.json ? write_json(console, as_json(result, loaded))
                    : console.write_text(for_people(result, loaded));
}

}  // namespace

void add_bench(Registry& registry) {
  auto flags = std::make_shared<BenchFlags>();
  CLI::App* command = add_command(
      registry, "bench", "How fast the model reads a prompt and writes an answer", flags->json,
      "  depth               tokens of the context before either\n"
      "  prefill, decode     each: tokens, tok_per_s {median, min, max}, and ceiling_share, the "
      "share of what\n"
      "                      the machine's measured arithmetic (prefill) or memory bandwidth "
      "(decode) allows\n"
      "  ttft_ms             time to the first token {median, p90, p99}\n"
      "  tpot_ms             time for each further token {median, p90, p99}\n"
      "  bandwidth_gb_per_s  measured; peak_gop_per_s too\n"
      "  load_seconds        time to load the model; peak_memory_bytes of the program, with\n"
      "                      the buffers that measure the machine\n"
      "  memory              bytes of weights, host_weights (beside a GPU), kv_cache,\n"
      "                      windows, states (of recurrent layers), activations; and model, threads\n" +
          std::string(precision_keys) + shape_keys);
  add_model(*command, flags->model);
  add_shape(*command, flags->shape);
  command->add_option("-p,--prompt", flags->settings.prompt_tokens, "Tokens to read (default: 512)")
      ->check(number_between(1, 1 << 24));
  command->add_option("-n,--generate", flags->settings.generated_tokens, "Tokens to write (default: 128)")
      ->check(number_between(1, 1 << 24));
  command
      ->add_option("-d,--depth", flags->settings.depth,
                   "Tokens of the context before the prompt, and before the answer (default: 0)")
      ->check(number_between(0, 1 << 24));
  command->add_option("-r,--repetitions", flags->settings.repetitions, "Repetitions (default: 5)")
      ->check(number_between(1, 1000));
  add_chunk(*command, flags->load);
  add_device(*command, flags->load.device, 2);
  add_threads(*command, flags->load);
  add_kv(*command, flags->load);
  add_precision(*command, flags->load.precision);
  command->callback([&registry, flags] {
    const bool is_shape = !flags->shape.shape.empty();
    if (flags->model.empty() && !is_shape) throw CLI::RequiredError("MODEL or --shape");
    if (!flags->model.empty() && is_shape) throw CLI::ExcludesError("MODEL", "--shape");
    if (flags->settings.depth > 0 && is_shape)
      throw CLI::ExcludesError("--depth", "--shape (use --contexts)");
    if (flags->shape.given && !is_shape)
      throw CLI::RequiresError("--contexts, --prompts, --dense or --seed", "--shape");
    registry.chosen = [flags](Console& console, Interrupts& interrupts) {
      return print_bench(*flags, console, interrupts);
    };
  });
}

}  // namespace fovea::app
