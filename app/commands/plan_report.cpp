#include "app/commands/plan_report.h"

#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include "app/commands/errors.h"
#include "app/library/devices_json.h"
#include "engine/api/sentence.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

// Where what is not on the device lives.
const char* elsewhere(const LoadPlan& report) {
  return report.host_computes ? "host" : "disk";
}

// Layer after layer, which of its units begin at which tier.
nlohmann::ordered_json units_of_layers(const LoadPlan& report) {
  nlohmann::ordered_json layers = nlohmann::json::array();
  for (std::size_t layer = 0; layer + 1 < report.first_unit.size(); ++layer) {
    nlohmann::ordered_json& tiers = layers.emplace_back(nlohmann::json::object());
    for (std::int32_t unit = report.first_unit[layer]; unit < report.first_unit[layer + 1]; ++unit) {
      const std::uint8_t tier = report.unit_tiers[static_cast<std::size_t>(unit)];
      const std::string name =
          tier == not_on_device ? elsewhere(report) : report.plan.parts.experts[tier].name;
      tiers[name].push_back(unit - report.first_unit[layer]);
    }
  }
  return layers;
}

nlohmann::ordered_json parts_json(const Plan::Parts& parts) {
  nlohmann::ordered_json experts = nlohmann::json::object();
  for (const PlanTier& tier : parts.experts) experts[tier.name] = tier.bytes;
  return {{"dense", parts.dense},
          {"experts", experts},
          {"kv", parts.kv},
          {"windows", parts.windows},
          {"states", parts.states},
          {"activations", parts.activations},
          // Versions are read straight to their place, or beside a card through pinned main memory.
          {"transfer", 0},
          {"safety", parts.safety}};
}

}  // namespace

nlohmann::ordered_json plan_json(const LoadPlan& report, std::int64_t prompt_tokens) {
  const Plan& plan = report.plan;
  nlohmann::ordered_json units = nlohmann::json::object(), bits = units, each = units;
  for (const PlanTier& tier : plan.parts.experts) {
    units[tier.name] = tier.units;
    bits[tier.name] = tier.bits_per_weight;
    each[tier.name] = tier.unit_bytes;
  }
  for (const PlanTier& tier : plan.first_card.parts.experts)
    units[tier.name] = units.value(tier.name, std::int64_t{0}) + tier.units;
  units[elsewhere(report)] = report.units_offloaded;
  return {{"fits", plan.fits},
          {"budget_bytes", plan.budget_bytes},
          {"total_bytes", plan.total_bytes},
          {"least_bytes", plan.min_bytes},
          {"parts", parts_json(plan.parts)},
          {"host_bytes", plan.host_bytes},
          {"host_parts",
           {{"weights", plan.host.weights},
            {"kv", plan.host.kv},
            {"transfer", plan.host.transfer},
            {"exchange", plan.host.exchange}}},
          {"first_card",
           {{"layers", plan.first_card.layers},
            {"fits", plan.first_card.fits},
            {"budget_bytes", plan.first_card.budget_bytes},
            {"total_bytes", plan.first_card.total_bytes},
            {"least_bytes", plan.first_card.min_bytes},
            {"parts", parts_json(plan.first_card.parts)}}},
          {"host_available_bytes", plan.host_available_bytes},
          {"host_cache_bytes", plan.host_cache_bytes},
          {"device_ms_per_token", report.device_part.ms()},
          {"host_ms_per_token", report.host_part.ms()},
          {"device_bytes_per_token", report.device_part.bytes()},
          {"host_bytes_per_token", report.host_part.bytes()},
          {"disk_bytes_per_token", report.disk_bytes_per_token},
          {"dense_bytes_per_token", report.device_part.dense_bytes + report.host_part.dense_bytes},
          {"expert_bytes_per_token", report.device_part.expert_bytes + report.host_part.expert_bytes},
          {"device_gb_per_s", report.device_part.gb_per_s},
          {"device_gop_per_s", report.prompt.device.gop_per_s},
          {"prompt_tokens", prompt_tokens},
          {"first_token_ms", 1e3 * report.first_token_seconds(prompt_tokens)},
          {"assumed_link_gb_per_s", report.prompt.brought_bytes > 0 ? report.prompt.link_gb_per_s : 0},
          {"units", units},
          {"advice", english(plan.advice)},
          {"notes", english(plan.notes)},
          {"model", report.model},
          {"devices", devices_json(report)},
          {"policy", name_in(policy_names, report.policy())},
          {"context", report.options.context},
          {"kv_type", name_in(kv_names, report.options.kv)},
          {"chunk", report.options.chunk},
          {"bits_per_weight", bits},
          {"mean_bits_per_weight", plan.mean_bits_per_weight},
          {"unit_bytes", each},
          {"high_per_layer", plan.high_per_layer},
          {"units_per_layer", report.units_per_layer},
          {"cpu_moe_layers", report.cpu_moe_layers},
          {"host_layers", report.options.host_layers},
          {"units_cached", plan.units_cached},
          {"arena_bytes", plan.arena_bytes},
          {"slab_bytes", plan.slab_bytes},
          {"layers", units_of_layers(report)},
          {"basis",
           {{"device_free_bytes", report.basis.device_free_bytes},
            {"first_free_bytes", report.basis.first_free_bytes},
            {"main_memory_free_bytes", report.basis.main_memory_free_bytes},
            {"store", report.basis.store_fingerprint}}}};
}

