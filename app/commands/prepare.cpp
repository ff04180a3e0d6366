// fovea prepare MODEL: the store that holds every version of every weight unit.
#include "engine/api/prepare.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <spdlog/fmt/fmt.h>

#include "app/commands/errors.h"
#include "app/commands/flags.h"
#include "app/commands/loading.h"
#include "app/commands/text_input.h"
#include "app/files/files.h"
#include "app/library/stores.h"
#include "engine/api/sentence.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

struct PrepareFlags {
  std::string model, out, text;
  PrepareRequest request;
  int scope = 0;  // PrepareScope
  bool divergence = false, no_divergence = false;
  bool json = false;
};

nlohmann::ordered_json number_or_null(double value) {
  return value < 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(value);
}

nlohmann::ordered_json as_json(const std::optional<CloserTier>& found) {
  if (!found) return nullptr;
  return {{"tier", found->tier},
          {"weight_error", found->weight_error},
          {"closer", found->closer},
          {"closer_weight_error", found->closer_weight_error}};
}

nlohmann::ordered_json as_json(const PrepareReport& report, const std::optional<CloserTier>& closer) {
  nlohmann::ordered_json tiers = nlohmann::ordered_json::array();
  for (const PreparedTier& tier : report.tiers) {
    tiers.push_back({{"name", tier.name},
                     {"bits_per_weight", tier.bits_per_weight},
                     {"bytes", tier.bytes},
                     {"weight_error_mean", tier.weight_error_mean},
                     {"weight_error_max", tier.weight_error_max},
                     {"output_error_mean", number_or_null(tier.output_error_mean)},
                     {"output_error_max", number_or_null(tier.output_error_max)},
                     {"divergence_mean", number_or_null(tier.divergence_mean)}});
  }
  return {{"path", report.path.string()},  {"bytes", report.bytes},
          {"units", report.units},         {"tiers", tiers},
          {"seconds", report.seconds},     {"calibrated_units", report.calibrated_units},
          {"was_there", report.was_there}, {"closer_tier", as_json(closer)}};
}

std::string percent(double share) {
  return share < 0 ? "-" : fmt::format("{:.2f} %", 100 * share);
}

std::string for_people(const PrepareReport& report) {
  std::string text = fmt::format("store  {}\nsize   {}, {} units\n", report.path.string(),
                                 size_text(report.bytes), report.units);
  text += fmt::format("\n{:<6} {:>11} {:>12} {:>13} {:>13} {:>13}\n", "tier", "bits/weight", "size",
                      "weight error", "output error", "divergence");
  for (const PreparedTier& tier : report.tiers) {
    text +=
        fmt::format("{:<6} {:>11.3f} {:>12} {:>13} {:>13} {:>13}\n", tier.name, tier.bits_per_weight,
                    size_text(tier.bytes), percent(tier.weight_error_mean), percent(tier.output_error_mean),
                    tier.divergence_mean < 0 ? "-" : fmt::format("{:.2e}", tier.divergence_mean));
  }
  if (report.calibrated_units > 0 && report.calibrated_units < report.units)
    text += fmt::format("\nThe text reached {} units; the other {} were made without calibration.\n",
                        report.calibrated_units, report.units - report.calibrated_units);
  if (report.was_there) {
    const bool unmeasured = report.calibrated_units > 0 && report.tiers.back().divergence_mean < 0;
    return text + fmt::format("\nIt was there already{}; --rebuild makes it again.\n",
                              unmeasured ? ", without divergences" : "");
  }
  return text + fmt::format("\nmade in {:.1f} s\n", report.seconds);
}

