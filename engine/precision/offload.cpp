#include "engine/precision/offload.h"

#include <algorithm>
#include <string_view>

#include "engine/precision/errors.h"
#include "engine/precision/token_cost.h"
#include "engine/text/regex.h"

namespace fovea::precision {
namespace {

constexpr const char* flag = "--override-tensor";

struct Override {
  std::string pattern;
  text::Regex expression;
  bool away = false;
};

// "PATTERN=PLACE", several separated by commas, as llama.cpp splits them.
Result<std::vector<Override>> parse(const std::vector<std::string>& given) {
  std::vector<Override> overrides;
  for (const std::string& list : given) {
    for (std::size_t begin = 0; begin <= list.size();) {
      const std::size_t comma = std::min(list.find(',', begin), list.size());
      const std::string entry = list.substr(begin, comma - begin);
      begin = comma + 1;
      const std::size_t equals = entry.find('=');
      if (equals == std::string::npos || equals == 0 || equals + 1 == entry.size())
        return fail(phrases::option_place(flag), errors::override_without_place(entry));
      const std::string place = entry.substr(equals + 1);
      if (place != "CPU" && place != "GPU" && !place.starts_with("CUDA"))
        return fail(phrases::option_place(flag), errors::override_unknown_place(place));
      auto expression = text::Regex::compile(entry.substr(0, equals), phrases::option_place(flag));
      if (!expression) {
        expression.error().kind = ErrorKind::invalid;  // it is no file's, but the flag's
        return std::unexpected(std::move(expression).error());
      }
      overrides.push_back({entry.substr(0, equals), *std::move(expression), place == "CPU"});
    }
  }
  return overrides;
}

bool found(const text::Regex& expression, std::string_view name) {
  std::vector<text::Match> matches;
  expression.find_all(name, matches);
  return !matches.empty();
}

// Whether the first pattern that fits this name sends it away.
bool goes_away(const std::vector<Override>& overrides, std::string_view name) {
  const auto first =
      std::ranges::find_if(overrides, [&](const Override& each) { return found(each.expression, name); });
  return first != overrides.end() && first->away;
}

std::vector<std::string> attention_names(std::int64_t layer) {
  std::vector<std::string> names;
  for (const char* part : {"attn_q", "attn_k", "attn_v", "attn_output"})
    names.push_back("blk." + std::to_string(layer) + "." + part + ".weight");
  return names;
}

class Choosing {
 public:
  Choosing(const UnitTable& units, const OffloadSettings& settings, SlowerPlace place, const HostCost* cost,
           Taken taken, std::int64_t whole_layers)
      : units_(units),
        settings_(settings),
        place_(place),
        cost_(cost),
        taken_(taken),
        whole_layers_(whole_layers) {
    choice_.absent.resize(static_cast<std::size_t>(units.size()));
    decided_.resize(choice_.absent.size());
  }

  Result<OffloadChoice> run(const FitsWithout& fits) {
    FOVEA_CHECK(check());
    FOVEA_CHECK(apply_overrides());
    apply_device_layers();
    if (settings_.cpu_moe_layers > 0) {
      take_layers(settings_.cpu_moe_layers);
      choice_.cpu_moe_layers = settings_.cpu_moe_layers;
    } else if (settings_.cpu_moe_layers < 0) {
      find_layers(fits);
    }
    FOVEA_CHECK(check_served());
    choice_.named = std::move(decided_);
    return std::move(choice_);
  }

 private:
  Result<void> check() const {
    if (units_.scope() != UnitScope::experts && settings_.cpu_moe_layers != 0)
      return fail(phrases::option_place("--n-cpu-moe"), errors::cpu_moe_without_experts());
    if (settings_.cpu_moe_layers < -1)
      return fail(phrases::option_place("--n-cpu-moe"), errors::cpu_moe_not_layers(settings_.cpu_moe_layers));
    if (settings_.gpu_layers < -1)
      return fail(phrases::option_place("--n-gpu-layers"),
                  errors::gpu_layers_not_layers(settings_.gpu_layers));
    return {};
  }

