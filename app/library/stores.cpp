#include "app/library/stores.h"

#include <string>

#include "app/library/data_folder.h"

namespace fovea::app {

std::filesystem::path stores_folder() {
  return data_folder() / "stores";
}

std::filesystem::path store_path(const std::filesystem::path& model, const StorePlan& plan) {
  // A folder may be given with a slash at its end.
  const std::filesystem::path named = model.has_filename() ? model : model.parent_path();
  std::string name = (named.extension() == ".gguf" ? named.stem() : named.filename()).string() + "-";
  for (int digit = 0; digit < 8; ++digit)
    name += "0123456789abcdef"[plan.model_fingerprint >> (60 - 4 * digit) & 15];
  for (const std::string& tier : plan.tiers) name += "-" + tier;
  if (plan.scope == "linear_layers") name += "-linear";
  return stores_folder() / (name + ".store");
}

}  // namespace fovea::app
