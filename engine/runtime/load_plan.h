// The one planner: a model, a machine and what somebody asks become what loading does. `fovea plan` and the
// wizard show it, Engine::load carries it out.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "engine/api/plan.h"
#include "engine/checkpoint/store.h"
#include "engine/models/placement.h"
#include "engine/precision/policy.h"
#include "engine/runtime/fit.h"

namespace fovea::runtime {

// The plan, and what loading needs of how it came about. Refers to the subject's weights.
struct PlannedLoad {
  Fitted fitted;
  LoadPlan plan = {};
  std::optional<Error> refused = {};            // why it cannot be carried out
  std::optional<checkpoint::Store> store = {};  // empty: there is none yet
  precision::PolicyWorld world = {};            // of a policy …
  std::vector<precision::TierId> tiers = {};    // … [units] to begin with; of fixed tiers, to stay with
  std::vector<models::HostShare> host =
      {};                             // [layers] what the processor computes beside the device; or empty
  double host_uses_per_token = 0;     // experts of these, expected by what is known of their use
  std::int64_t host_cache_bytes = 0;  // beside this card
  // Of two cards: the first one's part, of which the plan above tells, too.
  std::unique_ptr<PlannedLoad> first = {};
};

// plan_model() for a machine that is given.
Result<LoadPlan> plan_file(const LoadOptions& options, const Machine& machine);

// `options` with the sizes chosen (choose_defaults). Reads no weights; opens the store where there is one. Of
// one of two cards whose part is given (Machine::layers) main memory is not checked.
Result<PlannedLoad> plan_load(const Subject& subject, const LoadOptions& options, const Machine& machine);

// Of main memory, behind all that a plan takes of it; −1: nobody has looked.
std::int64_t left_beside(const Plan& plan);
// What swaps may keep there: every version of what moves, half of what is left at most, or what somebody
// asked for. ErrorKind::memory.
Result<std::int64_t> host_cache_bytes(const PrecisionRequest& request, const precision::UnitPlan& units,
                                      std::int64_t left);
// Every version of what moves.
std::int64_t version_bytes(const precision::UnitPlan& units);

// The file that holds the versions that these options ask for.
std::filesystem::path store_path(const LoadOptions& options, const checkpoint::StoreIdentity& identity);

Result<std::unique_ptr<precision::Policy>> make_policy(PolicyKind kind, const precision::PolicyWorld& world,
                                                       std::vector<precision::TierId> tiers,
                                                       const PrecisionRequest& request);

}  // namespace fovea::runtime