  // A router says which experts a token needs; without one every unit is needed by every token.
  Result<void> check_served() const {
    if (place_ == SlowerPlace::host || units_.scope() == UnitScope::experts) return {};
    if (std::ranges::find(choice_.absent, true) == choice_.absent.end()) return {};
    return fail(phrases::name_place("offload"), errors::dense_on_disk());
  }

  // The whole unit goes where the first pattern that is found in one of its tensors' names says.
  Result<void> apply_overrides() {
    FOVEA_TRY(const auto overrides, parse(settings_.override_tensors));
    for (const Override& override : overrides) {
      std::int64_t taken = 0, in_part = 0;
      std::vector<std::string> names;
      std::ptrdiff_t hits = 0;
      for (UnitId id = 0; id < static_cast<UnitId>(units_.size()); ++id) {
        if (!can_move(id)) continue;
        // A layer's experts have their tensors in common.
        if (auto own = moving_names(id); own != names) {
          names = std::move(own);
          hits = std::ranges::count_if(
              names, [&](const std::string& name) { return found(override.expression, name); });
        }
        if (hits == 0 || decided_[static_cast<std::size_t>(id)]) continue;
        decided_[static_cast<std::size_t>(id)] = true;
        choice_.absent[static_cast<std::size_t>(id)] = override.away;
        ++taken;
        if (hits < std::ssize(names)) ++in_part;
      }
      if (taken == 0 && place_ == SlowerPlace::host && override.away && names_whole_layers(override))
        continue;
      if (taken == 0 && place_ == SlowerPlace::host && override.away)
        return fail(phrases::option_place(flag), errors::override_names_nothing(override.pattern));
      if (taken == 0) choice_.notes.push_back(phrases::override_changes_nothing(override.pattern));
      if (in_part > 0)
        choice_.notes.push_back(phrases::override_moves_whole_units(override.pattern, in_part));
    }
    return {};
  }

  // Attention of those that go as a whole.
  bool names_whole_layers(const Override& override) const {
    for (std::int64_t layer = 0; layer < whole_layers_; ++layer)
      for (const std::string& name : attention_names(layer))
        if (found(override.expression, name)) return true;
    return false;
  }

  void apply_device_layers() {
    if (settings_.gpu_layers < 0) return;
    const std::int64_t first_on_device =
        std::max<std::int64_t>(units_.layers() + 1 - settings_.gpu_layers, 0);
    if (first_on_device == 0) return;
    take_layers(first_on_device);
    std::fill_n(decided_.begin(), units_.first(std::min(first_on_device, units_.layers())), true);
    const std::int64_t given = settings_.gpu_layers, layers = std::min(first_on_device, units_.layers());
    if (place_ != SlowerPlace::host) {
      choice_.notes.push_back(phrases::gpu_layers_leave_units(given, layers));
    } else if (units_.scope() == UnitScope::experts) {
      choice_.notes.push_back(phrases::gpu_layers_leave_experts(given, layers));
    } else {
      choice_.notes.push_back(phrases::gpu_layers_leave_feed_forward(given, layers));
    }
  }

  static bool is_feed_forward(const Unit& unit) {
    return unit.index >= static_cast<std::int32_t>(LinearRole::gate);
  }
  bool by_layer() const { return place_ == SlowerPlace::host && units_.scope() != UnitScope::experts; }
  bool can_move(UnitId id) const { return !by_layer() || is_feed_forward(units_[id]); }
  // The names of everything that moves with this unit.
  std::vector<std::string> moving_names(UnitId id) const {
    if (!by_layer()) return tensor_names(units_, id);
    std::vector<std::string> names;
    const std::int64_t layer = units_[id].layer;
    for (UnitId each = units_.first(layer); each < units_.first(layer + 1); ++each) {
      if (can_move(each)) names.push_back(tensor_names(units_, each).front());
    }
    return names;
  }

