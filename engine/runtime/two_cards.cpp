#include "engine/runtime/two_cards.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/api/sentence.h"
#include "engine/core/result.h"
#include "engine/precision/errors.h"
#include "engine/runtime/errors.h"
#include "engine/runtime/main_memory.h"

namespace fovea::runtime {
namespace {

using precision::UnitId;

// A card and its layers, and what is asked of it.
struct Part {
  const Subject& subject;
  LoadOptions options;
  Machine machine;
};

// Main memory is divided as the layers are.
Part part_of(const Subject& subject, const LoadOptions& options, const Machine& both, std::int64_t cut,
             bool is_first) {
  const std::int64_t count = subject.config->layer_count();
  Part part{is_first ? *subject.on_first : subject, options, both};
  part.machine.layers = is_first ? models::LayerRange{0, cut} : models::LayerRange{cut, count};
  part.machine.first = nullptr;
  const std::int64_t layers = part.machine.layers.end - part.machine.layers.first;
  part.machine.facts.main_memory_bytes = both.facts.main_memory_bytes / count * layers;
  PrecisionRequest& request = part.options.precision;
  if (request.host_cache_bytes > 0) request.host_cache_bytes = request.host_cache_bytes / count * layers;
  if (is_first) {
    part.machine.device = both.first;
    part.machine.facts.device_free_bytes = both.first_free_bytes();
    if (request.first_budget_bytes > 0) request.budget_bytes = request.first_budget_bytes;
  }
  request.first_budget_bytes = 0;
  return part;
}

// Of the budget, with all at its highest precision that is not said to be the processor's.
Result<double> fill(Part part) {
  PrecisionRequest& request = part.options.precision;
  if (request.offload.cpu_moe_layers < 0) {
    request.offload.cpu_moe_layers = 0;
    if (request.policy == PolicyKind::automatic && request.tiers.empty()) request.policy = PolicyKind::none;
    if (precision::asks_for_places(part.options.precision)) request.policy = PolicyKind::none;
  }
  if (request.policy == PolicyKind::none) request.tiers.clear();
  FOVEA_TRY(const Fitted fitted, fit(part.subject, part.options, part.machine));
  const Plan& plan = fitted.precision.plan;
  return static_cast<double>(plan.whole_bytes) / static_cast<double>(plan.budget_bytes);
}

class Cutting {
 public:
  Cutting(const Subject& subject, const LoadOptions& options, const Machine& machine)
      : subject_(subject), options_(options), machine_(machine) {
    for (std::int64_t at = 1; at < subject.config->layer_count(); ++at)
      if (models::can_divide(*subject.config, at)) cuts_.push_back(at);
  }

  bool can_be_cut() const { return !cuts_.empty(); }
  Part part(std::size_t cut, bool is_first) const {
    return part_of(subject_, options_, machine_, cuts_[cut], is_first);
  }
  std::int64_t at(std::size_t cut) const { return cuts_[cut]; }

  // Which of them.
  Result<std::size_t> choose() const {
    FOVEA_TRY(const std::size_t even, evenly());
    // Where one does not hold the least that it must, it is spared layers, as long as the other has room.
    std::size_t cut = even;
    for (int direction = 0;;) {
      FOVEA_TRY(const bool first, holds(cut, true));
      FOVEA_TRY(const bool last, holds(cut, false));
      if (first == last) return first ? cut : even;
      const int next = first ? 1 : -1;
      const bool at_the_end = next < 0 ? cut == 0 : cut + 1 == cuts_.size();
      if (at_the_end || (direction != 0 && next != direction)) return even;
      direction = next;
      cut = next < 0 ? cut - 1 : cut + 1;
    }
  }

 private:
  struct Fill {
    double first = 0, last = 0;
    double most() const { return std::max(first, last); }
  };
  Result<Fill> fills(std::size_t cut) const {
    Fill full;
    FOVEA_TRY(full.first, fill(part(cut, true)));
    FOVEA_TRY(full.last, fill(part(cut, false)));
    return full;
  }
  Result<bool> holds(std::size_t cut, bool is_first) const {
    const Part of = part(cut, is_first);
    FOVEA_TRY(const Fitted fitted, fit(of.subject, of.options, of.machine));
    return fitted.precision.plan.fits;
  }
  // The first cut at which the first card is the fuller one, or the one before it.
  Result<std::size_t> evenly() const {
    std::size_t low = 0, high = cuts_.size() - 1;
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      FOVEA_TRY(const Fill full, fills(middle));
      (full.first < full.last ? low : high) = full.first < full.last ? middle + 1 : middle;
    }
    if (low == 0) return low;
    FOVEA_TRY(const Fill here, fills(low));
    FOVEA_TRY(const Fill before, fills(low - 1));
    return before.most() < here.most() ? low - 1 : low;
  }

