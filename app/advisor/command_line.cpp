#include "app/advisor/command_line.h"

#include <fmt/format.h>

#include "app/files/size_argument.h"
#include "app/library/device_choice.h"
#include "engine/core/shell_word.h"

namespace fovea::app {
namespace {

const char* policy_flag(PolicyKind policy) {
  switch (policy) {
    case PolicyKind::static_tiers:
      return "static";
    case PolicyKind::dynaexq:
      return "dynaexq";
    case PolicyKind::fovea:
      return "fovea";
    case PolicyKind::offload:
      return "offload";
    case PolicyKind::flexquant:
      return "flexquant";
    case PolicyKind::pmpd:
      return "pmpd";
    case PolicyKind::none:
    case PolicyKind::automatic:
      break;
  }
  return nullptr;  // as the parser understands what else is written
}

// Thousandths of a nat, or the word for them.
std::string preference_argument(double nats_per_ms) {
  if (nats_per_ms == nats_per_ms_balanced) return "balanced";
  if (nats_per_ms == nats_per_ms_fast) return "fast";
  return fmt::format("{}", 1000 * nats_per_ms);
}

}  // namespace

std::vector<std::string> arguments_for(const std::string& model, const LoadOptions& request) {
  // A name that looks like a flag would be read as one.
  std::vector<std::string> arguments{model.starts_with('-') ? "./" + model : model};
  const auto add = [&](const char* flag, std::string value) {
    arguments.emplace_back(flag);
    arguments.push_back(std::move(value));
  };
  if (!same_device(request.device, {})) add("--device", request.device);
  if (request.context > 0) add("--context", std::to_string(request.context));
  if (request.threads > 0) add("--threads", std::to_string(request.threads));
  if (request.kv != KvType::f16) add("--kv", request.kv == KvType::q8 ? "q8" : "f32");
  const PrecisionRequest& precision = request.precision;
  if (const char* policy = policy_flag(precision.policy)) add("--policy", policy);
  if (!precision.tiers.empty()) {
    std::string list;
    for (const std::string& tier : precision.tiers) list += (list.empty() ? "" : ",") + tier;
    add("--tiers", list);
  }
  if (precision.budget_bytes > 0) add("--budget", size_argument(precision.budget_bytes));
  if (precision.nats_per_ms > 0) add("--prefer", preference_argument(precision.nats_per_ms));
  if (precision.offload.cpu_moe_layers != 0)
    add("--n-cpu-moe",
        precision.offload.cpu_moe_layers < 0 ? "auto" : std::to_string(precision.offload.cpu_moe_layers));
  return arguments;
}

std::string command_line(const std::vector<std::string>& arguments) {
  std::string line = "fovea";
  for (const std::string& argument : arguments) line += " " + shell_word(argument);
  return line;
}

}  // namespace fovea::app
