#include "app/demo/demo_precision.h"

#include <cmath>

#include "engine/api/plan.h"
#include "engine/api/prepare.h"

namespace fovea::app {
namespace fs = std::filesystem;

namespace {

// Of what the high tier takes more than the low one.
constexpr double high_share = 0.45;

}  // namespace

std::vector<std::string> demo_tiers() {
  return {"q4", "q2"};
}

Result<PrecisionRequest> demo_precision(const fs::path& model, const fs::path& stores, std::int64_t context) {
  LoadOptions settings;
  settings.model = model;
  settings.context = context;
  settings.context_may_shrink = true;
  settings.precision.policy = PolicyKind::fovea;
  settings.precision.tiers = demo_tiers();
  settings.precision.stores_folder = stores;
  FOVEA_TRY(const auto all_high, plan_model(settings));
  const auto least = static_cast<double>(all_high.plan.min_bytes);
  const auto most = static_cast<double>(all_high.plan.whole_bytes);
  constexpr double megabyte = 1e6;  // a round number, since it is shown
  settings.precision.budget_bytes =
      static_cast<std::int64_t>(std::ceil((least + high_share * (most - least)) / megabyte) * megabyte);
  return settings.precision;
}

bool demo_is_prepared(const fs::path& model, const fs::path& stores) {
  PrepareRequest request;
  request.model = model;
  request.tiers = demo_tiers();
  const auto plan = describe_store(request);
  std::error_code error;
  return plan && fs::exists(stores / plan->name, error);
}

}  // namespace fovea::app
