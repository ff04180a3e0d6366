#include "engine/runtime/plan_advice.h"

#include <functional>
#include <optional>

#include "engine/api/sentence.h"
#include "engine/runtime/errors.h"

namespace fovea::runtime {
namespace {

constexpr std::int64_t shortest_context = 512;  // that advice proposes

class Adviser {
 public:
  Adviser(const Subject& subject, const LoadOptions& options, const Machine& machine)
      : subject_(subject), options_(options), machine_(machine) {}

  std::optional<Fitted> with(const std::function<void(LoadOptions&)>& change) const {
    LoadOptions changed = options_;
    change(changed);
    auto fitted = fit(subject_, changed, machine_);
    if (!fitted) return std::nullopt;
    return *std::move(fitted);
  }

  static Phrase outcome(const Fitted& changed) {
    const Plan& plan = changed.precision.plan;
    return plan.fits ? phrases::plan_fits() : phrases::plan_needs(Bytes{plan.min_bytes});
  }

  void lower_tiers(const Fitted& fitted, std::vector<Phrase>& advice) const {
    if (fitted.units.tiers.empty() || fitted.units.policy == PolicyKind::none) return;
    // What is offloaded has one tier.
    std::vector<std::string> names;
    if (fitted.units.policy != PolicyKind::offload) names = fitted.units.inputs.tier_names;
    if (fitted.units.policy == PolicyKind::dynaexq) names.pop_back();    // it has two
    if (lowers_layers(fitted.units.policy)) names.erase(names.begin());  // all begin in the highest
    for (const char* low : {"q8", "q4", "q3", "q2"}) {
      auto tiers = names;
      tiers.emplace_back(low);
      const auto changed = with([&](LoadOptions& o) { o.precision.tiers = tiers; });
      if (!changed) continue;  // not below what is there
      if (changed->precision.plan.min_bytes >= fitted.precision.plan.min_bytes) continue;
      std::string list;
      for (const std::string& tier : tiers) list += (list.empty() ? "" : ",") + tier;
      advice.push_back(phrases::lower_tiers_would(list, outcome(*changed)));
      if (changed->precision.plan.fits) return;
    }
  }

  void leave_to_disk(const Fitted& fitted, std::vector<Phrase>& advice) const {
    if (!subject_.has_experts() || fitted.units.policy == PolicyKind::offload) return;
    const auto changed = with([&](LoadOptions& o) {
      o.precision.policy = PolicyKind::offload;
      o.precision.tiers = {fitted.units.tiers.empty() ? "file" : fitted.units.tiers.back().name};
      o.precision.tier_map.clear();
      o.precision.offload = {.cpu_moe_layers = -1, .override_tensors = {}, .gpu_layers = -1};
    });
    if (!changed) return;
    advice.push_back(phrases::leaving_to_disk_would(
        changed->units.tiers.front().name, changed->units.cpu_moe_layers, outcome(*changed),
        changed->precision.absent_units, changed->units.units.size()));
  }

  // The fewest layers that must be the processor's beside a card, with the policy that is in force: their
  // experts, and where leaving it all experts is not enough, some with their attention and cache. Where
  // nothing fits: the division that leaves it most.
  struct Division {
    std::string flags;
    Fitted fitted;
  };
  std::optional<Division> divided(const Fitted& fitted, std::int64_t without_experts,
                                  std::int64_t whole) const {
    const std::int64_t kept = fitted.units.units.layers() + 1 - whole;  // the output counts as a layer
    auto changed = with([&](LoadOptions& o) {
      o.precision.policy = fitted.units.policy;
      o.precision.offload = {
          .cpu_moe_layers = without_experts, .override_tensors = {}, .gpu_layers = whole > 0 ? kept : -1};
    });
    if (!changed) return std::nullopt;
    std::string flags = without_experts > 0 ? "--n-cpu-moe " + std::to_string(without_experts) : "";
    if (whole > 0) flags += (flags.empty() ? "" : " ") + ("-ngl " + std::to_string(kept));
    return Division{.flags = std::move(flags), .fitted = *std::move(changed)};
  }
  std::optional<Division> fewest_for_host(const Fitted& fitted) const {
    const std::int64_t layers = fitted.units.units.layers(), experts = subject_.has_experts() ? layers : 0;
    std::optional<Division> last;
    for (std::int64_t away = 1; away <= experts + layers; ++away) {
      auto found = divided(fitted, std::min(away, experts), std::max<std::int64_t>(away - experts, 0));
      if (!found) continue;
      // Nothing more goes: layers that cannot be divided, or the last one.
      if (away > experts && experts > 0 && last && found->fitted.host_layers <= last->fitted.host_layers)
        break;
      last = std::move(found);
      if (last->fitted.precision.plan.fits) break;
    }
    return last;
  }

