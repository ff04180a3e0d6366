#include "app/advisor/counterparts.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "app/advisor/errors.h"
#include "app/library/card_parts.h"
#include "app/library/fit.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

using Kind = Counterpart::Kind;
using Room = Counterpart::Room;

constexpr const char* usual_lowest = "q2";

std::vector<std::string> tiers_of(const std::optional<Plan>& plan) {
  std::vector<std::string> tiers;
  if (plan)
    for (const PlanTier& tier : plan->parts.experts) tiers.push_back(tier.name);
  return tiers;
}

// One that was made for other tiers as well serves.
std::filesystem::path store_with(const LoadOptions& open, const std::string& tier) {
  for (const StoreFile& store : stores_of(open.model, open.precision.stores_folder))
    if (std::ranges::find(store.tiers, tier) != store.tiers.end()) return store.path;
  return {};
}

PrecisionRequest all_at(const LoadOptions& open, const std::string& tier) {
  PrecisionRequest precision;
  precision.policy = PolicyKind::static_tiers;
  precision.tiers = {tier};
  precision.stores_folder = open.precision.stores_folder;
  precision.store = open.precision.store.empty() ? store_with(open, tier) : open.precision.store;
  return precision;
}

std::int64_t all_bytes(const Plan& plan) {
  return taken_bytes(plan) + plan.host.weights;
}

std::int64_t sum(const DeviceRoom& room) {
  return room.device + room.first;
}

// Experts as the file has them, as many as there is room for, the others elsewhere.
PrecisionRequest file_elsewhere(const LoadOptions& open, std::int64_t room_bytes) {
  PrecisionRequest precision = all_at(open, "file");
  precision.policy = PolicyKind::offload;
  precision.offload.cpu_moe_layers = -1;
  precision.budget_bytes = room_bytes;
  return precision;
}

// A pass of many tokens uses every expert, and memory keeps some of them.
std::int64_t disk_bytes(const LoadPlan& plan, const StoreNeed& store) {
  if (plan.host_computes || plan.units() == 0) return 0;
  const std::int64_t read = std::max<std::int64_t>(0, plan.units_offloaded - plan.plan.units_cached);
  return static_cast<std::int64_t>(static_cast<double>(read) / static_cast<double>(plan.units()) *
                                   static_cast<double>(store.bytes));
}

void plan_it(Counterpart& choice, const LoadPlan& open, const ChosenDevice& device, std::int64_t held_bytes,
             const MachineFacts& facts) {
  auto found = plan_model(choice.options, facts);
  if (!found) {
    choice.trouble = std::move(found).error();
    return;
  }
  choice.bytes = found->plan.fits ? all_bytes(found->plan) : least_of_all(found->plan);
  choice.room = room_for(open.plan, found->plan, device, held_bytes);
  if (choice.kind == Kind::file) choice.plan = *found;
  if (found->policy() == PolicyKind::none) return;
  const PrecisionRequest& precision = choice.options.precision;
  choice.store =
      store_need(choice.options.model, found->plan, precision.stores_folder, choice.options.device);
  std::error_code error;
  if (!precision.store.empty()) choice.store.there = std::filesystem::exists(precision.store, error);
  if (choice.kind != Kind::file_elsewhere) return;
  choice.options.chunk = found->options.chunk;
  choice.pass_bytes = disk_bytes(*found, choice.store);
}

}  // namespace

Counterpart::Room room_for(const Plan& first, const Plan& second, const ChosenDevice& device,
                           std::int64_t held_bytes) {
  if (!first.fits || !second.fits) return Room::none;
  DeviceRoom needed;
  for (const Plan* plan : {&first, &second}) {
    needed.device = std::max(needed.device, last_card_of(*plan).taken_bytes());
    if (const auto card = first_card_of(*plan)) needed.first = std::max(needed.first, card->taken_bytes());
  }
  const auto has = [&](const DeviceRoom& room) {
    return needed.device <= room.device && (device.first == nullptr || needed.first <= room.first);
  };
  if (!has(room_on(device, held_bytes))) return Room::none;
  const Plan& most = first.host_bytes > second.host_bytes ? first : second;
  const bool beside_card = most.host_available_bytes == 0 || most.host_bytes <= most.host_available_bytes;
  return beside_card && has(room_on(device, 0)) ? Room::beside_the_open : Room::in_its_place;
}

PrecisionRequest fixed_mix_of(const PrecisionRequest& open, const std::optional<Plan>& plan) {
  PrecisionRequest precision = open;
  precision.policy = PolicyKind::static_tiers;
  precision.tiers = tiers_of(plan);
  return precision;
}

PrecisionRequest adaptive_of(const PrecisionRequest& open, const std::optional<Plan>& plan) {
  PrecisionRequest precision = open;
  precision.policy = PolicyKind::fovea;
  precision.tiers = tiers_of(plan);
  precision.tier_map.clear();
  return precision;
}

Result<Counterparts> counterparts_of(const LoadOptions& open, const std::optional<Plan>& plan,
                                     std::int64_t held_bytes) {
  FOVEA_TRY(const auto all, devices());
  FOVEA_TRY(const ChosenDevice device, find_device(all, {open.device, {}}));
  return counterparts_on(device, open, plan, held_bytes);
}

Result<Counterparts> counterparts_on(const ChosenDevice& device, const LoadOptions& open,
                                     const std::optional<Plan>& plan, std::int64_t held_bytes) {
  const PolicyKind policy = open.precision.policy;
  if (lowers_layers(policy))
    return fail(phrases::file_place(open.model), errors::comparison_of_lowered_layers());
  // As if the model that is open were not: it holds what it would get again.
  MachineFacts facts;
  if (device.first != nullptr) {
    facts = room_of(device, held_bytes).facts;
  } else if (is_card(open.device)) {
    const DeviceInfo& card = *device.device;
    facts.device_free_bytes = std::min(card.memory_free_bytes + held_bytes, card.memory_bytes);
  }
  Counterparts found{.open = open, .free_bytes = sum(room_on(device, 0))};
  FOVEA_TRY(const LoadPlan again, plan_model(open, facts));
  found.bytes = all_bytes(again.plan);

  const auto add = [&](Kind kind, const PrecisionRequest& precision, const std::string& tier = {}) {
    Counterpart choice{.kind = kind, .options = open, .tier = tier};
    choice.options.precision = precision;
    choice.options.precision.events.clear();
    // Beside other experts: what else lies in the memory is as large as now.
    if (kind != Kind::file && kind != Kind::file_elsewhere) choice.options.chunk = again.options.chunk;
    plan_it(choice, again, device, held_bytes, facts);
    found.choices.push_back(std::move(choice));
  };
  PrecisionRequest as_in_file;
  as_in_file.stores_folder = open.precision.stores_folder;
  if (policy != PolicyKind::none) {
    add(Kind::file, as_in_file);
    if (!found.choices.back().trouble && found.choices.back().room == Room::none)
      add(Kind::file_elsewhere, file_elsewhere(open, room_on(device, held_bytes).device));
  }
  const std::vector<std::string> tiers = tiers_of(plan);
  const std::string lowest = tiers.empty() ? usual_lowest : tiers.back();
  const bool is_lowest = policy == PolicyKind::static_tiers && tiers.size() == 1;
  if (!is_lowest) add(Kind::lowest, all_at(open, lowest), lowest);
  if (moves_experts(policy)) add(Kind::fixed, fixed_mix_of(open.precision, plan));
  return found;
}

}  // namespace fovea::app
