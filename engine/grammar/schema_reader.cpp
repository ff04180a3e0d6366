#include "engine/grammar/schema_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>

#include "engine/core/result.h"

namespace fovea::grammar {
namespace {

// They say nothing of what is valid.
constexpr std::string_view annotations[] = {
    "$schema", "$id",      "$comment",   "$defs",    "definitions", "title",           "description",
    "default", "examples", "deprecated", "readOnly", "writeOnly",   "contentEncoding", "contentMediaType"};

constexpr std::pair<JsonType, std::string_view> type_names[] = {
    {JsonType::null, "null"},     {JsonType::boolean, "boolean"}, {JsonType::integer, "integer"},
    {JsonType::number, "number"}, {JsonType::string, "string"},   {JsonType::array, "array"},
    {JsonType::object, "object"}};

// Keywords that hold values of one type to something, and that tell the type where no "type" does.
constexpr std::pair<std::string_view, JsonType> keyword_types[] = {{"minLength", JsonType::string},
                                                                   {"maxLength", JsonType::string},
                                                                   {"pattern", JsonType::string},
                                                                   {"format", JsonType::string},
                                                                   {"minimum", JsonType::number},
                                                                   {"maximum", JsonType::number},
                                                                   {"exclusiveMinimum", JsonType::number},
                                                                   {"exclusiveMaximum", JsonType::number},
                                                                   {"properties", JsonType::object},
                                                                   {"required", JsonType::object},
                                                                   {"additionalProperties", JsonType::object},
                                                                   {"items", JsonType::array},
                                                                   {"prefixItems", JsonType::array},
                                                                   {"minItems", JsonType::array},
                                                                   {"maxItems", JsonType::array}};

bool is_annotation(std::string_view keyword) {
  return std::ranges::find(annotations, keyword) != std::end(annotations);
}

// Years from 0001, months and days as the calendar has them.
std::string date() {
  const std::string year = "(?:\\d{3}[1-9]|\\d{2}[1-9]0|\\d[1-9]00|[1-9]000)";
  const std::string leap = "(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)";
  return "(?:" + year +
         "-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|" +
         "02-(?:0[1-9]|1\\d|2[0-8]))|" + leap + "-02-29)";
}
std::string time() {
  return "(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{1,6})?(?:Z|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)";
}
std::vector<Json> values_of(const Json& schema) {
  if (const auto value = schema.find("const"); value != schema.end()) return {*value};
  if (const auto values = schema.find("enum"); values != schema.end() && values->is_array()) {
    return {values->begin(), values->end()};
  }
  return {};
}

}  // namespace

std::set<JsonType> all_types() {
  using enum JsonType;
  return {null, boolean, number, string, array, object};
}

bool is_of(const Json& value, JsonType type) {
  switch (type) {
    case JsonType::null:
      return value.is_null();
    case JsonType::boolean:
      return value.is_boolean();
    case JsonType::integer:
      return value.is_number_integer();
    case JsonType::number:
      return value.is_number();
    case JsonType::string:
      return value.is_string();
    case JsonType::array:
      return value.is_array();
    case JsonType::object:
      return value.is_object();
  }
  return false;
}

std::string pattern_of_format(std::string_view format) {
  if (format == "date") return date();
  if (format == "time") return time();
  if (format == "date-time") return date() + "T" + time();
  if (format == "uuid") return "[\\da-fA-F]{8}-[\\da-fA-F]{4}-[\\da-fA-F]{4}-[\\da-fA-F]{4}-[\\da-fA-F]{12}";
  if (format == "ipv4") {
    const std::string byte = "(?:\\d|[1-9]\\d|1\\d\\d|2[0-4]\\d|25[0-5])";
    return "(?:" + byte + "\\.){3}" + byte;
  }
  return {};
}

Result<const char*> SchemaReader::sole_keyword(const Json& schema, const std::string& pointer) const {
  for (const char* keyword : {"$ref", "anyOf", "oneOf", "allOf", "const", "enum"}) {
    if (!schema.contains(keyword)) continue;
    const bool is_list_of_values =
        keyword == std::string_view("const") || keyword == std::string_view("enum");
    for (const auto& [other, value] : schema.items()) {
      if (other == keyword || is_annotation(other) || (is_list_of_values && other == "type")) continue;
      return failed(errors::schema_keyword_beside(other, keyword), pointer + "/" + other);
    }
    return keyword;
  }
  for (const auto& [keyword, value] : schema.items()) {
    if (is_annotation(keyword) || keyword == "type") continue;
    const auto known =
        std::ranges::find(keyword_types, keyword, &std::pair<std::string_view, JsonType>::first);
    if (known == std::end(keyword_types))
      return failed(errors::schema_keyword(keyword), pointer + "/" + keyword);
  }
  return nullptr;
}

Result<std::set<JsonType>> SchemaReader::types_of(const Json& schema, const std::string& pointer) const {
  std::set<JsonType> types;
  if (const auto type = schema.find("type"); type != schema.end()) {
    const auto add = [&](const Json& name) {
      if (!name.is_string()) return false;
      const auto found = std::ranges::find(type_names, name.get<std::string>(),
                                           &std::pair<JsonType, std::string_view>::second);
      if (found == std::end(type_names)) return false;
      types.insert(found->first);
      return true;
    };
    const bool is_right = type->is_array() ? std::ranges::all_of(*type, add) : add(*type);
    if (!is_right)
      return failed(errors::schema_value("type", phrases::schema_type_name()), pointer + "/type");
    if (types.contains(JsonType::number)) types.erase(JsonType::integer);
    return types;
  }
  for (const auto& [keyword, type] : keyword_types) {
    if (schema.contains(keyword)) types.insert(type);
  }
  return types.empty() ? all_types() : types;
}

Result<const Json*> SchemaReader::referred(const Json& reference, const std::string& pointer) const {
  if (!reference.is_string()) return failed(errors::schema_value("$ref", phrases::a_text()), pointer);
  const std::string text = reference.get<std::string>();
  const auto lost = [&] { return failed(errors::schema_reference(text), pointer); };
  if (text == "#") return &root_;
  if (!text.starts_with("#/") || text.contains('%')) return lost();
  const Json* at = &root_;
  for (std::size_t begin = 2; begin <= text.size();) {
    const std::size_t end = std::min(text.find('/', begin), text.size());
    std::string step;
    for (std::size_t i = begin; i < end; ++i) {
      const bool is_escape = text[i] == '~' && i + 1 < end && (text[i + 1] == '0' || text[i + 1] == '1');
      step += is_escape ? (text[++i] == '0' ? '~' : '/') : text[i];
    }
    if (at->is_object() && at->contains(step)) {
      at = &at->at(step);
    } else {
      std::size_t index = 0;
      const auto [rest, error] = std::from_chars(step.data(), step.data() + step.size(), index);
      if (!at->is_array() || error != std::errc() || rest != step.data() + step.size() ||
          index >= at->size()) {
        return lost();
      }
      at = &(*at)[index];
    }
    begin = end + 1;
  }
  return at;
}

Result<void> SchemaReader::check_exclusive(const Json& schemas, const std::string& pointer) const {
  for (std::size_t i = 0; i < schemas.size(); ++i) {
    for (std::size_t j = i + 1; j < schemas.size(); ++j) {
      FOVEA_TRY(const bool are_apart, exclude(schemas[i], schemas[j], pointer, 0));
      if (!are_apart) return failed(errors::schema_one_of(i, j), pointer);
    }
  }
  return {};
}

Result<bool> SchemaReader::exclude(const Json& left, const Json& right, const std::string& pointer,
                                   std::size_t depth) const {
  if (depth > 8 || !left.is_object() || !right.is_object()) return false;
  for (const auto& [one, other] : {std::pair(&left, &right), std::pair(&right, &left)}) {
    if (const auto reference = one->find("$ref"); reference != one->end()) {
      FOVEA_TRY(const Json* const target, referred(*reference, pointer));
      return exclude(*target, *other, pointer, depth + 1);
    }
  }
  const std::vector<Json> a = values_of(left), b = values_of(right);
  if (!a.empty() && !b.empty()) {
    return std::ranges::none_of(a, [&](const Json& value) { return std::ranges::find(b, value) != b.end(); });
  }
  if (!left.contains("type") || !right.contains("type")) return false;
  FOVEA_TRY(std::set<JsonType> types, types_of(left, pointer));
  FOVEA_TRY(const std::set<JsonType> others, types_of(right, pointer));
  const auto meets = [&](JsonType type) {
    return others.contains(type) || (type == JsonType::integer && others.contains(JsonType::number)) ||
           (type == JsonType::number && others.contains(JsonType::integer));
  };
  std::erase_if(types, [&](JsonType type) { return !meets(type); });
  if (types.empty()) return true;
  // Objects that differ in a property that both require.
  if (types != std::set{JsonType::object}) return false;
  const auto requires_name = [](const Json& schema, const std::string& name) {
    const auto required = schema.find("required");
    return required != schema.end() && required->is_array() &&
           std::ranges::find(*required, Json(name)) != required->end();
  };
  const auto properties = left.find("properties"), theirs = right.find("properties");
  if (properties == left.end() || theirs == right.end() || !properties->is_object() || !theirs->is_object()) {
    return false;
  }
  for (const auto& [name, schema] : properties->items()) {
    if (!theirs->contains(name) || !requires_name(left, name) || !requires_name(right, name)) continue;
    FOVEA_TRY(const bool are_apart, exclude(schema, theirs->at(name), pointer, depth + 1));
    if (are_apart) return true;
  }
  return false;
}

Result<std::uint64_t> SchemaReader::count(const Json& schema, const char* keyword, std::uint64_t otherwise,
                                          const std::string& pointer) const {
  const auto found = schema.find(keyword);
  if (found == schema.end()) return otherwise;
  const bool is_whole =
      found->is_number_unsigned() ||
      (found->is_number_float() && found->get<double>() >= 0 && found->get<double>() <= 1e15 &&
       found->get<double>() == std::floor(found->get<double>()));
  if (!is_whole) {
    return failed(errors::schema_value(keyword, phrases::schema_count()), pointer + "/" + keyword);
  }
  return found->is_number_float() ? static_cast<std::uint64_t>(found->get<double>())
                                  : found->get<std::uint64_t>();
}

Result<NumberRange> SchemaReader::range_of(const Json& schema, JsonType type,
                                           const std::string& pointer) const {
  NumberRange range;
  range.is_integer = type == JsonType::integer;
  FOVEA_CHECK(read_bounds(schema, "minimum", "exclusiveMinimum", range.least, range.above, pointer));
  FOVEA_CHECK(read_bounds(schema, "maximum", "exclusiveMaximum", range.most, range.below, pointer));
  return range;
}

// The tighter of two bounds.
Result<void> SchemaReader::read_bounds(const Json& schema, const char* keyword, const char* exclusive_keyword,
                                       std::optional<Decimal>& bound, bool& is_exclusive,
                                       const std::string& at) const {
  const bool is_upper = std::string_view(keyword) == "maximum";
  std::optional<double> so_far;
  for (const char* each : {keyword, exclusive_keyword}) {
    const auto found = schema.find(each);
    if (found == schema.end()) continue;
    const std::string pointer = at + "/" + each;
    if (!found->is_number()) return failed(errors::schema_value(each, phrases::a_number()), pointer);
    const double value = found->get<double>();
    if (so_far && (is_upper ? value > *so_far : value < *so_far)) continue;
    so_far = value;
    FOVEA_TRY(bound, decimal(*found, pointer));
    is_exclusive = each == exclusive_keyword;
  }
  return {};
}

Result<Decimal> SchemaReader::decimal(const Json& number, const std::string& pointer) const {
  std::string text = number.dump();
  if (number.is_number_float()) {
    char digits[400];
    const auto end =
        std::to_chars(digits, digits + sizeof digits, number.get<double>(), std::chars_format::fixed);
    text.assign(digits, end.ptr);
  }
  Decimal decimal;
  decimal.is_negative = text.starts_with('-');
  if (decimal.is_negative) text.erase(0, 1);
  const std::size_t point = text.find('.');
  decimal.whole = text.substr(0, point);
  if (point != text.npos) decimal.fraction = text.substr(point + 1);
  if (decimal.whole.size() + decimal.fraction.size() > number_digits) {
    return failed(errors::schema_digits(number.dump(), number_digits), pointer);
  }
  return decimal;
}

Result<std::optional<std::string>> SchemaReader::text_of(const Json& schema, const char* keyword,
                                                         const std::string& pointer) const {
  const auto found = schema.find(keyword);
  if (found == schema.end()) return std::nullopt;
  if (found->is_string()) return found->get<std::string>();
  return failed(errors::schema_value(keyword, phrases::a_text()), pointer + "/" + keyword);
}

Result<std::vector<SchemaReader::Property>> SchemaReader::properties_of(
    const Json& schema, const Json& others, const std::string& schema_pointer) const {
  std::vector<Property> all;
  if (const auto properties = schema.find("properties"); properties != schema.end()) {
    const std::string pointer = schema_pointer + "/properties";
    if (!properties->is_object()) {
      return failed(errors::schema_value("properties", phrases::schema_object()), pointer);
    }
    for (const auto& [name, value] : properties->items())
      all.push_back({name, &value, false, pointer + "/" + name});
  }
  const auto required = schema.find("required");
  if (required == schema.end()) return all;
  const std::string pointer = schema_pointer + "/required";
  if (!required->is_array())
    return failed(errors::schema_value("required", phrases::schema_names()), pointer);
  for (const Json& name : *required) {
    if (!name.is_string()) return failed(errors::schema_value("required", phrases::schema_names()), pointer);
    const auto found = std::ranges::find(all, name.get<std::string>(), &Property::name);
    if (found != all.end()) {
      found->is_required = true;
    } else {
      all.push_back({name.get<std::string>(), &others, true, schema_pointer + "/additionalProperties"});
    }
  }
  return all;
}

}  // namespace fovea::grammar