std::string served_plan(const LoadPlan& plan) {
  constexpr std::int64_t prompt_tokens = 1024;
  return plan_json(plan, prompt_tokens).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

const char* const plan_keys =
    "  fits           whether it stays within the budget; if not, the exit code is 1\n"
    "  budget_bytes   the budget; total_bytes is what the plan takes of it, least_bytes what would do\n"
    "  parts          bytes: dense (weights that are no units), experts (by tier: the units, with slab\n"
    "                 rounding and spare blocks), kv (of the layers that see all of the context), windows\n"
    "                 (of the others) and states (of recurrent layers), both with what there is to return\n"
    "                 to, activations, transfer (0: swaps need no room of the device's), safety; they add\n"
    "                 up to total_bytes\n"
    "  host_bytes     main memory beside a card, not in the total: the sum of host_parts, which are "
    "weights\n"
    "                 (that the processor computes with), kv (of the layers that it computes whole),\n"
    "                 transfer (the buffer of swaps) and exchange (what passes send and receive)\n"
    "  first_card     of two cards the one that has the first layers (layers 0: there is one card): fits, "
    "budget_bytes,\n"
    "                 total_bytes, least_bytes and parts as above, which are the other card's\n"
    "  host_available_bytes  that there are for it; 0: not looked at\n"
    "  host_cache_bytes      on top, as it is needed: versions that swaps have read stay in so much\n"
    "  device_ms_per_token, host_ms_per_token  what reading the weights of a token takes at least on the "
    "device\n"
    "                 and beside a card, 0 where the speed is not known; and device_bytes_per_token, "
    "host_bytes_per_token;\n"
    "                 of both together dense_bytes_per_token and expert_bytes_per_token\n"
    "  disk_bytes_per_token  of experts that are read from the disk, if memory keeps the likeliest\n"
    "  first_token_ms until the first token behind prompt_tokens at least; 0: not known. It and the times "
    "above\n"
    "                 are of device_gb_per_s and device_gop_per_s, and it of assumed_link_gb_per_s where "
    "long prompts\n"
    "                 bring experts to the card; 0: they do not\n"
    "  units          their number by tier, and on the host or on disk; unit_bytes: what one takes there;\n"
    "                 layers: which of each layer's units begin at which tier\n"
    "  basis          what the plan rests on: device_free_bytes, first_free_bytes (of two cards) and\n"
    "                 main_memory_free_bytes, which were free beside a card, and the store by its "
    "fingerprint (empty: there is none, all units count "
    "as\n"
    "                 hurt alike)\n"
    "  advice         what a gigabyte more buys, or what to change, one sentence each; notes: what to "
    "know\n"
    "  devices        names, of two cards the one with the first layers first: of each layers, total_bytes "
    "and\n"
    "                 budget_bytes\n"
    "  and model, policy, context, kv_type, chunk, bits_per_weight (by tier), mean_bits_per_weight,\n"
    "  high_per_layer, units_per_layer, cpu_moe_layers, host_layers (the first ones, "
    "whole),\n"
    "                 units_cached, arena_bytes, slab_bytes\n";

namespace {

std::string row(const std::string& name, std::int64_t bytes, const std::string& more = {}) {
  return fmt::format("  {:<20}{:>12}{:>17}{}{}\n", name, size_text(bytes), bytes, more.empty() ? "" : "   ",
                     more);
}

std::string summary(const LoadPlan& report) {
  const Plan& plan = report.plan;
  std::string text;
  if (report.policy() == PolicyKind::dynaexq && plan.parts.experts.size() > 1 && plan.first_card.layers == 0)
    text += fmt::format("In each layer {} of {} experts are at {}. ", plan.high_per_layer,
                        report.units_per_layer, plan.parts.experts.front().name);
  if (report.policy() == PolicyKind::fovea) {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < plan.parts.experts.size(); ++i) {
      const PlanTier& tier = plan.parts.experts[i];
      const auto& other = plan.first_card.parts.experts;  // of two cards the same tiers
      const std::int64_t units = tier.units + (i < other.size() ? other[i].units : 0);
      if (units > 0) parts.push_back(fmt::format("{} at {}", units, tier.name));
    }
    if (parts.size() > 1)
      text += fmt::format("Experts: {}; the conversation decides which. ", fmt::join(parts, ", "));
  }
  if (plan.mean_bits_per_weight > 0)
    text += fmt::format("{:.2f} bits per weight of what is on the device.", plan.mean_bits_per_weight);
  return text.empty() ? text : "\n" + text + "\n";
}

std::string tier_rows(const Plan::Parts& parts, const char* indent) {
  std::string text;
  for (const PlanTier& tier : parts.experts)
    text += row(indent + ("units at " + tier.name), tier.bytes,
                fmt::format("{} units of {}, {:.2f} bits per weight", tier.units, size_text(tier.unit_bytes),
                            tier.bits_per_weight));
  return text;
}

std::string of_what_there_is(std::int64_t bytes, std::int64_t available) {
  return fmt::format("of {}: {}", size_text(available), bytes <= available ? "fits" : "does not fit");
}

// Then main memory has all experts, and nothing comes from a store.
bool only_changes_places(const LoadPlan& report) {
  return report.host_computes && moves_experts(report.policy()) && report.units_offloaded > 0 &&
         report.plan.parts.experts.size() == 1;
}

std::string beside_the_card(const LoadPlan& report) {
  const Plan& plan = report.plan;
  std::string text;
  const std::int64_t layers = report.options.host_layers;
  if (const Plan::FirstCard& first = plan.first_card; first.layers > 0) {
    text += row("on the first card", first.total_bytes,
                fmt::format("the first {} {}; {}", first.layers, first.layers == 1 ? "layer" : "layers",
                            of_what_there_is(first.total_bytes, first.budget_bytes)));
    text += row("  dense weights", first.parts.dense) + tier_rows(first.parts, "  ");
    text += row("  KV cache", first.parts.kv) + row("  activations", first.parts.activations) +
            row("  safety", first.parts.safety);
  }
  if (layers > 0 && plan.first_card.layers == 0) {
    const std::int64_t others = report.units_offloaded - report.first_unit[static_cast<std::size_t>(layers)];
    text += row("weights on the host", plan.host.weights,
                fmt::format("the first {} layers{}, computed by the processor", layers,
                            others > 0 ? fmt::format(", {} units of others", others) : ""));
    text += row("their KV cache", plan.host.kv);
  } else if (report.units_offloaded > 0) {
    text += row("units on the host", plan.host.weights,
                only_changes_places(report)
                    ? fmt::format("all {} units, {} at a time computed by the processor", report.units(),
                                  report.units_offloaded)
                    : fmt::format("{} units, computed by the processor", report.units_offloaded));
  }
  if (plan.host.transfer > 0) text += row("buffer of swaps", plan.host.transfer);
  text += row("buffers of passes", plan.host.exchange);
  return text +
         row("main memory", plan.host_bytes,
             plan.host_available_bytes > 0 ? of_what_there_is(plan.host_bytes, plan.host_available_bytes)
                                           : std::string()) +
         (plan.host_cache_bytes > 0
              ? row("kept of versions", plan.host_cache_bytes, "at most, of what is left, as swaps read them")
              : std::string());
}

std::string part_of_token(const char* name, const TokenPart& part) {
  std::string text =
      fmt::format("  {:<20}{:>12} for each token", name, size_text(static_cast<std::int64_t>(part.bytes())));
  if (part.dense_bytes > 0 && part.expert_bytes > 0)
    text +=
        fmt::format(", {} dense and {} of experts", size_text(static_cast<std::int64_t>(part.dense_bytes)),
                    size_text(static_cast<std::int64_t>(part.expert_bytes)));
  if (part.gb_per_s == 0) return text + "; --device-bandwidth tells how long that takes\n";
  return text + fmt::format(": at least {:.2f} ms at {:.1f} GB/s\n", part.ms(), part.gb_per_s);
}

// The parts overlap at best, and what crosses in each layer comes on top.
std::string times(const LoadPlan& report, std::int64_t prompt_tokens) {
  std::string text = "\nWeights read by decoding, every expert used alike:\n" +
                     part_of_token(report.host_computes              ? "device part"
                                   : report.disk_bytes_per_token > 0 ? "from memory"
                                                                     : "all",
                                   report.device_part);
  if (report.host_part.bytes() > 0) text += part_of_token("host part", report.host_part);
  if (report.disk_bytes_per_token > 0)
    text += fmt::format("  {:<20}{:>12} for each token, if memory keeps the likeliest experts\n",
                        "from the disk", size_text(static_cast<std::int64_t>(report.disk_bytes_per_token)));
  if (const double seconds = report.first_token_seconds(prompt_tokens); seconds > 0)
    text += fmt::format("The first token behind a prompt of {} tokens comes after {:.2f} s at least{}.\n",
                        prompt_tokens, seconds,
                        report.prompt.brought_bytes > 0
                            ? fmt::format(", assuming {:.0f} GB/s to the card", report.prompt.link_gb_per_s)
                            : "");
  return text;
}

// What the plan rests on.
std::string basis(const LoadPlan& report) {
  std::string text;
  if (report.basis.device_free_bytes > 0)
    text += fmt::format("{} of the card's memory", size_text(report.basis.device_free_bytes));
  if (report.basis.main_memory_free_bytes > 0)
    text += fmt::format("{}{} of main memory", text.empty() ? "" : ", ",
                        size_text(report.basis.main_memory_free_bytes));
  if (report.policy() != PolicyKind::none && !only_changes_places(report)) {
    text += text.empty() ? "" : ", ";
    text += report.basis.store_fingerprint.empty()
                ? "no store yet: uniform harm (each unit counts as hurt alike by a lower tier)"
                : "the store " + report.basis.store_fingerprint;
  }
  return text.empty() ? text : "\nIt rests on " + text + ".\n";
}

}  // namespace

