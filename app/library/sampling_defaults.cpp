#include "app/library/sampling_defaults.h"

#include <nlohmann/json.hpp>

#include "app/files/files.h"
#include "app/library/errors.h"

namespace fovea::app {
namespace {

constexpr std::int64_t config_limit_bytes = 1 << 20;
// Models that use so few for a token, the demo model among them, loop when they are greedy and ramble when
// they are hot; at any temperature they come back to sentences they have said.
constexpr std::int64_t small_model_parameters = 300'000'000;

// Takes the value only when it is a number in a range that makes sense: the file comes from a stranger.
template <class T>
bool take(const nlohmann::json& object, const char* key, double least, double most, T& target) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return false;
  const double value = found->get<double>();
  if (!(value >= least && value <= most)) return false;
  target = static_cast<T>(value);
  return true;
}

bool read_generation_config(const std::filesystem::path& folder, SamplingSettings& sampling) {
  const auto text = read_file(folder / "generation_config.json", config_limit_bytes);
  if (!text) return false;
  const auto config = nlohmann::json::parse(*text, nullptr, false);
  if (!config.is_object()) return false;
  bool any = take(config, "temperature", 0, 5, sampling.temperature);
  any |= take(config, "top_k", 0, 1e6, sampling.top_k);
  any |= take(config, "top_p", 0, 1, sampling.top_p);
  any |= take(config, "min_p", 0, 1, sampling.min_p);
  any |= take(config, "repetition_penalty", 0.1, 10, sampling.repetition_penalty);
  if (config.value("do_sample", nlohmann::json()) == false) {
    sampling.temperature = 0;
    any = true;
  }
  return any;
}

}  // namespace

SamplingDefaults sampling_defaults(const ModelInfo& info) {
  SamplingDefaults defaults{.source = phrases::sampling_general()};
  if (read_generation_config(info.path, defaults.sampling)) {
    defaults.source = phrases::sampling_of_the_model();
  } else if (info.parameters_active < small_model_parameters) {
    defaults.sampling.temperature = 0.6F;
    defaults.sampling.repetition_penalty = 1.1F;
    defaults.sampling.dry_multiplier = 0.8F;
    defaults.source = phrases::sampling_for_small_models();
  }
  return defaults;
}

}  // namespace fovea::app
