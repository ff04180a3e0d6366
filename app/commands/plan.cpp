// fovea plan MODEL: what a model would take on a device, and what more or less memory would change.
#include "engine/api/plan.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include "app/commands/loading.h"
#include "app/commands/precision_flags.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

struct PlanFlags {
  std::string model, shape;
  LoadFlags load;
  PrecisionFlags precision;
  std::int64_t device_memory_bytes = 0, main_memory_bytes = 0;
  double device_gb_per_s = 0;
  std::string dense = "bf16";
  bool json = false;
};

bool has_card(const PlanFlags& flags) {
  return flags.device_memory_bytes > 0 || names_gpu(flags.load);
}

const char* kv_name(KvType kv) {
  return kv == KvType::f32 ? "f32" : kv == KvType::f16 ? "f16" : "q8";
}

// Where what is not on the device lives.
const char* elsewhere(const PlanReport& report) {
  return report.host_computes ? "host" : "disk";
}

nlohmann::ordered_json as_json(const PlanReport& report) {
  const Plan& plan = report.plan;
  nlohmann::ordered_json experts = nlohmann::json::object(), units = experts, bits = experts;
  for (const PlanTier& tier : plan.parts.experts) {
    experts[tier.name] = tier.bytes;
    units[tier.name] = tier.units;
    bits[tier.name] = tier.bits_per_weight;
  }
  units[elsewhere(report)] = report.units_offloaded;
  return {
      {"fits", plan.fits},
      {"budget_bytes", plan.budget_bytes},
      {"total_bytes", plan.total_bytes},
      {"least_bytes", plan.least_bytes},
      {"parts",
       {{"dense", plan.parts.dense},
        {"experts", experts},
        {"kv", plan.parts.kv},
        {"activations", plan.parts.activations},
        // Versions are read straight to their place, or beside a card through pinned main memory.
        {"transfer", 0},
        {"safety", plan.parts.safety}}},
      {"host_bytes", plan.host_bytes},
      {"host_parts",
       {{"weights", plan.host.weights}, {"transfer", plan.host.transfer}, {"exchange", plan.host.exchange}}},
      {"host_available_bytes", plan.host_available_bytes},
      {"device_ms_per_token", report.device_part.ms_per_token()},
      {"host_ms_per_token", report.host_part.ms_per_token()},
      {"device_bytes_per_token", report.device_part.bytes_per_token},
      {"host_bytes_per_token", report.host_part.bytes_per_token},
      {"units", units},
      {"advice", plan.advice},
      {"notes", english(plan.notes)},
      {"model", report.model},
      {"policy", policy_name(report.policy)},
      {"context", report.context},
      {"kv_type", kv_name(report.kv)},
      {"chunk", report.chunk},
      {"bits_per_weight", bits},
      {"mean_bits_per_weight", plan.mean_bits_per_weight},
      {"high_per_layer", plan.high_per_layer},
      {"units_per_layer", report.units_per_layer},
      {"cpu_moe_layers", report.cpu_moe_layers},
      {"arena_bytes", plan.arena_bytes},
      {"slab_bytes", plan.slab_bytes}};
}

std::string size(std::int64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes >= std::int64_t{1} << 30) return fmt::format("{:.2f} GiB", value / (1 << 30));
  if (bytes >= 1 << 20) return fmt::format("{:.1f} MiB", value / (1 << 20));
  if (bytes >= 1 << 10) return fmt::format("{:.1f} KiB", value / (1 << 10));
  return fmt::format("{} bytes", bytes);
}

std::string row(const std::string& name, std::int64_t bytes, const std::string& more = {}) {
  return fmt::format("  {:<20}{:>12}{:>17}{}{}\n", name, size(bytes), bytes, more.empty() ? "" : "   ", more);
}

std::string summary(const PlanReport& report) {
  const Plan& plan = report.plan;
  std::string text;
  if (report.policy == PolicyKind::dynaexq && plan.parts.experts.size() > 1)
    text += fmt::format("In each layer {} of {} experts are at {}. ", plan.high_per_layer,
                        report.units_per_layer, plan.parts.experts.front().name);
  if (plan.mean_bits_per_weight > 0)
    text += fmt::format("{:.2f} bits per weight of what is on the device.", plan.mean_bits_per_weight);
  return text.empty() ? text : "\n" + text + "\n";
}