  const Subject& subject_;
  const LoadOptions& options_;
  const Machine& machine_;
  std::vector<std::int64_t> cuts_;
};

// Both move the same, between the same tiers: as the one does for which all is left open. Where experts
// change places beside one of them only, they stay.
struct Parts {
  PlannedLoad first, last;
};
Result<Parts> plan_parts(const Part& first, const Part& last) {
  const auto as_in = [](const Part& part, const PlannedLoad& other) {
    LoadOptions options = part.options;
    options.precision.policy = other.plan.policy();
    if (other.plan.policy() == PolicyKind::none) {
      options.precision.tiers.clear();
    } else {
      options.precision.tiers = other.fitted.units.inputs.tier_names;
    }
    return options;
  };
  FOVEA_TRY(PlannedLoad of_last, plan_load(last.subject, last.options, last.machine));
  FOVEA_TRY(PlannedLoad of_first, plan_load(first.subject, as_in(first, of_last), first.machine));
  if (of_first.refused && !of_last.refused) {
    FOVEA_TRY(PlannedLoad other, plan_load(first.subject, first.options, first.machine));
    FOVEA_TRY(PlannedLoad as_other, plan_load(last.subject, as_in(last, other), last.machine));
    if (!other.refused && !as_other.refused) return Parts{std::move(other), std::move(as_other)};
  }
  if (of_first.plan.policy() != of_last.plan.policy()) {
    const PlannedLoad& still = of_first.plan.policy() == PolicyKind::none ? of_first : of_last;
    const LoadOptions for_first = as_in(first, still), for_last = as_in(last, still);
    FOVEA_TRY(of_first, plan_load(first.subject, for_first, first.machine));
    FOVEA_TRY(of_last, plan_load(last.subject, for_last, last.machine));
  }
  return Parts{std::move(of_first), std::move(of_last)};
}

// One card's behind the other's; of notes with numbers of one card one with both's.
std::vector<Phrase> notes_of(const Parts& parts) {
  const auto count = [](const PlannedLoad& part) {
    std::int64_t away = 0, all = 0;
    const precision::UnitPlan& units = part.fitted.units;
    for (std::size_t unit = 0; unit < units.absent.size(); ++unit) {
      if (units.is_elsewhere(static_cast<UnitId>(unit))) continue;
      away += units.absent[unit] ? 1 : 0;
      all += !units.changes_places.empty() && units.changes_places[unit] ? 1 : 0;
    }
    return std::pair(away, all);
  };
  const auto [first_away, first_moving] = count(parts.first);
  const auto [last_away, last_moving] = count(parts.last);
  std::vector<Phrase> notes;
  for (const PlannedLoad* part : {&parts.last, &parts.first}) {
    for (const Phrase& note : part->plan.plan.notes) {
      Phrase of_both = note;
      if (note.is(phrases::experts_change_places.code))
        of_both = phrases::experts_change_places(first_away + last_away, first_moving + last_moving);
      if (note.is(phrases::cpu_moe_auto_layers.code) || note.is(phrases::cpu_moe_auto_coldest.code))
        of_both = phrases::cpu_moe_auto_of_two_cards(first_away, last_away);
      if (std::ranges::find(notes, of_both) == notes.end()) notes.push_back(std::move(of_both));
    }
  }
  return notes;
}

void add(const TokenPart& more, TokenPart& sum) {
  // One after the other: each byte at the speed of its memory.
  const double ms = more.ms() + sum.ms(), bytes = more.bytes() + sum.bytes();
  const bool known = (more.bytes() == 0 || more.gb_per_s > 0) && (sum.bytes() == 0 || sum.gb_per_s > 0);
  sum.dense_bytes += more.dense_bytes;
  sum.expert_bytes += more.expert_bytes;
  if (bytes > 0) sum.gb_per_s = known && ms > 0 ? bytes / (1e6 * ms) : 0;
}
void add(const PromptPart& more, PromptPart& sum) {
  sum.multiply_adds += more.multiply_adds;
  sum.bytes += more.bytes;
  sum.gop_per_s = std::max(sum.gop_per_s, more.gop_per_s);
}

// What the other card's plan tells of both.
void add_first_card(const Parts& parts, const Machine& machine, std::int64_t cut, LoadPlan& plan) {
  const LoadPlan& of_first = parts.first.plan;
  const Plan& first = of_first.plan;
  Plan& both = plan.plan;
  both.first_card = {.layers = cut,
                     .budget_bytes = first.budget_bytes,
                     .total_bytes = first.total_bytes,
                     .min_bytes = first.min_bytes,
                     .arena_bytes = first.arena_bytes,
                     .parts = first.parts,
                     .fits = first.fits};
  both.fits = both.fits && first.fits;
  both.units_on_host += first.units_on_host;
  both.host.weights += first.host.weights;
  both.host.transfer += first.host.transfer;
  both.host.exchange += first.host.exchange;
  both.host_bytes = both.host.sum();
  both.host_available_bytes = machine.main_memory_bytes();
  both.host_cache_bytes += first.host_cache_bytes;
  if (both.advice != first.advice) both.advice.clear();
  both.notes = notes_of(parts);
  const double units = static_cast<double>(plan.units()),
               share = of_first.first_unit[static_cast<std::size_t>(cut)] / units;
  both.mean_bits_per_weight = share * first.mean_bits_per_weight + (1 - share) * both.mean_bits_per_weight;
  std::copy_n(of_first.unit_tiers.begin(), of_first.first_unit[static_cast<std::size_t>(cut)],
              plan.unit_tiers.begin());
  plan.units_offloaded += of_first.units_offloaded;
  plan.cpu_moe_layers = std::max(plan.cpu_moe_layers, of_first.cpu_moe_layers);
  add(of_first.device_part, plan.device_part);
  add(of_first.host_part, plan.host_part);
  add(of_first.prompt.device, plan.prompt.device);
  add(of_first.prompt.host, plan.prompt.host);
  plan.prompt.brought_bytes += of_first.prompt.brought_bytes;
  std::ranges::copy(of_first.prompt.attention, std::back_inserter(plan.prompt.attention));
}

// Why the plan cannot be carried out.
std::optional<Error> refusal(const LoadOptions& options, const Machine& machine, const Plan& plan) {
  const Plan::FirstCard& first = plan.first_card;
  if (!plan.fits)
    return errors::two_cards_too_small(
               machine.first->name(), Bytes{first.fits ? first.total_bytes : first.min_bytes}, first.layers,
               Bytes{first.budget_bytes}, machine.device->name(),
               Bytes{plan.total_bytes > plan.budget_bytes ? plan.min_bytes : plan.total_bytes},
               Bytes{plan.budget_bytes})
        .at(phrases::device_place(options.device));
  auto held = check_main_memory(plan, phrases::less_for_main_memory);
  if (!held) return std::move(held).error();
  return std::nullopt;
}

}  // namespace

