#include "app/settings/document.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "app/settings/errors.h"
#include "engine/api/limits.h"

namespace fovea::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t max_port = 65535;

// One setting: its place in the file, and how it is read, written and compared.
struct Field {
  const char* group;
  const char* key;
  Phrase expected;
  std::function<bool(Settings&, const Json&)> read;
  std::function<Json(const Settings&)> write;  // null: not in the file
  std::function<bool(const Settings&, const Settings&)> same;
};

bool convert(const Json& value, bool& out) {
  return value.is_boolean() && (out = value.get<bool>(), true);
}
bool convert(const Json& value, std::string& out) {
  return value.is_string() && (out = value.get<std::string>(), true);
}
bool convert(const Json& value, std::int64_t& out) {
  return value.is_number_integer() && (out = value.get<std::int64_t>(), true);
}
bool convert(const Json& value, double& out) {
  return value.is_number() && (out = value.get<double>(), std::isfinite(out));
}
bool convert(const Json& value, Preset& out) {
  if (!value.is_object() || !value.contains("name") || !value.contains("text") ||
      !convert(value["name"], out.name) || !convert(value["text"], out.text) ||
      (value.contains("id") && !convert(value["id"], out.id)))
    return false;
  const auto settings = value.find("settings");
  if (settings == value.end()) return true;
  out.settings = settings->dump();
  return settings->is_object();
}
bool convert(const Json& value, LoadOptions& out);
template <class Value, std::size_t n>
bool convert(const Json& value, const std::array<std::pair<Value, const char*>, n>& names, Value& out) {
  const auto found = value.is_string() ? named_in(names, value.get<std::string>()) : std::nullopt;
  if (found) out = *found;
  return found.has_value();
}
template <class T>
bool convert(const Json& value, std::optional<T>& out) {
  if (value.is_null()) return out.reset(), true;
  T inner{};
  return convert(value, inner) && (out = inner, true);
}
template <class T>
bool convert(const Json& value, std::vector<T>& out) {
  if (!value.is_array()) return false;
  std::vector<T> all(value.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!convert(value[i], all[i])) return false;
  }
  return out = std::move(all), true;
}

// What is missing keeps its usual value.
bool convert(const Json& value, LoadOptions& out) {
  if (!value.is_object() || !value.contains("model")) return false;
  const auto read = [&value](const char* key, auto& member) {
    return !value.contains(key) || convert(value[key], member);
  };
  const auto read_name = [&value](const char* key, const auto& names, auto& member) {
    return !value.contains(key) || convert(value[key], names, member);
  };
  std::string model;
  PrecisionRequest& precision = out.precision;
  if (!read("model", model) || !read("device", out.device) || !read("context_tokens", out.context) ||
      !read_name("kv", kv_names, out.kv) || !read_name("policy", policy_names, precision.policy) ||
      !read("tiers", precision.tiers) || !read("budget_bytes", precision.budget_bytes) ||
      !read("cpu_moe_layers", precision.offload.cpu_moe_layers) ||
      !read("nats_per_ms", precision.nats_per_ms))
    return false;
  out.model = model;
  return out.context >= 0 && precision.budget_bytes >= 0 && precision.offload.cpu_moe_layers >= -1 &&
         precision.nats_per_ms >= 0;
}

Json json_of(const Preset& preset) {
  Json object{{"name", preset.name}, {"text", preset.text}};
  if (!preset.id.empty()) object["id"] = preset.id;
  Json settings = Json::parse(preset.settings, nullptr, false);
  if (settings.is_object()) object["settings"] = std::move(settings);
  return object;
}
Json json_of(const LoadOptions& setup) {
  return {{"model", setup.model.string()},
          {"device", setup.device},
          {"context_tokens", setup.context},
          {"kv", name_in(kv_names, setup.kv)},
          {"policy", name_in(policy_names, setup.precision.policy)},
          {"tiers", setup.precision.tiers},
          {"budget_bytes", setup.precision.budget_bytes},
          {"cpu_moe_layers", setup.precision.offload.cpu_moe_layers},
          {"nats_per_ms", setup.precision.nats_per_ms}};
}
template <class T>
Json json_of(const T& value) {
  return value;
}
template <class T>
Json json_of(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}
template <class T>
Json json_of(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(json_of(value));
  return list;
}

