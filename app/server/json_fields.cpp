#include "app/server/json_fields.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/server/errors.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

// Looked at before anything is built of it.
bool is_too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > max_json_depth) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

// Keeps the place of the first error, which the exception of the library's own parser would name.
class ErrorPlace : public nlohmann::detail::json_sax_dom_parser<Json> {
 public:
  explicit ErrorPlace(Json& json) : json_sax_dom_parser(json, false) {}
  template <class Exception>
  bool parse_error(std::size_t position, const std::string&, const Exception&) {
    at = position;
    return false;
  }
  std::size_t at = 0;
};

bool asks_for_nothing(const Json& value) {
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number()) return value == 0 || value == 1;
  if (value.is_string()) return value.get_ref<const std::string&>().empty();
  return value.empty();
}

}  // namespace

Result<Json> parse_body(std::string_view text) {
  const Phrase place = phrases::server_request_place();
  if (is_too_deep(text)) return fail(place, errors::server_deep_json(max_json_depth));
  Json json;
  ErrorPlace reader(json);
  if (!Json::sax_parse(text, &reader)) return fail(place, errors::server_no_json(reader.at));
  if (!json.is_object()) return fail(place, errors::server_no_object());
  return json;
}

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

JsonFields::JsonFields(const Json& object, std::optional<Error>& error, std::string where)
    : object_(object), error_(error), where_(std::move(where)) {}

void JsonFields::fail(Error error) {
  if (!error_) error_ = std::move(error).at(phrases::server_request_place());
}

void JsonFields::wrong(std::string_view name, const Phrase& expected) {
  fail(errors::server_wrong_parameter(place(name), expected));
}

void JsonFields::refuse(std::string_view name) {
  fail(errors::server_refused_parameter(place(name)));
}

const Json* JsonFields::take(std::string_view name) {
  const auto found = object_.find(std::string(name));
  if (found == object_.end()) return nullptr;
  read_.emplace(name);
  return found->is_null() ? nullptr : &*found;
}

std::optional<double> JsonFields::number(std::string_view name, double least, double most) {
  const Json* const value = take(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_number()) {
    const double number = value->get<double>();
    if (number >= least && number <= most) return number;
  }
  wrong(name, phrases::server_some_number(least, most));
  return std::nullopt;
}

std::optional<std::int64_t> JsonFields::integer(std::string_view name, std::int64_t least,
                                                std::int64_t most) {
  const Json* const value = take(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_number()) {  // 16.0 as well, which some clients' languages make of 16
    const double number = value->get<double>();
    const bool fits = number >= -9e18 && number <= 9e18 && number == std::floor(number);
    const bool is_large = value->is_number_unsigned() && value->get<std::uint64_t>() > INT64_MAX;
    if (fits && !is_large) {
      const auto whole =
          value->is_number_integer() ? value->get<std::int64_t>() : static_cast<std::int64_t>(number);
      if (whole >= least && whole <= most) return whole;
    }
  }
  wrong(name, phrases::server_whole_number(least, most));
  return std::nullopt;
}

std::optional<bool> JsonFields::boolean(std::string_view name) {
  const Json* const value = take(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_boolean()) return value->get<bool>();
  wrong(name, phrases::true_or_false());
  return std::nullopt;
}

std::optional<std::string> JsonFields::text(std::string_view name) {
  const Json* const value = take(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return value->get<std::string>();
  wrong(name, phrases::a_text());
  return std::nullopt;
}

std::string JsonFields::needed_text(std::string_view name) {
  auto value = text(name);
  if (!value) wrong(name, phrases::server_there());
  return std::move(value).value_or("");
}

std::optional<std::size_t> JsonFields::one_of(std::string_view name,
                                              std::initializer_list<const char*> names) {
  const Json* const value = take(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) {
    const auto found = std::ranges::find(names, value->get_ref<const std::string&>());
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  }
  wrong(name, phrases::server_one_of(std::vector<std::string>(names.begin(), names.end())));
  return std::nullopt;
}

const Json* JsonFields::list(std::string_view name) {
  const Json* const value = take(name);
  if (value == nullptr || value->is_array()) return value;
  wrong(name, phrases::server_a_list());
  return nullptr;
}

const Json* JsonFields::object(std::string_view name) {
  const Json* const value = take(name);
  if (value == nullptr || value->is_object()) return value;
  wrong(name, phrases::server_an_object());
  return nullptr;
}

std::vector<std::string> JsonFields::texts(std::string_view name, std::size_t most) {
  const Json* const value = take(name);
  if (value == nullptr) return {};
  if (value->is_string()) return {value->get<std::string>()};
  const bool are_texts = value->is_array() && value->size() <= most &&
                         std::ranges::all_of(*value, [](const Json& each) { return each.is_string(); });
  if (are_texts) return value->get<std::vector<std::string>>();
  wrong(name, phrases::server_texts(most));
  return {};
}

void JsonFields::finish(const ParameterKinds& kinds) {
  for (const auto& [name, value] : object_.items()) {
    if (has_failed()) return;
    if (read_.contains(name) || value.is_null()) continue;
    const auto is_in = [&](const std::vector<std::string_view>& list) {
      return std::ranges::find(list, name) != list.end();
    };
    if (is_in(kinds.without_effect)) continue;
    constexpr std::size_t shown = 100;  // bytes of a name
    if (!is_in(kinds.refused)) return fail(errors::server_unknown_parameter(place(name.substr(0, shown))));
    if (!asks_for_nothing(value)) return refuse(name);
  }
}

}  // namespace fovea::app