Result<void> run_prepare(const PrepareFlags& flags, Console& console, Interrupts& interrupts) {
  const Interrupts::Operation operation(interrupts);
  PrepareRequest request = flags.request;
  request.scope = static_cast<PrepareScope>(flags.scope);
  FOVEA_TRY(request.model, find_model(flags.model));
  if (!flags.text.empty()) {
    FOVEA_TRY(request.calibration.text, read_file(flags.text, text_limit_bytes));
    if (request.calibration.text.empty())
      return fail(place_of(flags.text), errors::nothing_to_calibrate_on());
  }
  if (flags.no_divergence) request.calibration.divergence_tokens = 0;
  if (flags.divergence && request.calibration.divergence_tokens < 0)
    request.calibration.divergence_tokens = usual_divergence_tokens;
  FOVEA_TRY(const StorePlan plan, describe_store(request));
  request.store = flags.out.empty() ? stores_folder() / plan.name : std::filesystem::path(flags.out);
  std::error_code ignored;
  std::optional<CloserTier> closer;
  if (request.rebuild || !std::filesystem::exists(request.store, ignored)) {
    console.note(fmt::format("{}: {} units need {} bytes ({}) on the disk", request.store.string(),
                             plan.units, plan.bytes, size_text(plan.bytes)));
    FOVEA_TRY(closer, closer_tier(request));
    if (closer)
      console.note(fmt::format(
          "{} would suit these weights better than {} with as many bits: on a sample its "
          "error is {} instead of {}",
          closer->closer, closer->tier, percent(closer->closer_weight_error), percent(closer->weight_error)));
  }
  const auto report = prepare(request, console.progress(), operation.token());
  console.clear_progress();
  if (!report) return std::unexpected(report.error());
  return flags.json ? write_json(console, as_json(*report, closer)) : console.write_text(for_people(*report));
}

void add_calibration(CLI::App& command, PrepareFlags& flags) {
  CalibrationRequest& calibration = flags.request.calibration;
  CLI::Option* text = command.add_option("--calibrate", flags.text,
                                         "A text that the model reads first, to learn what matters");
  command
      .add_option("--calibrate-tokens", calibration.tokens,
                  "Tokens of it, in windows spread over it (default: 16384)")
      ->check(number_between(16, 1 << 30))
      ->needs(text);
  command
      .add_flag(
          "--divergence", flags.divergence,
          "Measure what each tier costs: how far it moves the model's output. Models with experts are "
          "measured anyway, a layer at a time; of others each version is measured alone, which takes hours")
      ->needs(text);
  CLI::Option* none = command
                          .add_flag("--no-divergence", flags.no_divergence,
                                    "Do not measure it; estimate it from the errors of the experts' outputs")
                          ->excludes("--divergence")
                          ->needs(text);
  command
      .add_option("--divergence-tokens", calibration.divergence_tokens,
                  "Measure it, on so many tokens (default: 256)")
      ->check(number_between(16, 1 << 20))
      ->excludes(none)
      ->needs(text);
}

}  // namespace

void add_prepare(Registry& registry) {
  auto flags = std::make_shared<PrepareFlags>();
  CLI::App* command = add_command(
      registry, "prepare", "Write the store that holds a model's experts (or linear layers) at several tiers",
      flags->json,
      "  path, bytes, units  the store's file, its size, and how many units it holds\n"
      "  tiers               from high to low: name, bits_per_weight, bytes, weight_error_mean and _max "
      "(relative,\n"
      "                      of a unit), output_error_mean and _max (on the text), divergence_mean (nats); "
      "null\n"
      "                      where it was not measured\n"
      "  calibrated_units    that the text reached\n"
      "  seconds             of the whole work\n"
      "  was_there           the store was there already, and nothing was done\n"
      "  closer_tier         where another tier of as many bits would be clearly closer to the weights, on a "
      "sample:\n"
      "                      tier, weight_error, closer, closer_weight_error; else null, as where the store "
      "was there\n");
  add_model(*command, flags->model)->required();
  command
      ->add_option("--tiers", flags->request.tiers,
                   "From high to low, separated by commas: file (as the model has it), bf16, q8, q4, q4e … "
                   "(default: file and the next two lower ones)")
      ->delimiter(',');
  add_calibration(*command, *flags);
  command->add_option("--out", flags->out, "The store's file (default: in the data folder, under stores/)");
  take_one_of(command->add_option(
                  "--scope", flags->scope,
                  "What the units are: experts, or linear (each linear layer; the default of dense models)"),
              {{"experts", int(PrepareScope::experts)}, {"linear", int(PrepareScope::linear_layers)}});
  command->add_flag("--rebuild", flags->request.rebuild, "Make it again, whatever store is there");
  add_device(*command, flags->request.device);
  command->add_option("--threads", flags->request.threads, "Threads (default: the physical cores)")
      ->check(number_between(1, 1024));
  command->callback([&registry, flags] {
    registry.chosen = [flags](Console& console, Interrupts& interrupts) {
      return run_prepare(*flags, console, interrupts);
    };
  });
}

}  // namespace fovea::app