// A value that `fits`; the default where it does not.
template <class T>
Field field(const char* group, const char* key, T Settings::* member, Phrase expected,
            bool (*fits)(const T&) = nullptr) {
  return {group,
          key,
          std::move(expected),
          [member, fits](Settings& s, const Json& value) {
            T read{};
            if (!convert(value, read) || (fits && !fits(read))) return false;
            s.*member = std::move(read);
            return true;
          },
          [member](const Settings& s) { return json_of(s.*member); },
          [member](const Settings& a, const Settings& b) { return a.*member == b.*member; }};
}

// One of the server's, as field().
template <class T>
Field server_field(const char* key, T ServerChoice::* member, Phrase expected,
                   bool (*fits)(const T&) = nullptr) {
  return {"server",
          key,
          std::move(expected),
          [member, fits](Settings& s, const Json& value) {
            T read{};
            if (!convert(value, read) || (fits && !fits(read))) return false;
            s.server.*member = read;
            return true;
          },
          [member](const Settings& s) { return json_of(s.server.*member); },
          [member](const Settings& a, const Settings& b) { return a.server.*member == b.server.*member; }};
}

template <class Enum, std::size_t N>
Field choice(const char* group, const char* key, Enum Settings::* member, std::array<const char*, N> names,
             Phrase expected) {
  return {group,
          key,
          std::move(expected),
          [member, names](Settings& s, const Json& value) {
            if (!value.is_string()) return false;
            const auto found = std::ranges::find(names, value.get_ref<const std::string&>());
            if (found == names.end()) return false;
            s.*member = static_cast<Enum>(found - names.begin());
            return true;
          },
          [member, names](const Settings& s) { return Json(names[static_cast<std::size_t>(s.*member)]); },
          [member](const Settings& a, const Settings& b) { return a.*member == b.*member; }};
}

template <class T>
using Maybe = std::optional<T>;
bool positive(const std::int64_t& value) {
  return value >= 0;
}
bool maybe_positive(const Maybe<std::int64_t>& value) {
  return value.value_or(0) >= 0;
}
bool maybe_positive_number(const Maybe<double>& value) {
  return value.value_or(0) >= 0;
}
bool maybe_share(const Maybe<double>& value) {
  return value.value_or(0) >= 0 && value.value_or(0) <= 1;
}

const std::vector<Field>& fields() {
  using S = Settings;
  static const std::vector<Field> all{
      field("appearance", "language", &S::language, phrases::setting_language()),
      choice("appearance", "theme", &S::theme, std::array{"system", "light", "dark"},
             phrases::setting_theme()),
      field<std::int64_t>("appearance", "text_percent", &S::text_percent,
                          phrases::setting_whole_from_to(50, 300),
                          [](const std::int64_t& v) { return v >= 50 && v <= 300; }),
      field("appearance", "less_motion", &S::less_motion, phrases::true_or_false()),
      choice("appearance", "send_key", &S::send_key, std::array{"enter", "control_enter"},
             phrases::setting_send_key()),
      field("appearance", "show_live_panel", &S::show_live_panel, phrases::true_or_false()),
      field("appearance", "hottest_first", &S::hottest_first, phrases::true_or_false()),
      field("network", "offline", &S::offline, phrases::true_or_false()),
      server_field("on", &ServerChoice::on, phrases::true_or_false()),
      server_field<std::int64_t>("port", &ServerChoice::port, phrases::setting_whole_from_to(0, max_port),
                                 [](const std::int64_t& v) { return v >= 0 && v <= max_port; }),
      server_field<std::int64_t>("slots", &ServerChoice::slots,
                                 phrases::setting_whole_from_to(1, max_sequences - 1),
                                 [](const std::int64_t& v) { return v >= 1 && v < max_sequences; }),
      server_field("for_other_computers", &ServerChoice::for_other_computers, phrases::true_or_false()),
      field("models", "folders", &S::model_folders, phrases::setting_folders()),
      field("models", "recent", &S::recent_models, phrases::setting_paths()),
      field("models", "setups", &S::model_setups, phrases::setting_setups()),
      field("models", "device", &S::device, phrases::setting_device()),
      field("models", "device_description", &S::device_description, phrases::a_text()),
      field<double>("models", "budget_gb", &S::budget_gb, phrases::setting_number_or_automatic(),
                    [](const double& v) { return v >= 0; }),
      field("models", "context_tokens", &S::context_tokens, phrases::setting_whole_or_automatic(), positive),
      field("generation", "temperature", &S::temperature, phrases::setting_number_or_null(),
            maybe_positive_number),
      field("generation", "top_p", &S::top_p, phrases::setting_share_or_null(), maybe_share),
      field("generation", "min_p", &S::min_p, phrases::setting_share_or_null(), maybe_share),
      field("generation", "top_k", &S::top_k, phrases::setting_whole_or_null(), maybe_positive),
      field("generation", "repetition_penalty", &S::repetition_penalty, phrases::setting_number_or_null(),
            maybe_positive_number),
      field("generation", "max_tokens", &S::max_tokens, phrases::setting_whole_or_null(), maybe_positive),
      field("generation", "system_prompts", &S::system_prompts, phrases::setting_named_texts()),
      field("generation", "prompts", &S::prompts, phrases::setting_named_texts()),
      field("window", "geometry", &S::window_geometry, phrases::a_text()),
      field("window", "state", &S::window_state, phrases::a_text()),
  };
  return all;
}