std::string of_what_there_is(std::int64_t bytes, std::int64_t available) {
  return fmt::format("of {}: {}", size(available), bytes <= available ? "fits" : "does not fit");
}

std::string beside_the_card(const PlanReport& report) {
  const Plan& plan = report.plan;
  std::string text;
  if (report.units_offloaded > 0)
    text += row("units on the host", plan.host.weights,
                fmt::format("{} units, computed by the processor", report.units_offloaded));
  if (plan.host.transfer > 0) text += row("buffer of swaps", plan.host.transfer);
  text += row("buffers of passes", plan.host.exchange);
  return text + row("main memory", plan.host_bytes,
                    plan.host_available_bytes > 0
                        ? of_what_there_is(plan.host_bytes, plan.host_available_bytes)
                        : std::string());
}

std::string part_of_token(const char* name, const TokenPart& part) {
  const std::string read = size(static_cast<std::int64_t>(part.bytes_per_token));
  if (part.gb_per_s == 0)
    return fmt::format("  {:<20}{:>12} for each token; --device-bandwidth tells how long that takes\n", name,
                       read);
  return fmt::format("  {:<20}{:>12} for each token, at least {:.2f} ms at {:.1f} GB/s\n", name, read,
                     part.ms_per_token(), part.gb_per_s);
}

// The parts overlap at best, and a crossing in each layer comes on top.
std::string time_of_token(const PlanReport& report) {
  if (report.host_part.bytes_per_token == 0) return {};
  return "\nWeights read by decoding, every expert used alike:\n" +
         part_of_token("device part", report.device_part) + part_of_token("host part", report.host_part);
}

std::string for_people(const PlanReport& report) {
  const Plan& plan = report.plan;
  std::string text =
      fmt::format("{}: policy {}, {} tokens of context ({}), passes of {}\n\n", report.model,
                  policy_name(report.policy), report.context, kv_name(report.kv), report.chunk);
  text += row("dense weights", plan.parts.dense);
  for (const PlanTier& tier : plan.parts.experts)
    text += row("units at " + tier.name, tier.bytes,
                fmt::format("{} units, {:.2f} bits per weight", tier.units, tier.bits_per_weight));
  if (report.units_offloaded > 0 && !report.host_computes)
    text += row("units on the disk", 0,
                fmt::format("{} units, read when they are needed", report.units_offloaded));
  text += row("KV cache", plan.parts.kv) + row("activations", plan.parts.activations);
  if (plan.parts.safety > 0) text += row("safety", plan.parts.safety);
  text += row("total", plan.total_bytes, of_what_there_is(plan.total_bytes, plan.budget_bytes));
  if (report.host_computes) text += "\n" + beside_the_card(report);
  text += time_of_token(report) + summary(report);
  if (!plan.advice.empty()) text += plan.fits ? "\n" : "\nWhat to change, each alone:\n";
  for (const std::string& advice : plan.advice) text += (plan.fits ? "" : "  ") + advice + "\n";
  if (!plan.notes.empty()) text += "\n";
  for (const Phrase& note : plan.notes) text += english(note) + "\n";
  return text;
}

Result<void> print_plan(const PlanFlags& flags, Console& console) {
  PlanSettings settings{.context = flags.load.context,
                        .kv = flags.load.kv,
                        .chunk = flags.load.chunk,
                        .precision = {},
                        .device = flags.load.device,
                        .device_memory_bytes = flags.device_memory_bytes,
                        .main_memory_bytes = flags.main_memory_bytes,
                        .device_gb_per_s = flags.device_gb_per_s,
                        .dense_tier = flags.dense};
  PrecisionFlags precision = flags.precision;
  if (precision.request.budget_bytes == 0) precision.request.budget_bytes = flags.device_memory_bytes;
  FOVEA_TRY(settings.precision, precision_request(precision, has_card(flags)));
  PlanReport report;
  if (flags.shape.empty()) {
    FOVEA_TRY(const auto path, find_model(flags.model));
    FOVEA_TRY(report, plan_model(path, settings));
  } else {
    FOVEA_TRY(report, plan_shape(flags.shape, settings));
  }
  FOVEA_CHECK(flags.json ? write_json(console, as_json(report)) : console.write_text(for_people(report)));
  if (report.plan.fits) return {};
  if (report.plan.total_bytes <= report.plan.budget_bytes)
    return fail(ErrorKind::memory, "the plan",
                fmt::format("{} of main memory beside the card are more than the {} that are available",
                            size(report.plan.host_bytes), size(report.plan.host_available_bytes)),
                report.plan.advice.back());
  return fail(ErrorKind::memory, "the plan",
              fmt::format("{} do not fit a budget of {}", size(report.plan.total_bytes),
                          size(report.plan.budget_bytes)),
              fmt::format("{} would do; the plan says what else to change", size(report.plan.least_bytes)));
}

}  // namespace

