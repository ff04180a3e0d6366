// fovea perplexity MODEL FILE: how well the model predicts a text.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include "app/commands/flags.h"
#include "app/commands/loading.h"
#include "app/commands/precision_use.h"
#include "app/commands/text_input.h"
#include "app/files/files.h"
#include "engine/api/evaluate.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

constexpr std::int64_t default_context = 512;

struct PerplexityFlags {
  std::string model, file, reference;
  std::filesystem::path reference_logits;
  LoadOptions load{.context = default_context};
  std::int64_t chunks = 0;
  bool json = false, each_token = false;
};

Result<void> print_perplexity(const PerplexityFlags& flags, Console& console, Interrupts& interrupts) {
  FOVEA_TRY(const LoadOptions request, load_options(flags.model, flags.load));
  FOVEA_TRY(const std::string text, read_input(flags.file, text_limit_bytes));
  const Interrupts::Operation operation(interrupts);
  note_invalid_utf8(console, "perplexity", place_of(flags.file), text);
  FOVEA_TRY(const LoadedEngine loaded, load_engine(request, console, operation.token()));
  LoadedEngine reference;
  std::error_code ignored;
  if (!flags.reference.empty() && !std::filesystem::exists(flags.reference_logits, ignored)) {
    LoadOptions whole = flags.load;  // every weight as the file has it
    whole.precision = {};
    FOVEA_TRY(const LoadOptions other, load_options(flags.reference, whole));
    FOVEA_TRY(reference, load_engine(other, console, operation.token()));
  }
  const PerplexitySettings settings{.context = flags.load.context,
                                    .chunks = flags.chunks,
                                    .reference = reference.engine.get(),
                                    .reference_logits = flags.reference_logits,
                                    .name = english(place_of(flags.file))};
  FOVEA_TRY(const PerplexityResult result,
            perplexity(*loaded.engine, text, settings, console.progress(), operation.token()));
  if (const std::string warning = precision_warning(*loaded.engine); !warning.empty()) console.note(warning);
  if (flags.json) {
    nlohmann::ordered_json object = {
        {"perplexity", result.perplexity}, {"standard_error", result.standard_error},
        {"tokens", result.tokens},         {"chunks", result.chunks},
        {"context", flags.load.context},   {"tok_per_s", result.tokens_per_second}};
    if (const auto& divergence = result.divergence) {
      object["kl"] = divergence->mean_kl;
      object["kl_standard_error"] = divergence->standard_error;
      object["top1_agreement"] = divergence->top1_agreement;
      object["reference_perplexity"] = divergence->reference_perplexity;
    }
    for (const WindowScore& window : result.windows) {
      object["window_nll"].push_back(window.nll);
      if (result.divergence) object["window_kl"].push_back(window.kl);
      if (flags.each_token) object["token_kl"].push_back(window.token_kl);
    }
    add_precision_use(object, *loaded.engine);
    return write_json(console, object);
  }
  FOVEA_CHECK(console.write(fmt::format(
      "perplexity {:.4f} ± {:.4f} over {} tokens in {} windows of {} ({:.1f} tok/s)\n", result.perplexity,
      result.standard_error, result.tokens, result.chunks, flags.load.context, result.tokens_per_second)));
  FOVEA_CHECK(console.write(precision_line(*loaded.engine)));
  if (!result.divergence) return {};
  return console.write(
      fmt::format("against {}: KL divergence {:.5f} ± {:.5f} nats, the same first choice at {:.2f} %, its "
                  "perplexity {:.4f}\n",
                  reference.engine ? flags.reference : flags.reference_logits.string(),
                  result.divergence->mean_kl, result.divergence->standard_error,
                  100 * result.divergence->top1_agreement, result.divergence->reference_perplexity));
}

}  // namespace

void add_perplexity(Registry& registry) {
  auto flags = std::make_shared<PerplexityFlags>();
  CLI::App* command = add_command(
      registry, "perplexity", "How well the model predicts a text; windows and scoring as llama-perplexity's",
      flags->json,
      "  perplexity      exp of the mean negative log-likelihood; standard_error belongs to it\n"
      "  tokens          scored: the second half of each window; chunks is the number of windows\n"
      "  tok_per_s       computed, the first halves included\n"
      "  context         tokens in a window\n"
      "  kl              with --against: mean divergence from that model's output in nats; "
      "kl_standard_error,\n"
      "                  top1_agreement: share of equal first choices; reference_perplexity: that model's\n"
      "  window_nll      of each window, the mean negative log-likelihood; window_kl: with --against, the "
      "mean\n"
      "                  divergence; token_kl: with --each-token, a list for each window\n" +
          std::string(precision_keys));
  add_model(*command, flags->model)->required();
  command->add_option("FILE", flags->file, "The text, - for standard input")->required();
  add_context(*command, flags->load, "Tokens in a window (default: 512)", min_window);
  command->add_option("--against", flags->reference, "A second model to compare the output with");
  command
      ->add_option(
          "--against-logits", flags->reference_logits,
          "Keep that model's output in this file, and take it from there when it exists, without opening the "
          "model (4 bytes for each scored token and word of the vocabulary)")
      ->needs("--against");
  command->add_flag("--each-token", flags->each_token, "With --json: the divergence of each scored token too")
      ->needs("--against")
      ->needs("--json");
  command->add_option("--chunks", flags->chunks, "Windows to compute (default: all)")
      ->check(number_between(1, 1 << 30));
  add_chunk(*command, flags->load);
  add_device(*command, flags->load.device, 2);
  add_threads(*command, flags->load);
  add_kv(*command, flags->load);
  add_precision(*command, flags->load.precision);
  command->callback([&registry, flags] {
    registry.chosen = [flags](Console& console, Interrupts& interrupts) {
      return print_perplexity(*flags, console, interrupts);
    };
  });
}

}  // namespace fovea::app
