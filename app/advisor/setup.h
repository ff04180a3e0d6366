// How a model is opened: what the wizard's memory page sets of the load options, and what becomes of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/advisor/candidates.h"
#include "app/library/library_types.h"
#include "engine/api/engine.h"
#include "engine/api/plan.h"

namespace fovea::app {

// What fits the machine, at the usual context.
LoadOptions usual_setup(const Candidate& candidate, const Machine& machine);
// The powers of two up to the model's own context, which is the last one.
std::vector<std::int64_t> contexts_of(const Candidate& candidate);
// … and further up to what its rotary scaling is made for, which may cost quality.
std::vector<std::int64_t> offered_contexts(const Candidate& candidate);
// Those that the planner takes for this model, from precise to small, and behind them those with the tiers of
// stores that were prepared. Some plans.
std::vector<PrecisionRequest> precision_choices(const Candidate& candidate, const Machine& machine,
                                                const std::vector<StoreFile>& prepared = {});

// Policy, tiers and layers of experts off the device.
PrecisionRequest choice_of(const LoadOptions& setup);
LoadOptions with_choice(LoadOptions setup, const PrecisionRequest& choice);

// Neither its file nor its shape is there for the planner, or it does not take the shape.
inline bool planned_by_size_alone(const Candidate& candidate) {
  if (!candidate.path.empty()) return false;
  const bool is_estimate = candidate.fit.is_estimate && candidate.fit.report.plan.total_bytes == 0;
  return !candidate.entry || candidate.entry->shape.empty() || is_estimate;
}
// The planner's answer. ErrorKind::unsupported where a model is known by its size alone.
Result<LoadPlan> plan_of(const Candidate& candidate, const LoadOptions& setup, const Machine& machine);

// Changes that would make it fit, each alone.
struct Remedy {
  enum class Kind : std::uint8_t { budget, kv, context, precision };
  Kind kind = Kind::budget;
  LoadOptions setup = {};
};
std::vector<Remedy> remedies(const Candidate& candidate, const LoadOptions& setup, const LoadPlan& report,
                             const Machine& machine, std::stop_token stop = {});

LoadOptions load_options(const std::filesystem::path& model, const LoadOptions& setup,
                         const std::filesystem::path& stores);
// What the wizard's memory page sets of them: neither model nor folders nor what only flags can set.
LoadOptions setup_of(const LoadOptions& options);
// With what it leaves to the planner, the policy and its tiers, as the plan has it, so that a page can name
// it. A static mix is of all tiers.
LoadOptions named(LoadOptions setup, const LoadPlan& report);

}  // namespace fovea::app
