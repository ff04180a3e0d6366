// fovea inspect MODEL: what a file or folder holds.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include "app/commands/flags.h"
#include "app/commands/loading.h"
#include "app/library/model_info_json.h"
#include "engine/api/model_info.h"
#include "engine/api/plan.h"
#include "engine/api/prepare.h"
#include "engine/api/sentence.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

struct InspectFlags {
  std::string model;
  std::vector<std::string> divergence;  // tiers
  bool json = false;
};

std::string line(const std::string& name, const std::string& value) {
  return name + std::string(name.size() < 14 ? 14 - name.size() : 1, ' ') + value + "\n";
}

// Where it can be run: what decoding a token reads of the file, and what a unit takes at each tier that is no
// larger than it is there.
struct Sizes {
  TokenPart token;
  std::vector<PlanTier> tiers;
};

std::optional<Sizes> sizes_of(const std::filesystem::path& model) {
  constexpr std::int64_t plenty = std::int64_t{1} << 50;
  const auto whole = plan_model({.model = model});
  const auto tiers =
      plan_model({.model = model, .precision = {.policy = PolicyKind::static_tiers, .budget_bytes = plenty}});
  if (!whole || !tiers) return std::nullopt;
  return Sizes{.token = whole->device_part, .tiers = tiers->plan.parts.experts};
}

std::string size(double bytes) {
  return size_text(static_cast<std::int64_t>(bytes));
}

Result<std::vector<UnitDivergence>> divergences_of(const InspectFlags& flags,
                                                   const std::filesystem::path& model) {
  if (flags.divergence.empty()) return std::vector<UnitDivergence>();
  return weight_divergences(model, flags.divergence);
}

std::string for_people(const std::vector<UnitDivergence>& units, const std::vector<std::string>& tiers) {
  std::string text;
  for (const UnitDivergence& unit : units) {
    std::string each;
    for (std::size_t tier = 0; tier < tiers.size(); ++tier)
      each += (each.empty() ? "" : ", ") + fmt::format("{:.6f} at {}", unit.tiers[tier], tiers[tier]);
    text += line(unit.unit, each);
  }
  return text;
}

std::string for_people(const Sizes& sizes, bool has_experts) {
  std::string text =
      line("for a token", size(sizes.token.bytes()) + " read" +
                              (has_experts ? ", " + size(sizes.token.dense_bytes) + " dense and " +
                                                 size(sizes.token.expert_bytes) + " of experts"
                                           : ""));
  std::string each;
  for (const PlanTier& tier : sizes.tiers)
    each += (each.empty() ? "" : ", ") + size_text(tier.unit_bytes) + " at " + tier.name;
  return text + line(has_experts ? "an expert" : "a linear layer", each);
}

std::string for_people(const ModelInfo& info) {
  std::string text = line("name", info.name) + line("file", info.path.string()) +
                     line("format", info.format) + line("architecture", info.architecture) +
                     line("layers", std::to_string(info.layers)) + line("width", std::to_string(info.hidden));
  text += line("attention", fmt::format("{} heads of {}, {} for keys and values", info.heads, info.head_dim,
                                        info.kv_heads));
  text += line("experts", info.experts > 0 ? fmt::format("{} in each layer, {} for each token", info.experts,
                                                         info.experts_used)
                                           : "none (dense)");
  text += line("vocabulary", std::to_string(info.vocabulary)) +
          line("context",
               info.extended_context > info.context
                   ? fmt::format("{} tokens, can be stretched to {}", info.context, info.extended_context)
                   : fmt::format("{} tokens", info.context));
  text += line("parameters",
               fmt::format("{:.1f} M, {:.1f} M read for a token", static_cast<double>(info.parameters) / 1e6,
                           static_cast<double>(info.parameters_active) / 1e6));
  std::string types;
  for (const auto& [type, bytes] : info.bytes_by_type) {
    types += (types.empty() ? "" : ", ") + type + " " + size_text(bytes);
  }
  text += line("weights", size_text(info.bytes) + (types.empty() ? "" : " (" + types + ")"));
  if (!info.conversion.empty()) text += line("converted", english(info.conversion));
  std::string knows;
  if (info.can_switch_thinking) knows += "; thinking can be switched (--thinking)";
  if (info.has_effort) knows += "; it has an effort (--effort)";
  return text + line("chat template", info.has_chat_template ? "yes" + knows : "no");
}

Result<void> print_info(const InspectFlags& flags, Console& console) {
  FOVEA_TRY(auto path, find_model(flags.model));
  FOVEA_TRY(auto info, inspect(path));
  FOVEA_TRY(const auto divergences, divergences_of(flags, path));
  const auto sizes = sizes_of(path);
  if (!flags.json)
    return console.write_text(for_people(info) +
                              (sizes ? for_people(*sizes, info.experts > 0) : std::string()) +
                              for_people(divergences, flags.divergence));
  auto object = app::as_json(info);
  if (sizes) {
    object["dense_bytes_per_token"] = static_cast<std::int64_t>(sizes->token.dense_bytes);
    object["expert_bytes_per_token"] = static_cast<std::int64_t>(sizes->token.expert_bytes);
    for (const PlanTier& tier : sizes->tiers) object["unit_bytes"][tier.name] = tier.unit_bytes;
  }
  for (const UnitDivergence& unit : divergences) {
    auto& each = object["weight_divergence"].emplace_back(nlohmann::ordered_json{{"unit", unit.unit}});
    for (std::size_t tier = 0; tier < unit.tiers.size(); ++tier)
      each[flags.divergence[tier]] = unit.tiers[tier];
  }
  return write_json(console, object);
}

}  // namespace

void add_inspect(Registry& registry) {
  auto flags = std::make_shared<InspectFlags>();
  CLI::App* command = add_command(
      registry, "inspect", "What a model file or folder holds, without reading its weights", flags->json,
      "  architecture       the family: llama, qwen2, qwen3, qwen2_moe, qwen3_moe, mixtral\n"
      "  layers             number of layers\n"
      "  experts            in each layer, 0 when dense\n"
      "  experts_used       of them, for one token\n"
      "  context            trained context length, tokens; extended_context: the longest that the rotary\n"
      "                     scaling is made for\n"
      "  parameters         all\n"
      "  parameters_active  read for one token\n"
      "  bytes              of all tensors, in the types that Fovea holds; bytes_by_type tells each type's\n"
      "  conversion         what GPTQ, AWQ and AutoRound layers become, and whether that loses anything\n"
      "  dense_bytes_per_token, expert_bytes_per_token  read for one token, of the experts those it uses\n"
      "  unit_bytes         of one expert (of a dense model: of one linear layer, the mean) at each tier\n"
      "  weight_divergence  with --weight-divergence: unit, and for each tier the KL divergence in nats\n"
      "  can_switch_thinking, has_effort  whether the chat template knows --thinking and --effort of fovea "
      "chat\n"
      "  and path, name, format, hidden, heads, kv_heads, head_dim, vocabulary, chat_template\n");
  add_model(*command, flags->model)->required();
  command
      ->add_option(
          "--weight-divergence", flags->divergence,
          "How far these tiers, as q8,q4, move the distribution of each linear layer's weights: what "
          "flexquant goes by. Reads weights")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->callback([&registry, flags] {
    registry.chosen = [flags](Console& console, Interrupts&) { return print_info(*flags, console); };
  });
}

}  // namespace fovea::app