// Only looks for the first fault and where it is.
class FaultFinder : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t at, const std::string&, const nlohmann::detail::exception&) override {
    position = at;
    return false;
  }
  std::size_t position = 0;
};

Phrase shortened(const Json& value) {
  const std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() <= 60) return phrases::name_place(text);
  if (value.is_array()) return phrases::long_list(value.size());
  return value.is_object() ? phrases::long_object(value.size()) : phrases::long_text();
}

}  // namespace

struct SettingsDocument::Parts {
  Json root = Json::object();
};

Phrase SettingsDocument::fault(std::string_view text) {
  FaultFinder finder;
  if (Json::sax_parse(text.begin(), text.end(), &finder)) {
    const auto first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
    return first != std::string_view::npos && text[first] == '{' ? Phrase() : phrases::settings_no_object();
  }
  const auto before = text.substr(0, finder.position);
  return phrases::settings_no_json(std::ranges::count(before, '\n') + 1);
}

SettingsDocument::SettingsDocument(std::string_view text) : parts_(std::make_unique<Parts>()) {
  Json root = Json::parse(text, nullptr, false);
  if (root.is_object()) parts_->root = std::move(root);
}

SettingsDocument::~SettingsDocument() = default;

Settings SettingsDocument::settings(std::vector<Phrase>* notices) const {
  Settings read;
  const auto tell = [notices](const std::string& name, const Json& value, const Phrase& expected) {
    if (notices) notices->push_back(phrases::setting_unusable(name, shortened(value), expected));
  };
  std::string_view told;  // fields of a group stand together
  for (const Field& f : fields()) {
    const auto group = parts_->root.find(f.group);
    if (group == parts_->root.end()) continue;
    if (!group->is_object()) {
      if (std::exchange(told, f.group) != f.group) tell(f.group, *group, phrases::setting_group());
      continue;
    }
    const auto value = group->find(f.key);
    if (value != group->end() && !f.read(read, *value))
      tell(std::string(f.group) + "." + f.key, *value, f.expected);
  }
  return read;
}

bool SettingsDocument::apply(const Settings& before, const Settings& after) {
  bool changed = false;
  for (const Field& f : fields()) {
    if (f.same(before, after)) continue;
    changed = true;
    Json& group = parts_->root[f.group];
    if (!group.is_object()) group = Json::object();
    Json value = f.write(after);
    if (value.is_null()) {
      group.erase(f.key);
    } else {
      group[f.key] = std::move(value);
    }
  }
  return changed;
}

std::string SettingsDocument::text() const {
  return parts_->root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace fovea::app