  void leave_to_host(const Fitted& fitted, std::vector<Phrase>& advice) const {
    const auto found = fewest_for_host(fitted);
    if (!found) return;
    const Fitted& fits = found->fitted;
    advice.push_back(phrases::leaving_to_host_would(found->flags, outcome(fits), fits.precision.absent_units,
                                                    fits.units.units.size(),
                                                    Bytes{fits.precision.plan.host_bytes}));
  }

  void smaller_kv(const Plan& plan, std::vector<Phrase>& advice) const {
    if (options_.kv == KvType::q8) return;
    const auto changed = with([](LoadOptions& o) { o.kv = KvType::q8; });
    if (!changed) return;
    advice.push_back(phrases::smaller_kv_would(Bytes{plan.parts.kv - changed->precision.plan.parts.kv},
                                               outcome(*changed)));
  }

  void shorter_context(const Plan& plan, std::vector<Phrase>& advice) const {
    const std::int64_t context = options_.context;
    std::int64_t best = 0;
    for (std::int64_t low = 1, high = (context - 1) / shortest_context; low <= high;) {
      const std::int64_t middle = (low + high) / 2;
      const auto changed = with([&](LoadOptions& o) { o.context = middle * shortest_context; });
      if (changed && changed->precision.plan.fits) {
        best = middle * shortest_context;
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    if (best > 0) {
      advice.push_back(phrases::shorter_context_would(best, context));
    } else {
      advice.push_back(phrases::no_context_would(context, Bytes{plan.parts.kv}));
    }
  }

 private:
  const Subject& subject_;
  const LoadOptions& options_;
  const Machine& machine_;
};

}  // namespace

std::vector<Phrase> advise_on_budget(const Subject& subject, const LoadOptions& options,
                                     const Machine& machine, const Fitted& fitted) {
  const Adviser adviser(subject, options, machine);
  const Plan& plan = fitted.precision.plan;
  std::vector<Phrase> advice{
      phrases::more_bytes_would_do(Bytes{plan.min_bytes}, Bytes{plan.min_bytes - plan.budget_bytes})};
  adviser.lower_tiers(fitted, advice);
  machine.is_card() ? adviser.leave_to_host(fitted, advice) : adviser.leave_to_disk(fitted, advice);
  adviser.smaller_kv(plan, advice);
  adviser.shorter_context(plan, advice);
  return advice;
}

Phrase advise_in_short(const Subject& subject, const LoadOptions& options, const Machine& machine,
                       const Fitted& fitted) {
  if (!machine.is_card()) return phrases::give_more_bytes(Bytes{fitted.precision.plan.min_bytes});
  const bool experts = subject.has_experts();
  const auto found = Adviser(subject, options, machine).fewest_for_host(fitted);
  if (!found || !found->fitted.precision.plan.fits)
    return experts ? phrases::no_division_fits_experts() : phrases::no_division_fits_layers();
  // With the flags alone an automatic policy would be another one.
  const PolicyKind policy = fitted.units.policy;
  const std::string also = options.precision.policy != PolicyKind::automatic ? ""
                           : policy == PolicyKind::fovea                     ? "--policy fovea "
                           : policy == PolicyKind::static_tiers              ? "--policy static "
                                                                             : "";
  return experts && found->fitted.host_layers == 0 ? phrases::leave_experts_to_host(also + found->flags)
                                                   : phrases::leave_layers_to_host(also + found->flags);
}

Phrase advise_on_main_memory(const Subject& subject, const LoadOptions& options, const Machine& machine,
                             const Plan& plan) {
  const bool experts = subject.has_experts();
  const std::int64_t layers = std::ssize(subject.weights->layers);
  const Adviser adviser(subject, options, machine);
  for (std::int64_t away = 0; away <= layers && plan.host.weights > 0; ++away) {
    OffloadSettings offload;
    if (experts) {
      offload.cpu_moe_layers = away;
    } else if (away > 0) {
      offload.gpu_layers = layers + 1 - away;  // the output counts as a layer
    }
    const auto other = adviser.with([&](LoadOptions& o) { o.precision.offload = offload; });
    if (!other || !other->precision.plan.fits) continue;
    if (other->precision.plan.host_bytes > plan.host_available_bytes) continue;
    if (away == 0) return phrases::leave_all_on_card();
    return phrases::leave_less_to_host(experts ? "--n-cpu-moe " + std::to_string(away)
                                               : "-ngl " + std::to_string(offload.gpu_layers));
  }
  return experts && plan.units_on_host > 0 ? phrases::lower_tiers_for_main_memory()
                                           : phrases::less_for_main_memory();
}

}  // namespace fovea::runtime
