#include "app/wizard/model_setups.h"

#include <algorithm>
#include <array>
#include <utility>

namespace fovea::app {
namespace {

constexpr std::size_t most_setups = 64;

constexpr std::array<std::pair<const char*, KvType>, 3> kv_names{
    {{"f16", KvType::f16}, {"f32", KvType::f32}, {"q8", KvType::q8}}};
constexpr std::array<std::pair<const char*, PolicyKind>, 4> policy_names{
    {{"none", PolicyKind::none},
     {"static", PolicyKind::static_tiers},
     {"dynaexq", PolicyKind::dynaexq},
     {"offload", PolicyKind::offload}}};

template <class Names, class Value>
const char* name_of(const Names& names, Value value) {
  for (const auto& [name, known] : names)
    if (known == value) return name;
  return names.front().first;
}

template <class Names>
auto value_of(const Names& names, const std::string& name) {
  for (const auto& [known, value] : names)
    if (name == known) return value;
  return names.front().second;
}

std::string path_of(const std::filesystem::path& model) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(model, error);
  return (error ? model : absolute.lexically_normal()).string();
}

}  // namespace

ModelSetup kept_setup(const LoadRequest& request) {
  const Setup setup = setup_of(request);
  return {.model = path_of(request.model),
          .device = setup.device,
          .context_tokens = setup.context,
          .kv = name_of(kv_names, setup.kv),
          .policy = name_of(policy_names, setup.policy),
          .tiers = setup.tiers,
          .budget_bytes = setup.budget_bytes,
          .cpu_moe_layers = setup.cpu_moe_layers};
}

void keep_setup(std::vector<ModelSetup>& setups, const LoadRequest& request) {
  ModelSetup setup = kept_setup(request);
  std::erase_if(setups, [&](const ModelSetup& other) {
    return other.model == setup.model && same_device(other.device, setup.device);
  });
  setups.insert(setups.begin(), std::move(setup));
  if (setups.size() > most_setups) setups.resize(most_setups);
}

bool apply_setup(const std::vector<ModelSetup>& setups, LoadRequest& request) {
  const std::string path = path_of(request.model);
  const auto found = std::ranges::find_if(setups, [&](const ModelSetup& setup) {
    return setup.model == path && same_device(setup.device, request.device);
  });
  if (found == setups.end()) return false;
  const LoadRequest wanted = load_request(request.model,
                                          {.device = request.device,
                                           .context = found->context_tokens,
                                           .kv = value_of(kv_names, found->kv),
                                           .policy = value_of(policy_names, found->policy),
                                           .tiers = found->tiers,
                                           .budget_bytes = found->budget_bytes,
                                           .cpu_moe_layers = found->cpu_moe_layers},
                                          request.precision.stores_folder);
  request.context = wanted.context;
  request.kv = wanted.kv;
  request.precision = wanted.precision;
  return true;
}

}  // namespace fovea::app