  void take_layers(std::int64_t layers) {
    const UnitId end = units_.first(std::min(layers, units_.layers()));
    for (UnitId id = 0; id < end; ++id) {
      if (!decided_[static_cast<std::size_t>(id)] && can_move(id))
        choice_.absent[static_cast<std::size_t>(id)] = true;
    }
  }

  void find_layers(const FitsWithout& fits) {
    const std::vector<bool> by_name = choice_.absent;
    if (place_ == SlowerPlace::disk) return find_on_disk(fits);
    if (taken_ == Taken::of_each_layer) return find_of_each(by_name, fits);
    bool found = false;
    for (std::int64_t layers = 0; layers <= units_.layers() && !found; ++layers) {
      take_layers(layers);
      choice_.cpu_moe_layers = layers;
      found = fits(choice_.absent);
    }
    if (cost_ != nullptr && found && choice_.cpu_moe_layers > 0 && take_cold(by_name, fits)) return;
    choice_.notes.push_back(phrases::cpu_moe_auto_layers(choice_.cpu_moe_layers, units_.layers()));
  }

  // As few as fit, the same number of each layer or one more; the coldest of it, where that is known.
  void find_of_each(const std::vector<bool>& by_name, const FitsWithout& fits) {
    std::vector<std::vector<UnitId>> layers;
    std::size_t most = 0;
    for (std::int64_t layer = 0; layer < units_.layers(); ++layer) {
      std::vector<UnitId> free;
      for (UnitId id = units_.first(layer); id < units_.first(layer + 1); ++id)
        if (!decided_[static_cast<std::size_t>(id)]) free.push_back(id);
      if (cost_ != nullptr)
        std::ranges::stable_sort(free, {},
                                 [&](UnitId id) { return cost_->chances[static_cast<std::size_t>(id)]; });
      most = std::max(most, free.size());
      if (!free.empty()) layers.push_back(std::move(free));
    }
    const auto without = [&](std::size_t count) {
      std::vector<bool> absent = by_name;
      for (std::size_t l = 0; l < layers.size(); ++l) {
        const std::size_t here = count / layers.size() + (l < count % layers.size() ? 1 : 0);
        for (std::size_t i = 0; i < std::min(here, layers[l].size()); ++i)
          absent[static_cast<std::size_t>(layers[l][i])] = true;
      }
      return absent;
    };
    std::size_t least = 0, enough = most * layers.size();
    while (least < enough) {
      const std::size_t middle = least + (enough - least) / 2;
      const bool fit = fits(without(middle));
      (fit ? enough : least) = fit ? middle : middle + 1;
    }
    choice_.absent = without(enough);
  }

  // What is read from the disk stays in memory while it is needed, so that all layers share what room there
  // is by what they use. A layer that is away for good would be read anew with each token.
  void find_on_disk(const FitsWithout& fits) {
    if (fits(choice_.absent)) return;
    take_layers(units_.layers());
    choice_.cpu_moe_layers = units_.layers();
    choice_.notes.push_back(phrases::cpu_moe_auto_on_disk());
  }

  // The coldest of each layer, as few as fit, where they cost less than the layers that were found.
  bool take_cold(const std::vector<bool>& by_name, const FitsWithout& fits) {
    std::int64_t too_few = 0, enough = 0;
    for (std::int64_t layer = 0; layer < units_.layers(); ++layer)
      enough = std::max<std::int64_t>(enough, units_.first(layer + 1) - units_.first(layer));
    while (enough - too_few > 1) {
      const std::int64_t middle = (too_few + enough) / 2;
      (fits(coldest(by_name, middle)) ? enough : too_few) = middle;
    }
    std::vector<bool> cold = coldest(by_name, enough);
    const double seconds = cost_->seconds(units_, cold);
    const double whole_layers = cost_->seconds(units_, choice_.absent);
    if (!fits(cold) || seconds >= whole_layers) return false;
    choice_.notes.push_back(
        phrases::cpu_moe_auto_coldest(enough, 1e3 * seconds, choice_.cpu_moe_layers, 1e3 * whole_layers));
    choice_.absent = std::move(cold);
    choice_.cpu_moe_layers = 0;
    choice_.cold_experts = enough;
    return true;
  }