void add_plan(Registry& registry) {
  auto flags = std::make_shared<PlanFlags>();
  CLI::App* command = add_command(
      registry, "plan", "What a model would take on a device, byte by byte; reads no weights", flags->json,
      "  fits           whether it stays within the budget; if not, the exit code is 1\n"
      "  budget_bytes   the budget; total_bytes is what the plan takes of it, least_bytes what would do\n"
      "  parts          bytes: dense (weights that are no units), experts (by tier: the units, with slab\n"
      "                 rounding and spare blocks), kv, activations, transfer (0: swaps need no room of the\n"
      "                 device's), safety; they add up to total_bytes\n"
      "  host_bytes     main memory beside a card, not in the total: the sum of host_parts, which are "
      "weights\n"
      "                 (of the units that the processor computes), transfer (the buffer of swaps) and\n"
      "                 exchange (what passes send and receive)\n"
      "  host_available_bytes  that there are for it; 0: not looked at\n"
      "  device_ms_per_token, host_ms_per_token  beside a card: what reading the weights of a token takes "
      "there\n"
      "                 at least, 0 where the speed is not known; and device_bytes_per_token, "
      "host_bytes_per_token\n"
      "  units          their number by tier, and on the host or on disk\n"
      "  advice         what a gigabyte more buys, or what to change, one sentence each; notes: what to "
      "know\n"
      "  and model, policy, context, kv_type, chunk, bits_per_weight (by tier), mean_bits_per_weight,\n"
      "  high_per_layer, units_per_layer, cpu_moe_layers, arena_bytes, slab_bytes\n");
  add_model(*command, flags->model);
  std::string names;
  for (const std::string& name : shape_names()) names += (names.empty() ? "" : ", ") + name;
  CLI::Option* shape = command->add_option("--shape", flags->shape,
                                           "A published model instead of MODEL, without its file: " + names);
  add_device(*command, flags->load.device);
  take_size(command->add_option(
      "--device-memory", flags->device_memory_bytes,
      "Plan for a card with this memory, as 32GiB; the processor computes what is offloaded"));
  take_size(command->add_option(
      "--main-memory", flags->main_memory_bytes,
      "Main memory that is free beside the card, as 48GiB (default: what this machine has free; "
      "with --device-memory it is not looked at)"));
  command
      ->add_option(
          "--device-bandwidth", flags->device_gb_per_s,
          "How fast the card reads its memory in GB/s, as 1792, for the predicted time (default: what "
          "the device says)")
      ->check(number_between(1, 1e6));
  command
      ->add_option("--dense", flags->dense,
                   "With --shape: format of everything that is no expert, bf16, q8 or q4 (default: bf16)")
      ->needs(shape);
  add_context(*command, flags->load, "Tokens of context (default: the model's, at most 8192)");
  add_kv(*command, flags->load);
  add_chunk(*command, flags->load);
  add_precision(*command, flags->precision, false);
  command->callback([&registry, flags] {
    if (flags->model.empty() && flags->shape.empty()) throw CLI::RequiredError("MODEL or --shape");
    if (!flags->model.empty() && !flags->shape.empty()) throw CLI::ExcludesError("MODEL", "--shape");
    if ((flags->main_memory_bytes > 0 || flags->device_gb_per_s > 0) && !has_card(*flags))
      throw CLI::RequiresError("--main-memory or --device-bandwidth", "--device-memory or --device cuda:N");
    registry.chosen = [flags](Console& console, Interrupts&) { return print_plan(*flags, console); };
  });
}

}  // namespace fovea::app
