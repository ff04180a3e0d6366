#include "engine/runtime/plan_advice.h"

#include <functional>
#include <optional>

#include "engine/models/say.h"
#include "engine/api/sentence.h"

namespace fovea::runtime {
namespace {

using models::say;

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

  static std::string outcome(const Fitted& changed) {
    const Plan& plan = changed.precision.plan;
    return plan.fits ? "fits" : "needs " + size_text(plan.least_bytes);
  }

  void lower_tiers(const Fitted& fitted, std::vector<std::string>& advice) const {
    if (fitted.units.tiers.empty() || fitted.units.policy == PolicyKind::none) return;
    // What is offloaded has one tier.
    std::vector<std::string> names;
    if (fitted.units.policy != PolicyKind::offload) names = fitted.units.inputs.tier_names;
    if (fitted.units.policy == PolicyKind::dynaexq) names.pop_back();  // it has two
    for (const char* low : {"q8", "q4", "q3", "q2"}) {
      auto tiers = names;
      tiers.emplace_back(low);
      const auto changed = with([&](LoadOptions& o) { o.precision.tiers = tiers; });
      if (!changed) continue;  // not below what is there
      if (changed->precision.plan.least_bytes >= fitted.precision.plan.least_bytes) continue;
      std::string list;
      for (const std::string& tier : tiers) list += (list.empty() ? "" : ",") + tier;
      advice.push_back(say("--tiers ", list, " ", outcome(*changed)));
      if (changed->precision.plan.fits) return;
    }
  }

  void leave_to_disk(const Fitted& fitted, std::vector<std::string>& advice) const {
    if (!subject_.has_experts() || fitted.units.policy == PolicyKind::offload) return;
    const auto changed = with([&](LoadOptions& o) {
      o.precision.policy = PolicyKind::offload;
      o.precision.tiers = {fitted.units.tiers.empty() ? "file" : fitted.units.tiers.back().name};
      o.precision.tier_map.clear();
      o.precision.offload = {.cpu_moe_layers = -1, .override_tensors = {}, .gpu_layers = -1};
    });
    if (!changed) return;
    advice.push_back(say("--policy offload --tiers ", changed->units.tiers.front().name, " --n-cpu-moe ",
                         changed->units.cpu_moe_layers, " ", outcome(*changed), ": ",
                         changed->precision.absent_units, " of ", changed->units.units.size(),
                         " units on disk alone, with stalls"));
  }

  // The fewest layers that must be the processor's beside a card, with the policy that is in force.
  struct Division {
    std::string flag;
    Fitted fitted;
  };
  std::optional<Division> fewest_for_host(const Fitted& fitted) const {
    const std::int64_t layers = fitted.units.units.layers();
    for (std::int64_t away = 1; away <= layers; ++away) {
      const std::int64_t kept = layers + 1 - away;  // the output counts as a layer
      auto changed = with([&](LoadOptions& o) {
        o.precision.policy = fitted.units.policy;
        if (subject_.has_experts()) {
          o.precision.offload = {.cpu_moe_layers = away, .override_tensors = {}, .gpu_layers = -1};
        } else {
          o.precision.offload = {.cpu_moe_layers = 0, .override_tensors = {}, .gpu_layers = kept};
        }
      });
      if (!changed || (!changed->precision.plan.fits && away < layers)) continue;
      return Division{.flag = subject_.has_experts() ? say("--n-cpu-moe ", away) : say("-ngl ", kept),
                      .fitted = *std::move(changed)};
    }
    return std::nullopt;
  }

  void leave_to_host(const Fitted& fitted, std::vector<std::string>& advice) const {
    const auto found = fewest_for_host(fitted);
    if (!found) return;
    advice.push_back(say(found->flag, " ", outcome(found->fitted), ": the processor computes ",
                         found->fitted.precision.absent_units, " of ", found->fitted.units.units.size(),
                         " units, ", size_text(found->fitted.precision.plan.host_bytes), " of main memory"));
  }

