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
struct CardShare {
  const Subject& subject;
  LoadOptions options;
  Machine machine;
};

// Main memory is divided as the layers are, as far as something is decided by what there is of it.
CardShare share_of(const Subject& subject, const LoadOptions& options, const Machine& both, std::int64_t cut,
                   bool is_first) {
  const std::int64_t count = subject.config->layer_count();
  CardShare share{is_first ? *subject.on_first : subject, options, both};
  share.machine.layers = is_first ? models::LayerRange{0, cut} : models::LayerRange{cut, count};
  share.machine.first = nullptr;
  share.machine.facts.main_memory_bytes =
      both.facts.main_memory_bytes / count * (share.machine.layers.end - share.machine.layers.first);
  PrecisionRequest& request = share.options.precision;
  if (is_first) {
    share.machine.device = both.first;
    share.machine.facts.device_free_bytes = both.first_free_bytes();
    if (request.first_budget_bytes > 0) request.budget_bytes = request.first_budget_bytes;
  }
  request.first_budget_bytes = 0;
  share.options.device = share.machine.device->name();  // for commands that advice names
  return share;
}

// Of the budget, with all at its highest precision that is not said to be the processor's.
Result<double> fill(CardShare share) {
  PrecisionRequest& request = share.options.precision;
  const bool open = request.policy == PolicyKind::automatic && request.tiers.empty();
  if (request.offload.cpu_moe_layers < 0) {
    if (open || precision::asks_for_places(request)) request.policy = PolicyKind::none;
    request.offload.cpu_moe_layers = 0;
  }
  if (request.policy == PolicyKind::none) request.tiers.clear();
  FOVEA_TRY(const Fitted fitted, fit(share.subject, share.options, share.machine));
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
  CardShare share(std::size_t cut, bool is_first) const {
    return share_of(subject_, options_, machine_, cuts_[cut], is_first);
  }
  std::int64_t at(std::size_t cut) const { return cuts_[cut]; }

  // Which of them: of a plan that was shown the same, if both still hold what it says.
  Result<std::size_t> choose() const {
    const auto shown = std::ranges::find(cuts_, options_.host_layers);
    if (shown != cuts_.end()) {
      const auto cut = static_cast<std::size_t>(shown - cuts_.begin());
      FOVEA_TRY(const bool first, holds(cut, true));
      FOVEA_TRY(const bool last, holds(cut, false));
      if (first && last) return cut;
    }
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
    FOVEA_TRY(full.first, fill(share(cut, true)));
    FOVEA_TRY(full.last, fill(share(cut, false)));
    return full;
  }
  Result<bool> holds(std::size_t cut, bool is_first) const {
    const CardShare of = share(cut, is_first);
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

struct BothPlans {
  PlannedLoad first, last;
  std::int64_t longest_chunk() const { return std::max(first.fitted.chunk, last.fitted.chunk); }
};

// Both move the same, between the same tiers: as the one does for which all is left open.
Result<BothPlans> plan_both(const CardShare& first, const CardShare& last) {
  const auto as_in = [](const CardShare& share, const PlannedLoad& other) {
    LoadOptions options = share.options;
    options.precision.policy = other.plan.policy();
    if (other.plan.policy() == PolicyKind::none) {
      options.precision.tiers.clear();
    } else {
      options.precision.tiers = other.fitted.units.inputs.tier_names;
    }
    return options;
  };
  FOVEA_TRY(PlannedLoad of_last, plan_load(last.subject, last.options, last.machine));
  Machine first_machine = first.machine;
  if (of_last.plan.basis.main_memory_gb_per_s > 0)  // measured once
    first_machine.facts.main_memory_gb_per_s = of_last.plan.basis.main_memory_gb_per_s;
  FOVEA_TRY(PlannedLoad of_first, plan_load(first.subject, as_in(first, of_last), first_machine));
  if (of_first.refused && !of_last.refused) {
    FOVEA_TRY(PlannedLoad other, plan_load(first.subject, first.options, first_machine));
    FOVEA_TRY(PlannedLoad as_other, plan_load(last.subject, as_in(last, other), last.machine));
    if (!other.refused && !as_other.refused) return BothPlans{std::move(other), std::move(as_other)};
  }
  if (of_first.plan.policy() == of_last.plan.policy())
    return BothPlans{std::move(of_first), std::move(of_last)};
  // Only one of them leaves the processor something that could change places: it stays.
  const PlannedLoad& still = of_first.plan.policy() == PolicyKind::none ? of_first : of_last;
  const LoadOptions for_first = as_in(first, still), for_last = as_in(last, still);
  FOVEA_TRY(of_first, plan_load(first.subject, for_first, first_machine));
  FOVEA_TRY(of_last, plan_load(last.subject, for_last, last.machine));
  return BothPlans{std::move(of_first), std::move(of_last)};
}

// Of what was asked for and is not there: beside one card some could change places.
void tell_of_places(const LoadOptions& options, BothPlans& plans) {
  const PrecisionRequest& request = options.precision;
  const bool open = request.policy == PolicyKind::automatic && request.tiers.empty() &&
                    request.offload.cpu_moe_layers < 0;
  const bool one_sided = (plans.first.plan.units_offloaded > 0) != (plans.last.plan.units_offloaded > 0);
  const bool stay = plans.last.plan.policy() == PolicyKind::none;
  if (!stay || !one_sided || !(open || precision::asks_for_places(request))) return;
  for (PlannedLoad* plan : {&plans.first, &plans.last})
    std::erase_if(plan->plan.plan.notes,
                  [](const Phrase& note) { return note.is(phrases::nothing_changes_places.code); });
  plans.last.plan.plan.notes.push_back(phrases::places_need_both_cards());
}

// With passes of the same length, the longer ones where either brings experts for its prompts.
Result<BothPlans> plan_both(const Subject& subject, LoadOptions options, const Machine& machine,
                            std::int64_t cut) {
  const auto planned = [&] {
    return plan_both(share_of(subject, options, machine, cut, true),
                     share_of(subject, options, machine, cut, false));
  };
  FOVEA_TRY(BothPlans plans, planned());
  const std::int64_t longest = plans.longest_chunk();
  const std::int64_t shortest = std::min(plans.first.fitted.chunk, plans.last.fitted.chunk);
  options.chunk_may_grow = false;
  for (const std::int64_t chunk : {longest, shortest}) {
    if (plans.first.fitted.chunk == plans.last.fitted.chunk) break;
    options.chunk = chunk;
    FOVEA_TRY(BothPlans alike, planned());
    if (chunk == shortest || (!alike.first.refused && !alike.last.refused)) plans = std::move(alike);
  }
  return plans;
}

// One card's behind the other's; of notes with numbers of one card one with both's.
std::vector<Phrase> notes_of(const BothPlans& plans) {
  struct Count {
    std::int64_t away = 0, moving = 0, moving_away = 0;
  };
  const auto count = [](const PlannedLoad& plan) {
    Count sum;
    const precision::UnitPlan& units = plan.fitted.units;
    for (std::size_t unit = 0; unit < units.absent.size(); ++unit) {
      if (units.is_elsewhere(static_cast<UnitId>(unit))) continue;
      const bool moves = !units.changes_places.empty() && units.changes_places[unit];
      sum.away += units.absent[unit] ? 1 : 0;
      sum.moving += moves ? 1 : 0;
      sum.moving_away += moves && units.absent[unit] ? 1 : 0;
    }
    return sum;
  };
  const Count first = count(plans.first), last = count(plans.last);
  std::int64_t preferred = 0;
  std::vector<Phrase> notes;
  for (const PlannedLoad* plan : {&plans.last, &plans.first}) {
    for (const Phrase& note : plan->plan.plan.notes) {
      Phrase of_both = note;
      if (note.is(phrases::experts_change_places.code))
        of_both =
            phrases::experts_change_places(first.moving_away + last.moving_away, first.moving + last.moving);
      if (note.is(phrases::cpu_moe_auto_layers.code) || note.is(phrases::cpu_moe_auto_coldest.code))
        of_both = phrases::cpu_moe_auto_of_two_cards(first.away, last.away);
      if (note.is(phrases::prefer_moves_to_host.code)) {
        preferred += std::get<std::int64_t>(note.arguments.front());
        continue;
      }
      if (std::ranges::find(notes, of_both) == notes.end()) notes.push_back(std::move(of_both));
    }
  }
  if (preferred > 0) notes.push_back(phrases::prefer_moves_to_host(preferred));
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

// Of the units on the card, each counted with its weights.
double bits_and_weights(const PlannedLoad& plan, double& weights) {
  weights = 0;
  const precision::UnitPlan& units = plan.fitted.units;
  for (std::size_t unit = 0; unit < units.absent.size(); ++unit)
    if (!units.absent[unit])
      weights += static_cast<double>(units.units[static_cast<UnitId>(unit)].parameters());
  return weights * plan.plan.plan.mean_bits_per_weight;
}

// What the other card's plan tells of both.
void add_first_card(const BothPlans& plans, const Machine& machine, std::int64_t cut, LoadPlan& plan) {
  const LoadPlan& of_first = plans.first.plan;
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
  if (both.advice != first.advice) both.advice.clear();
  both.notes = notes_of(plans);
  double here = 0, there = 0;
  const double bits = bits_and_weights(plans.last, here) + bits_and_weights(plans.first, there);
  both.mean_bits_per_weight = here + there > 0 ? bits / (here + there) : 0;
  std::copy_n(of_first.unit_tiers.begin(), of_first.first_unit[static_cast<std::size_t>(cut)],
              plan.unit_tiers.begin());
  plan.units_offloaded += of_first.units_offloaded;
  // Each counts from the model's first layer.
  if (plan.options.precision.offload.cpu_moe_layers < 0)
    plan.cpu_moe_layers =
        std::min(of_first.cpu_moe_layers, cut) + std::max<std::int64_t>(plan.cpu_moe_layers - cut, 0);
  plan.basis.first_free_bytes = machine.first_free_bytes();
  plan.basis.main_memory_free_bytes = machine.main_memory_bytes();
  add(of_first.device_part, plan.device_part);
  add(of_first.host_part, plan.host_part);
  add(of_first.prompt.device, plan.prompt.device);
  add(of_first.prompt.host, plan.prompt.host);
  plan.prompt.brought_bytes += of_first.prompt.brought_bytes;
  std::ranges::copy(of_first.prompt.attention, std::back_inserter(plan.prompt.attention));
}

// Main memory that keeps versions, of what both leave of it.
Result<void> divide_cache(const PrecisionRequest& request, PlannedLoad& first, PlannedLoad& last,
                          Plan& both) {
  const double all =
      static_cast<double>(version_bytes(first.fitted.units) + version_bytes(last.fitted.units));
  for (PlannedLoad* plan : {&first, &last}) {
    const double share = all > 0 ? static_cast<double>(version_bytes(plan->fitted.units)) / all : 1;
    const auto of = [&](std::int64_t bytes) {
      return bytes <= 0 ? bytes : static_cast<std::int64_t>(share * static_cast<double>(bytes));
    };
    PrecisionRequest own = request;
    own.host_cache_bytes = of(request.host_cache_bytes);
    FOVEA_TRY(plan->host_cache_bytes, host_cache_bytes(own, plan->fitted.units, of(left_beside(both))));
    both.host_cache_bytes += plan->host_cache_bytes;
  }
  return {};
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
  const std::int64_t gpu_layers = options.precision.offload.gpu_layers;
  const bool some_stay = gpu_layers >= 0 && gpu_layers <= subject.config->layer_count();
  if (lowers_layers(options.precision.policy) || some_stay) return fail(place, errors::not_for_two_cards());
  const Cutting cutting(subject, options, machine);
  if (!cutting.can_be_cut() || subject.on_first == nullptr || !machine.has_file)
    return fail(place, errors::layers_cannot_be_parted());
  FOVEA_TRY(const std::size_t chosen, cutting.choose());
  const std::int64_t cut = cutting.at(chosen);
  FOVEA_TRY(BothPlans plans, plan_both(subject, options, machine, cut));
  for (const PlannedLoad* plan : {&plans.first, &plans.last})
    if (plan->refused && plan->refused->is(errors::budget_beyond_device.code))
      return std::unexpected(*plan->refused);
  tell_of_places(options, plans);
  LoadPlan plan = plans.last.plan;
  add_first_card(plans, machine, cut, plan);
  plan.options.device = options.device;
  plan.options.precision.first_budget_bytes = options.precision.first_budget_bytes;
  auto first = std::make_unique<PlannedLoad>(std::move(plans.first));
  PlannedLoad both = std::move(plans.last);
  both.plan = std::move(plan);
  both.refused = refusal(options, machine, both.plan.plan);
  if (both.refused) {
    both.plan.plan.fits = false;
    both.plan.plan.advice = {both.refused->advice};
  } else {
    FOVEA_CHECK(divide_cache(options.precision, *first, both, both.plan.plan));
  }
  both.first = std::move(first);
  return both;
}

}  // namespace fovea::runtime
