#include "app/library/devices_json.h"

#include <nlohmann/json.hpp>

#include "app/library/card_parts.h"
#include "app/library/device_choice.h"
#include "engine/api/devices.h"

namespace fovea::app {

nlohmann::ordered_json devices_json(const LoadPlan& plan, std::int64_t layers) {
  nlohmann::ordered_json devices = nlohmann::ordered_json::array();
  const auto add = [&](const std::string& name, const CardPart& part, std::int64_t has_layers) {
    nlohmann::ordered_json device{{"name", name.empty() ? std::string(automatic_device) : name}};
    if (has_layers > 0) device["layers"] = has_layers;
    device["total_bytes"] = part.total_bytes;
    device["budget_bytes"] = part.budget_bytes;
    devices.push_back(std::move(device));
  };
  const std::vector<std::string> names = names_of(plan.options.device);
  const auto first = first_card_of(plan.plan);
  if (first) add(names.front(), *first, first->layers);
  add(names.back(), last_card_of(plan.plan), first && layers > 0 ? layers - first->layers : layers);
  return devices;
}

}  // namespace fovea::app