  std::vector<bool> coldest(std::vector<bool> absent, std::int64_t count) const {
    for (std::int64_t layer = 0; layer < units_.layers(); ++layer) {
      std::vector<UnitId> order;
      for (UnitId id = units_.first(layer); id < units_.first(layer + 1); ++id)
        if (!decided_[static_cast<std::size_t>(id)]) order.push_back(id);
      std::ranges::stable_sort(order, {},
                               [&](UnitId id) { return cost_->chances[static_cast<std::size_t>(id)]; });
      order.resize(std::min(order.size(), static_cast<std::size_t>(count)));
      for (const UnitId id : order) absent[static_cast<std::size_t>(id)] = true;
    }
    return absent;
  }

  const UnitTable& units_;
  const OffloadSettings& settings_;
  const SlowerPlace place_;
  const HostCost* const cost_;  // or null
  const Taken taken_;
  const std::int64_t whole_layers_;
  OffloadChoice choice_;
  std::vector<bool> decided_;  // by a pattern
};

}  // namespace

std::vector<std::string> tensor_names(const UnitTable& units, UnitId id) {
  const Unit& unit = units[id];
  if (units.scope() != UnitScope::experts) return {units.name(id) + ".weight"};
  const std::string layer = "blk." + std::to_string(unit.layer) + ".ffn_";
  return {layer + "gate_exps.weight", layer + "up_exps.weight", layer + "down_exps.weight"};
}

Result<OffloadChoice> choose_offloaded(const UnitTable& units, const OffloadSettings& settings,
                                       const FitsWithout& fits, SlowerPlace place, const HostCost* cost,
                                       Taken taken, std::int64_t whole_layers) {
  return Choosing(units, settings, place, cost, taken, whole_layers).run(fits);
}

Result<std::int64_t> layers_named_whole(const std::vector<std::string>& override_tensors,
                                        const std::vector<bool>& has_experts) {
  FOVEA_TRY(const auto overrides, parse(override_tensors));
  const std::int64_t layers = std::ssize(has_experts);
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    std::vector<std::string> names = attention_names(layer);
    for (const char* part : {"ffn_gate", "ffn_up", "ffn_down"})
      names.push_back("blk." + std::to_string(layer) + "." + part +
                      (has_experts[static_cast<std::size_t>(layer)] ? "_exps" : "") + ".weight");
    if (!std::ranges::all_of(names, [&](const std::string& name) { return goes_away(overrides, name); }))
      return layer;
  }
  return layers;
}

Result<std::vector<std::string>> patterns_of_attention(const std::vector<std::string>& override_tensors,
                                                       std::int64_t first, std::int64_t layers) {
  FOVEA_TRY(const auto overrides, parse(override_tensors));
  std::vector<std::string> patterns;
  for (const Override& each : overrides) {
    bool names_some = false;
    for (std::int64_t layer = first; layer < layers && each.away; ++layer)
      for (const std::string& name : attention_names(layer))
        names_some = names_some || found(each.expression, name);
    if (names_some) patterns.push_back(each.pattern);
  }
  return patterns;
}

std::vector<models::HostShare> host_shares(const UnitTable& units, const std::vector<bool>& absent) {
  if (std::ranges::find(absent, true) == absent.end()) return {};
  std::vector<models::HostShare> shares(static_cast<std::size_t>(units.layers()));
  for (UnitId id = 0; id < static_cast<UnitId>(units.size()); ++id) {
    if (!absent[static_cast<std::size_t>(id)]) continue;
    models::HostShare& share = shares[static_cast<std::size_t>(units[id].layer)];
    if (units.scope() != UnitScope::experts) {
      share.shared = true;
      continue;
    }
    const UnitId first = units.first(units[id].layer);
    share.experts.resize(static_cast<std::size_t>(units.first(units[id].layer + 1) - first));
    share.experts[static_cast<std::size_t>(id - first)] = true;
  }
  return shares;
}

}  // namespace fovea::precision
