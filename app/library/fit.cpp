#include "app/library/fit.h"

#include <algorithm>
#include <cctype>
#include <functional>

#include "app/library/card_parts.h"
#include "engine/api/devices.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

using Planner = std::function<Result<LoadPlan>(const LoadOptions&)>;

void take(ModelFit& fit, LoadPlan report, const PrecisionRequest& precision) {
  fit.min_bytes = std::min(fit.needed_bytes, least_of_all(report.plan));
  fit.report = std::move(report);
  fit.precision = precision;
}

// Every expert that does not fit elsewhere, the others at the lowest tier.
LoadOptions offloading(LoadOptions settings, const LoadPlan& lowest) {
  settings.precision.policy = PolicyKind::offload;
  settings.precision.tiers = {lowest.plan.parts.experts.empty() ? "file"
                                                                : lowest.plan.parts.experts.back().name};
  settings.precision.offload.cpu_moe_layers = -1;
  return settings;
}

// The first of the ways that fits, from the best on.
Result<ModelFit> fit_with(const Planner& plan, LoadOptions settings, const MachineFacts& machine) {
  ModelFit fit{.budget_bytes = room_bytes(settings, machine), .on_card = on_card(settings, machine)};
  settings.precision.policy = PolicyKind::none;
  FOVEA_TRY(LoadPlan as_it_is, plan(settings));
  fit.needed_bytes = least_of_all(as_it_is.plan);
  if (as_it_is.plan.fits) {
    fit.kind = FitKind::fits;
    take(fit, std::move(as_it_is), {});
    return fit;
  }
  settings.precision.policy = PolicyKind::automatic;
  auto lower = plan(settings);
  if (!lower) {  // no tier below the file's
    take(fit, std::move(as_it_is), {});
    return fit;
  }
  take(fit, *lower, settings.precision);
  if (lower->plan.fits) {
    fit.kind = FitKind::lower_precision;
    return fit;
  }
  const LoadOptions away = offloading(settings, *lower);
  auto elsewhere = plan(away);  // an error: the model has no experts
  if (!elsewhere || elsewhere->plan.min_bytes >= lower->plan.min_bytes) return fit;
  const bool fits = elsewhere->plan.fits;
  take(fit, *std::move(elsewhere), away.precision);
  if (fits) fit.kind = FitKind::experts_elsewhere;
  return fit;
}

std::string plain(std::string_view name) {
  std::string text(name);
  std::ranges::transform(text, text.begin(), [](unsigned char c) {
    return c == '_' || c == ' ' ? '-' : static_cast<char>(std::tolower(c));
  });
  return text;
}

std::string shape_in(std::string_view name) {
  const std::string text = plain(name);
  for (const std::string& shape : shape_names())
    if (text.contains(shape)) return shape;
  return {};
}

// Beside the weights: the context and room to compute.
std::int64_t with_room(std::int64_t weights_bytes) {
  constexpr std::int64_t least = std::int64_t{256} << 20;
  return weights_bytes + std::max(weights_bytes / 10, least);
}

}  // namespace

bool on_card(const LoadOptions& room, const MachineFacts& machine) {
  return machine.device_memory_bytes > 0 || is_card(room.device);
}

Result<ModelRoom> this_machine(std::int64_t held_bytes, const DeviceChoice& device) {
  FOVEA_TRY(const auto all, devices());
  FOVEA_TRY(const ChosenDevice found, find_device(all, device));
  ModelRoom room = room_of(found, held_bytes);
  room.options.device = device.name;
  return room;
}

ModelRoom room_of(const ChosenDevice& device, std::int64_t held_bytes) {
  const DeviceRoom has = room_on(device, held_bytes);
  ModelRoom room;
  room.options.device = choice_of(device).name;
  if (device.first == nullptr) {
    room.options.precision.budget_bytes = has.device;
  } else {
    room.facts = {.device_free_bytes = has.device, .first_free_bytes = has.first};
  }
  return room;
}

std::int64_t room_bytes(const LoadOptions& room, const MachineFacts& machine) {
  if (room.precision.budget_bytes > 0) return room.precision.budget_bytes;
  return machine.device_free_bytes + machine.first_free_bytes;
}

std::int64_t taken_bytes(const Plan& plan) {
  return total_of_all(plan) - parts_of_all(plan).safety;
}

Result<ModelFit> fit_of_model(const std::filesystem::path& model, const LoadOptions& room,
                              const MachineFacts& machine) {
  LoadOptions options = room;
  options.model = model;
  return fit_with([&](const LoadOptions& o) { return plan_model(o, machine); }, std::move(options), machine);
}

Result<ModelFit> fit_of_shape(const std::string& shape, const LoadOptions& room,
                              const MachineFacts& machine) {
  return fit_with([&](const LoadOptions& o) { return plan_shape({.name = shape}, o, machine); }, room,
                  machine);
}

ModelFit estimate_fit(std::string_view name, std::int64_t bytes, const LoadOptions& room,
                      const MachineFacts& machine) {
  ModelFit fit{.is_estimate = true,
               .budget_bytes = room_bytes(room, machine),
               .needed_bytes = with_room(bytes),
               .on_card = on_card(room, machine)};
  fit.min_bytes = fit.needed_bytes;
  if (fit.needed_bytes <= fit.budget_bytes) {
    fit.kind = FitKind::fits;
    return fit;
  }
  const std::string shape = shape_in(name);
  if (shape.empty()) return fit;
  const auto planned = fit_of_shape(shape, room, machine);
  if (!planned) return fit;
  const std::int64_t needed = fit.needed_bytes;
  fit = *planned;
  fit.is_estimate = true;
  if (fit.kind != FitKind::fits) fit.needed_bytes = needed;
  return fit;
}

}  // namespace fovea::app