std::string plan_text(const LoadPlan& report, std::int64_t prompt_tokens) {
  const Plan& plan = report.plan;
  std::string text = fmt::format("{}: policy {}, {} tokens of context ({}), passes of {}\n\n", report.model,
                                 name_in(policy_names, report.policy()), report.options.context,
                                 name_in(kv_names, report.options.kv), report.options.chunk);
  text += row("dense weights", plan.parts.dense);
  text += tier_rows(plan.parts, "");
  if (report.units_offloaded > 0 && !report.host_computes)
    text += row("units on the disk", 0,
                fmt::format("{} units, read when they are needed; memory keeps {} of them at a time",
                            report.units_offloaded, plan.units_cached));
  text += row("KV cache", plan.parts.kv);
  if (plan.parts.windows > 0)
    text += row("windows", plan.parts.windows, "what layers with a window see, and what to return to");
  if (plan.parts.states > 0)
    text += row("recurrent state", plan.parts.states, "the running one, and what to return to");
  text += row("activations", plan.parts.activations);
  if (plan.parts.safety > 0) text += row("safety", plan.parts.safety);
  const bool limited = report.options.precision.budget_bytes > 0 || report.host_computes;
  text += row("total", plan.total_bytes,
              limited ? of_what_there_is(plan.total_bytes, plan.budget_bytes) : std::string());
  if (report.host_computes) text += "\n" + beside_the_card(report);
  text += times(report, prompt_tokens) + summary(report) + basis(report);
  if (!plan.advice.empty()) text += plan.fits ? "\n" : "\nWhat to change, each alone:\n";
  for (const Phrase& advice : plan.advice) text += (plan.fits ? "" : "  ") + english(advice) + "\n";
  if (!plan.notes.empty()) text += "\n";
  for (const Phrase& note : plan.notes) text += english(note) + "\n";
  return text;
}

Result<void> check_fits(const LoadPlan& report) {
  const Plan& plan = report.plan;
  if (plan.fits) return {};
  if (const Plan::FirstCard& first = plan.first_card; first.layers > 0 && !first.fits)
    return fail(phrases::plan_place(),
                errors::plan_beyond_budget(Bytes{first.total_bytes}, Bytes{first.budget_bytes},
                                           Bytes{first.min_bytes}));
  if (plan.total_bytes <= plan.budget_bytes)
    return fail(phrases::plan_place(),
                errors::plan_beyond_main_memory(Bytes{plan.host_bytes}, Bytes{plan.host_available_bytes})
                    .advise(plan.advice.back()));
  return fail(
      phrases::plan_place(),
      errors::plan_beyond_budget(Bytes{plan.total_bytes}, Bytes{plan.budget_bytes}, Bytes{plan.min_bytes}));
}

}  // namespace fovea::app
