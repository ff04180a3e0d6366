// How a model is opened: what the wizard's memory page sets, and what becomes of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/library/library_types.h"
#include "app/wizard/candidates.h"
#include "engine/api/engine.h"
#include "engine/api/plan.h"

namespace fovea::app {

struct Setup {
  std::string device = {};   // empty: automatic
  std::int64_t context = 0;  // tokens
  KvType kv = KvType::f16;
  PolicyKind policy = PolicyKind::none;
  std::vector<std::string> tiers = {};  // empty: the policy's
  std::int64_t budget_bytes = 0;
  std::int64_t cpu_moe_layers = 0;  // of offload; -1: as few as fit
  bool operator==(const Setup&) const = default;
};

// A policy with its tiers, as one choice.
struct PrecisionChoice {
  PolicyKind policy = PolicyKind::none;
  std::vector<std::string> tiers = {};
  std::int64_t cpu_moe_layers = 0;
  bool operator==(const PrecisionChoice&) const = default;
};

// What fits the machine, at the usual context.
Setup usual_setup(const Candidate& candidate, const Machine& machine);
// The powers of two up to the model's own context, which is the last one.
std::vector<std::int64_t> contexts_of(const Candidate& candidate);
// Those that the planner takes for this model, from precise to small, and behind them those with the tiers of
// stores that were prepared. Some plans.
std::vector<PrecisionChoice> precision_choices(const Candidate& candidate, const Machine& machine,
                                               const std::vector<StoreFile>& prepared = {});

PrecisionChoice choice_of(const Setup& setup);
Setup with_choice(Setup setup, const PrecisionChoice& choice);

// The planner's answer. ErrorKind::unsupported where a model is known by its size alone.
// Neither its file nor its shape is there for the planner.
inline bool planned_by_size_alone(const Candidate& candidate) {
  return candidate.path.empty() && (!candidate.entry || candidate.entry->shape.empty());
}
Result<PlanReport> plan_of(const Candidate& candidate, const Setup& setup, const Machine& machine);

// Changes that would make it fit, each alone.
struct Remedy {
  enum class Kind : std::uint8_t { budget, kv, context, precision };
  Kind kind = Kind::budget;
  Setup setup = {};
};
std::vector<Remedy> remedies(const Candidate& candidate, const Setup& setup, const PlanReport& report,
                             const Machine& machine, std::stop_token stop = {});

LoadRequest load_request(const std::filesystem::path& model, const Setup& setup,
                         const std::filesystem::path& stores);
// What was opened with such a request.
Setup setup_of(const LoadRequest& request);
// With what it leaves to the planner, the policy and its tiers, as the plan has it, so that a page can name
// it. A static mix is of all tiers.
Setup named(Setup setup, const PlanReport& report);

}  // namespace fovea::app