  void smaller_kv(const Plan& plan, std::vector<std::string>& advice) const {
    if (options_.kv == KvType::q8) return;
    const auto changed = with([](LoadOptions& o) { o.kv = KvType::q8; });
    if (!changed) return;
    advice.push_back(say("--kv q8 saves ", size_text(plan.parts.kv - changed->precision.plan.parts.kv),
                         " and ", outcome(*changed)));
  }

  void shorter_context(const Plan& plan, std::vector<std::string>& advice) const {
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
      advice.push_back(say("--context ", best, " instead of ", context, " fits"));
    } else {
      advice.push_back(say("No context is short enough alone: that of ", context, " tokens takes ",
                           size_text(plan.parts.kv)));
    }
  }

 private:
  const Subject& subject_;
  const LoadOptions& options_;
  const Machine& machine_;
};

}  // namespace

std::vector<std::string> advise_on_budget(const Subject& subject, const LoadOptions& options,
                                          const Machine& machine, const Fitted& fitted) {
  const Adviser adviser(subject, options, machine);
  const Plan& plan = fitted.precision.plan;
  std::vector<std::string> advice{say(size_text(plan.least_bytes), " (", plan.least_bytes,
                                      " bytes) would do, ", size_text(plan.least_bytes - plan.budget_bytes),
                                      " more")};
  adviser.lower_tiers(fitted, advice);
  machine.is_card() ? adviser.leave_to_host(fitted, advice) : adviser.leave_to_disk(fitted, advice);
  adviser.smaller_kv(plan, advice);
  adviser.shorter_context(plan, advice);
  return advice;
}

std::string advise_in_short(const Subject& subject, const LoadOptions& options, const Machine& machine,
                            const Fitted& fitted) {
  if (!machine.is_card())
    return say("Give ", fitted.precision.plan.least_bytes,
               " bytes or more, a shorter context, or a lower tier");
  const bool experts = subject.has_experts();
  const auto found = Adviser(subject, options, machine).fewest_for_host(fitted);
  if (!found || !found->fitted.precision.plan.fits)
    return say("Choose a shorter context or a smaller model: it does not fit even with all ",
               experts ? "experts" : "feed-forward layers", " left to the processor (",
               experts ? "--n-cpu-moe" : "-ngl", ", --override-tensor)");
  // With the flags alone an automatic policy would be another one.
  const PolicyKind policy = fitted.units.policy;
  const char* const also = options.precision.policy != PolicyKind::automatic ? ""
                           : policy == PolicyKind::dynaexq                   ? "--policy dynaexq "
                           : policy == PolicyKind::static_tiers              ? "--policy static "
                                                                             : "";
  return say("Leave more to the processor: ", also, found->flag, " fits",
             experts ? " (--n-cpu-moe auto finds it)" : "",
             "; --override-tensor chooses by name. Or choose a shorter context");
}

std::string advise_on_main_memory(const Subject& subject, const LoadOptions& options, const Machine& machine,
                                  const Plan& plan) {
  const bool experts = subject.has_experts();
  const std::int64_t layers = std::ssize(subject.weights->layers);
  const Adviser adviser(subject, options, machine);
  for (std::int64_t away = 0; away <= layers && plan.units_on_host > 0; ++away) {
    OffloadSettings offload;
    if (experts) {
      offload.cpu_moe_layers = away;
    } else if (away > 0) {
      offload.gpu_layers = layers + 1 - away;  // the output counts as a layer
    }
    const auto other = adviser.with([&](LoadOptions& o) { o.precision.offload = offload; });
    if (!other || !other->precision.plan.fits) continue;
    if (other->precision.plan.host_bytes > plan.host_available_bytes) continue;
    if (away == 0) return "Leave everything on the card: it fits there without --n-cpu-moe, -ngl and -ot";
    return experts ? say("Leave less to the processor: --n-cpu-moe ", away, " fits both memories")
                   : say("Leave less to the processor: -ngl ", offload.gpu_layers, " fits both memories");
  }
  return experts && plan.units_on_host > 0
             ? "Lower tiers keep more experts on the card (--tiers q4,q2 with a smaller --n-cpu-moe, or "
               "auto). Or close other programs, or choose a smaller model"
             : "Close other programs, or choose a shorter context or a smaller model";
}

}  // namespace fovea::runtime