Result<PlannedLoad> plan_two_cards(const Subject& subject, const LoadOptions& options,
                                   const Machine& machine) {
  const Phrase place = phrases::device_place(options.device);
  if (lowers_layers(options.precision.policy) || options.precision.offload.gpu_layers >= 0)
    return fail(place, errors::not_for_two_cards());
  const Cutting cutting(subject, options, machine);
  if (!cutting.can_be_cut() || subject.on_first == nullptr || !machine.has_file)
    return fail(place, errors::layers_cannot_be_parted());
  FOVEA_TRY(const std::size_t cut, cutting.choose());
  FOVEA_TRY(Parts parts, plan_parts(cutting.part(cut, true), cutting.part(cut, false)));
  for (const PlannedLoad* part : {&parts.first, &parts.last})
    if (part->refused && part->refused->is(errors::budget_beyond_device.code))
      return std::unexpected(*part->refused);
  LoadPlan plan = parts.last.plan;
  add_first_card(parts, machine, cutting.at(cut), plan);
  plan.options.precision.budget_bytes = options.precision.budget_bytes;
  plan.options.precision.first_budget_bytes = options.precision.first_budget_bytes;
  plan.options.precision.host_cache_bytes = options.precision.host_cache_bytes;
  PlannedLoad both = std::move(parts.last);
  both.plan = std::move(plan);
  both.first = std::make_unique<PlannedLoad>(std::move(parts.first));
  both.refused = refusal(options, machine, both.plan.plan);
  if (both.refused) {
    both.plan.plan.fits = false;
    both.plan.plan.advice = {both.refused->advice};
  }
  return both;
}

}  // namespace fovea::runtime
