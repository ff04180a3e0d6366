#include "app/advisor/model_setups.h"

#include <algorithm>
#include <utility>

#include "app/advisor/setup.h"
#include "app/library/device_choice.h"

namespace fovea::app {
namespace {

constexpr std::size_t max_setups = 64;

std::filesystem::path path_of(const std::filesystem::path& model) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(model, error);
  return error ? model : absolute.lexically_normal();
}

}  // namespace

void keep_setup(std::vector<LoadOptions>& setups, const LoadOptions& options) {
  LoadOptions setup = setup_of(options);
  setup.model = path_of(options.model);
  std::erase_if(setups, [&](const LoadOptions& other) {
    return other.model == setup.model && same_device(other.device, setup.device);
  });
  setups.insert(setups.begin(), std::move(setup));
  if (setups.size() > max_setups) setups.resize(max_setups);
}

bool apply_setup(const std::vector<LoadOptions>& setups, LoadOptions& options) {
  const auto found =
      std::ranges::find_if(setups, [path = path_of(options.model), &options](const auto& setup) {
        return setup.model == path && same_device(setup.device, options.device);
      });
  if (found == setups.end()) return false;
  const LoadOptions wanted = load_options(options.model, *found, options.precision.stores_folder);
  options.context = wanted.context;
  options.context_may_shrink = wanted.context_may_shrink;
  options.kv = wanted.kv;
  options.precision = wanted.precision;
  return true;
}

}  // namespace fovea::app
