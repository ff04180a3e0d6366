// JSON Schema 2020-12, as far as docs/grammar.md says: each schema is a rule that spells the values that it
// allows.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "engine/core/result.h"
#include "engine/grammar/errors.h"
#include "engine/grammar/front_ends.h"
#include "engine/grammar/json_text.h"

namespace fovea::grammar {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t largest_length = 1'000'000;  // beyond it Limits::states refuses in any case

// They say nothing of what is valid.
constexpr std::string_view annotations[] = {
    "$schema", "$id",      "$comment",   "$defs",    "definitions", "title",           "description",
    "default", "examples", "deprecated", "readOnly", "writeOnly",   "contentEncoding", "contentMediaType"};

enum class Type : std::uint8_t { null, boolean, integer, number, string, array, object };
constexpr std::pair<Type, std::string_view> type_names[] = {
    {Type::null, "null"},     {Type::boolean, "boolean"}, {Type::integer, "integer"},
    {Type::number, "number"}, {Type::string, "string"},   {Type::array, "array"},
    {Type::object, "object"}};

// Keywords that hold values of one type to something, and that tell the type where no "type" does.
constexpr std::pair<std::string_view, Type> keyword_types[] = {{"minLength", Type::string},
                                                               {"maxLength", Type::string},
                                                               {"pattern", Type::string},
                                                               {"format", Type::string},
                                                               {"minimum", Type::number},
                                                               {"maximum", Type::number},
                                                               {"exclusiveMinimum", Type::number},
                                                               {"exclusiveMaximum", Type::number},
                                                               {"properties", Type::object},
                                                               {"required", Type::object},
                                                               {"additionalProperties", Type::object},
                                                               {"items", Type::array},
                                                               {"prefixItems", Type::array},
                                                               {"minItems", Type::array},
                                                               {"maxItems", Type::array}};

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
// Empty: not supported.
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

class SchemaDrafter {
 public:
  SchemaDrafter(const Json& root, const Phrase& where) : root_(root), where_(where), text_(draft_) {}

  Result<Draft> run() {
    FOVEA_CHECK(rule_of(root_, "#", 0));
    return std::move(draft_);
  }

 private:
  struct Place {
    const std::string& pointer;
    std::size_t depth;
  };

  std::unexpected<Error> failed(Error error, std::string_view pointer) const {
    return std::unexpected(std::move(error).at(phrases::schema_pointer(where_, pointer)));
  }
  std::unexpected<Error> too_large() const {
    return std::unexpected(
        errors::grammar_too_large(Limits::rules, Limits::states, Limits::edges).at(where_));
  }

  // The rule of a schema; equal schemas share it, also one that refers to itself.
  Result<std::uint32_t> rule_of(const Json& schema, const std::string& pointer, std::size_t depth) {
    if (depth > Limits::nesting) return failed(errors::grammar_nested(Limits::nesting), pointer);
    const auto [at, is_new] = rules_.try_emplace(schema.dump(), 0);
    if (!is_new) return at->second;
    if (draft_.rules.size() > Limits::rules) return too_large();
    const std::uint32_t rule = at->second = draft_.add_rule(pointer);
    Automaton automaton;
    const std::uint32_t end = automaton.add_state();
    automaton.states[end].accepting = true;
    FOVEA_CHECK(connect_schema(automaton, end, schema, {pointer, depth}));
    states_ += automaton.states.size();
    if (states_ > 2 * Limits::states) return too_large();
    draft_.rules[rule].automaton = std::move(automaton);
    return rule;
  }

  Result<void> call(Automaton& automaton, std::uint32_t from, const Json& schema, std::uint32_t to,
                    const std::string& pointer, std::size_t depth) {
    FOVEA_TRY(const std::uint32_t rule, rule_of(schema, pointer, depth));
    automaton.add(from, Edge::Kind::call, rule, to);
    return {};
  }

  void sign(Automaton& automaton, std::uint32_t from, char c, std::uint32_t to) {
    automaton.add(from, Edge::Kind::characters, draft_.sets.intern(static_cast<char32_t>(c)), to);
  }
  void space(Automaton& automaton, std::uint32_t from, std::uint32_t to) {
    automaton.add(from, Edge::Kind::call, text_.white_space(), to);
  }

  // From state 0 to `end`.
  Result<void> connect_schema(Automaton& automaton, std::uint32_t end, const Json& schema,
                              const Place& place) {
    if (schema.is_boolean()) {
      if (schema.get<bool>()) return connect_types(automaton, end, Json::object(), place, all_types());
      return {};
    }
    if (!schema.is_object()) return failed(errors::schema_not_schema(), place.pointer);
    for (const char* keyword : {"$ref", "anyOf", "oneOf", "allOf", "const", "enum"}) {
      if (schema.contains(keyword)) return connect_alone(automaton, end, schema, keyword, place);
    }
    for (const auto& [keyword, value] : schema.items()) {
      if (is_annotation(keyword) || keyword == "type") continue;
      const auto known = std::ranges::find(keyword_types, keyword, &std::pair<std::string_view, Type>::first);
      if (known == std::end(keyword_types)) {
        return failed(errors::schema_keyword(keyword), place.pointer + "/" + keyword);
      }
    }
    FOVEA_TRY(const std::set<Type> types, types_of(schema, place.pointer));
    return connect_types(automaton, end, schema, place, types);
  }

  static std::set<Type> all_types() {
    return {Type::null, Type::boolean, Type::number, Type::string, Type::array, Type::object};
  }

  // Of "type", else those to which the keywords belong, else all.
  Result<std::set<Type>> types_of(const Json& schema, const std::string& pointer) {
    std::set<Type> types;
    if (const auto type = schema.find("type"); type != schema.end()) {
      const auto add = [&](const Json& name) {
        if (!name.is_string()) return false;
        const auto found = std::ranges::find(type_names, name.get<std::string>(),
                                             &std::pair<Type, std::string_view>::second);
        if (found == std::end(type_names)) return false;
        types.insert(found->first);
        return true;
      };
      const bool is_right = type->is_array() ? std::ranges::all_of(*type, add) : add(*type);
      if (!is_right)
        return failed(errors::schema_value("type", phrases::schema_type_name()), pointer + "/type");
      if (types.contains(Type::number)) types.erase(Type::integer);
      return types;
    }
    for (const auto& [keyword, type] : keyword_types) {
      if (schema.contains(keyword)) types.insert(type);
    }
    return types.empty() ? all_types() : types;
  }

  Result<void> connect_types(Automaton& automaton, std::uint32_t end, const Json& schema, const Place& place,
                             const std::set<Type>& types) {
    for (const Type type : types) {
      switch (type) {
        case Type::null:
          text_.connect_literal(automaton, 0, "null", end);
          break;
        case Type::boolean:
          text_.connect_literal(automaton, 0, "true", end);
          text_.connect_literal(automaton, 0, "false", end);
          break;
        case Type::integer:
        case Type::number:
          FOVEA_CHECK(connect_number_of(automaton, end, schema, place, type));
          break;
        case Type::string:
          FOVEA_CHECK(connect_string_of(automaton, end, schema, place));
          break;
        case Type::array:
          FOVEA_CHECK(connect_array(automaton, end, schema, place));
          break;
        case Type::object:
          FOVEA_CHECK(connect_object(automaton, end, schema, place));
          break;
      }
    }
    return {};
  }

  // Keywords that stand by themselves, but for annotations.
  Result<void> connect_alone(Automaton& automaton, std::uint32_t end, const Json& schema,
                             const std::string& keyword, const Place& place) {
    const bool is_list_of_values = keyword == "const" || keyword == "enum";
    for (const auto& [other, value] : schema.items()) {
      if (other == keyword || is_annotation(other) || (is_list_of_values && other == "type")) continue;
      return failed(errors::schema_keyword_beside(other, keyword), place.pointer + "/" + other);
    }
    const Json& value = schema.at(keyword);
    const std::string pointer = place.pointer + "/" + keyword;
    if (keyword == "const") return connect_value(automaton, end, schema, value, pointer, place.depth);
    if (keyword == "$ref") {
      FOVEA_TRY(const Json* const target, referred(value, pointer));
      return call(automaton, 0, *target, end, value.get<std::string>(), place.depth + 1);
    }
    if (!value.is_array() || value.empty()) {
      return failed(errors::schema_value(keyword, phrases::schema_filled_list()), pointer);
    }
    if (keyword == "allOf" && value.size() > 1) return failed(errors::schema_keyword("allOf"), pointer);
    if (keyword == "oneOf") FOVEA_CHECK(check_exclusive(value, pointer));
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::string at = pointer + "/" + std::to_string(i);
      if (keyword == "enum") {
        FOVEA_CHECK(connect_value(automaton, end, schema, value[i], at, place.depth));
      } else {
        FOVEA_CHECK(call(automaton, 0, value[i], end, at, place.depth + 1));
      }
    }
    return {};
  }

  Result<const Json*> referred(const Json& reference, const std::string& pointer) const {
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

  // A value of "const" or "enum", where "type" allows it.
  Result<void> connect_value(Automaton& automaton, std::uint32_t end, const Json& schema, const Json& value,
                             const std::string& pointer, std::size_t depth) {
    if (schema.contains("type")) {
      FOVEA_TRY(const std::set<Type> types, types_of(schema, pointer));
      if (!std::ranges::any_of(types, [&](Type type) { return is_of(value, type); })) return {};
    }
    if (!value.is_structured()) {
      text_.connect_literal(automaton, 0, value.dump(), end);
      return {};
    }
    // A list or object is spelled as a schema that holds each part to one value.
    Json exact = Json::object();
    if (value.is_array()) {
      exact["type"] = "array";
      exact["items"] = false;
      exact["minItems"] = value.size();
      if (!value.empty()) exact["prefixItems"] = Json::array();
      for (const Json& item : value) exact["prefixItems"].push_back({{"const", item}});
    } else {
      exact["type"] = "object";
      exact["additionalProperties"] = false;
      exact["properties"] = Json::object();
      exact["required"] = Json::array();
      for (const auto& [name, item] : value.items()) {
        exact["properties"][name] = {{"const", item}};
        exact["required"].push_back(name);
      }
    }
    return call(automaton, 0, exact, end, pointer, depth + 1);
  }

  static bool is_of(const Json& value, Type type) {
    switch (type) {
      case Type::null:
        return value.is_null();
      case Type::boolean:
        return value.is_boolean();
      case Type::integer:
        return value.is_number_integer();
      case Type::number:
        return value.is_number();
      case Type::string:
        return value.is_string();
      case Type::array:
        return value.is_array();
      case Type::object:
        return value.is_object();
    }
    return false;
  }

  // That no value is valid under two of the schemas.
  Result<void> check_exclusive(const Json& schemas, const std::string& pointer) {
    for (std::size_t i = 0; i < schemas.size(); ++i) {
      for (std::size_t j = i + 1; j < schemas.size(); ++j) {
        FOVEA_TRY(const bool are_apart, exclude(schemas[i], schemas[j], pointer, 0));
        if (!are_apart) return failed(errors::schema_one_of(i, j), pointer);
      }
    }
    return {};
  }

  Result<bool> exclude(const Json& left, const Json& right, const std::string& pointer, std::size_t depth) {
    if (depth > 8 || !left.is_object() || !right.is_object()) return false;
    for (const auto& [one, other] : {std::pair(&left, &right), std::pair(&right, &left)}) {
      if (const auto reference = one->find("$ref"); reference != one->end()) {
        FOVEA_TRY(const Json* const target, referred(*reference, pointer));
        return exclude(*target, *other, pointer, depth + 1);
      }
    }
    const std::vector<Json> a = values_of(left), b = values_of(right);
    if (!a.empty() && !b.empty()) {
      return std::ranges::none_of(a,
                                  [&](const Json& value) { return std::ranges::find(b, value) != b.end(); });
    }
    if (!left.contains("type") || !right.contains("type")) return false;
    FOVEA_TRY(std::set<Type> types, types_of(left, pointer));
    FOVEA_TRY(const std::set<Type> others, types_of(right, pointer));
    const auto meets = [&](Type type) {
      return others.contains(type) || (type == Type::integer && others.contains(Type::number)) ||
             (type == Type::number && others.contains(Type::integer));
    };
    std::erase_if(types, [&](Type type) { return !meets(type); });
    if (types.empty()) return true;
    // Objects that differ in a property that both require.
    if (types != std::set{Type::object}) return false;
    const auto requires_name = [](const Json& schema, const std::string& name) {
      const auto required = schema.find("required");
      return required != schema.end() && required->is_array() &&
             std::ranges::find(*required, Json(name)) != required->end();
    };
    const auto properties = left.find("properties"), theirs = right.find("properties");
    if (properties == left.end() || theirs == right.end() || !properties->is_object() ||
        !theirs->is_object()) {
      return false;
    }
    for (const auto& [name, schema] : properties->items()) {
      if (!theirs->contains(name) || !requires_name(left, name) || !requires_name(right, name)) continue;
      FOVEA_TRY(const bool are_apart, exclude(schema, theirs->at(name), pointer, depth + 1));
      if (are_apart) return true;
    }
    return false;
  }

  static std::vector<Json> values_of(const Json& schema) {
    if (const auto value = schema.find("const"); value != schema.end()) return {*value};
    if (const auto values = schema.find("enum"); values != schema.end() && values->is_array()) {
      return {values->begin(), values->end()};
    }
    return {};
  }

  // A count of "minLength" and the like.
  Result<std::uint64_t> count(const Json& schema, const char* keyword, std::uint64_t otherwise,
                              const Place& place) const {
    const auto found = schema.find(keyword);
    if (found == schema.end()) return otherwise;
    const bool is_whole =
        found->is_number_unsigned() ||
        (found->is_number_float() && found->get<double>() >= 0 && found->get<double>() <= 1e15 &&
         found->get<double>() == std::floor(found->get<double>()));
    if (!is_whole) {
      return failed(errors::schema_value(keyword, phrases::schema_count()), place.pointer + "/" + keyword);
    }
    return found->is_number_float() ? static_cast<std::uint64_t>(found->get<double>())
                                    : found->get<std::uint64_t>();
  }

  Result<void> connect_number_of(Automaton& automaton, std::uint32_t end, const Json& schema,
                                 const Place& place, Type type) {
    NumberRange range;
    range.is_integer = type == Type::integer;
    FOVEA_CHECK(read_bounds(schema, "minimum", "exclusiveMinimum", range.least, range.above, place));
    FOVEA_CHECK(read_bounds(schema, "maximum", "exclusiveMaximum", range.most, range.below, place));
    if (range.least || range.most) {
      connect_number(automaton, draft_.sets, 0, range, end);
    } else {
      automaton.add(0, Edge::Kind::call, range.is_integer ? text_.any_integer() : text_.any_number(), end);
    }
    return {};
  }

  // The tighter of two bounds.
  Result<void> read_bounds(const Json& schema, const char* keyword, const char* exclusive_keyword,
                           std::optional<Decimal>& bound, bool& is_exclusive, const Place& place) const {
    const bool is_upper = std::string_view(keyword) == "maximum";
    std::optional<double> so_far;
    for (const char* each : {keyword, exclusive_keyword}) {
      const auto found = schema.find(each);
      if (found == schema.end()) continue;
      const std::string pointer = place.pointer + "/" + each;
      if (!found->is_number()) return failed(errors::schema_value(each, phrases::a_number()), pointer);
      const double value = found->get<double>();
      if (so_far && (is_upper ? value > *so_far : value < *so_far)) continue;
      so_far = value;
      FOVEA_TRY(bound, decimal(*found, pointer));
      is_exclusive = each == exclusive_keyword;
    }
    return {};
  }

  Result<Decimal> decimal(const Json& number, const std::string& pointer) const {
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

  Result<void> connect_string_of(Automaton& automaton, std::uint32_t end, const Json& schema,
                                 const Place& place) {
    std::optional<Automaton> characters;
    const auto restrict = [&](const Automaton& other) -> Result<void> {
      characters = characters ? intersection(*characters, other, draft_.sets) : other;
      if (!characters) return too_large();
      return {};
    };
    const auto text_at = [&](const char* keyword) -> Result<std::string> {
      if (schema[keyword].is_string()) return schema[keyword].get<std::string>();
      return failed(errors::schema_value(keyword, phrases::a_text()), place.pointer + "/" + keyword);
    };
    if (schema.contains("pattern")) {
      FOVEA_TRY(const std::string pattern, text_at("pattern"));
      const Phrase where = phrases::schema_pointer(where_, place.pointer + "/pattern");
      FOVEA_TRY(const Automaton found, automaton_of_pattern(pattern, false, draft_.sets, where));
      FOVEA_CHECK(restrict(found));
    }
    if (schema.contains("format")) {
      FOVEA_TRY(const std::string format, text_at("format"));
      const std::string pattern = pattern_of_format(format);
      if (pattern.empty()) return failed(errors::schema_format(format), place.pointer + "/format");
      FOVEA_TRY(const Automaton found, automaton_of_pattern(pattern, true, draft_.sets, where_));
      FOVEA_CHECK(restrict(found));
    }
    FOVEA_TRY(const std::uint64_t least, count(schema, "minLength", 0, place));
    FOVEA_TRY(const std::uint64_t most, count(schema, "maxLength", Expression::unbounded, place));
    if (least > 0 || most != Expression::unbounded) {
      if (most < least) return {};
      if (least > largest_length) return too_large();
      Automaton lengths;
      const std::uint32_t last = lengths.add_state();
      lengths.states[last].accepting = true;
      const auto any = Expression::of_characters(draft_.sets.intern(CharacterSet::all()));
      const std::uint32_t bound = most == Expression::unbounded
                                      ? Expression::unbounded
                                      : static_cast<std::uint32_t>(std::min(most, largest_length));
      const auto repeated = Expression::of_repetition(any, static_cast<std::uint32_t>(least), bound);
      if (!connect(lengths, 0, repeated, last)) return too_large();
      const auto plain = without_epsilon(lengths);
      if (!plain) return too_large();
      FOVEA_CHECK(restrict(*plain));
    }
    if (characters) {
      text_.connect_string(automaton, 0, *characters, end);
    } else {
      automaton.add(0, Edge::Kind::call, text_.any_string(), end);
    }
    return {};
  }

  Result<void> connect_array(Automaton& automaton, std::uint32_t end, const Json& schema,
                             const Place& place) {
    static const Json any = true, none = Json::array();
    const Json& first = schema.contains("prefixItems") ? schema["prefixItems"] : none;
    const Json& rest = schema.contains("items") ? schema["items"] : any;
    if (!first.is_array()) {
      return failed(errors::schema_value("prefixItems", phrases::schema_list()),
                    place.pointer + "/prefixItems");
    }
    FOVEA_TRY(const std::uint64_t least, count(schema, "minItems", 0, place));
    FOVEA_TRY(const std::uint64_t most, count(schema, "maxItems", Expression::unbounded, place));
    if (std::max<std::uint64_t>(least, first.size()) > largest_length) return too_large();
    const bool is_bounded = most != Expression::unbounded;
    // From `same` items on they are alike; their number no longer matters.
    const std::uint64_t same = is_bounded ? most : std::max<std::uint64_t>({least, first.size(), 1});
    if (same > Limits::states / 4) return too_large();
    const std::uint32_t open = automaton.add_state(), close = automaton.add_state();
    sign(automaton, 0, '[', open);
    if (least == 0) sign(automaton, open, ']', end);
    sign(automaton, close, ']', end);
    if (same == 0) return {};
    std::uint32_t item = automaton.add_state();
    space(automaton, open, item);
    for (std::uint64_t i = 0;; ++i) {
      const bool is_first = i < first.size();
      const std::uint32_t behind = automaton.add_state();
      const std::string pointer =
          place.pointer + (is_first ? "/prefixItems/" + std::to_string(i) : std::string("/items"));
      FOVEA_CHECK(call(automaton, item, is_first ? first[i] : rest, behind, pointer, place.depth + 1));
      if (i + 1 >= least) space(automaton, behind, close);
      if (is_bounded && i + 1 == same) break;
      const std::uint32_t comma = automaton.add_state();
      sign(automaton, behind, ',', comma);
      if (!is_bounded && i == same) {
        space(automaton, comma, item);
        break;
      }
      item = automaton.add_state();
      space(automaton, comma, item);
    }
    return {};
  }

  // Any string but some.
  Automaton other_names(const std::vector<std::string>& names) {
    Automaton automaton;
    automaton.states[0].accepting = true;
    std::vector<std::map<char32_t, std::uint32_t>> next(1);
    for (const std::string& name : names) {
      std::uint32_t state = 0;
      for (std::size_t at = 0; at < name.size();) {
        const char32_t c = take_code_point(name, at);
        const auto [to, is_new] = next[state].try_emplace(c, 0);
        if (is_new) {
          to->second = automaton.add_state();
          automaton.states.back().accepting = true;
        }
        state = to->second;
        if (next.size() <= state) next.resize(state + 1);
      }
      automaton.states[state].accepting = false;
    }
    const std::uint32_t others = automaton.add_state();
    automaton.states[others].accepting = true;
    for (std::uint32_t state = 0; state < others; ++state) {
      CharacterSet named;
      for (const auto& [c, to] : next[state]) {
        named.add(c);
        automaton.add(state, Edge::Kind::characters, draft_.sets.intern(c), to);
      }
      automaton.add(state, Edge::Kind::characters, draft_.sets.intern(named.complement()), others);
    }
    automaton.add(others, Edge::Kind::characters, draft_.sets.intern(CharacterSet::all()), others);
    return automaton;
  }

  struct Property {
    std::string name;
    const Json* schema;
    bool is_required;
    std::string pointer;
  };

  Result<std::vector<Property>> properties_of(const Json& schema, const Json& others,
                                              const Place& place) const {
    std::vector<Property> all;
    if (const auto properties = schema.find("properties"); properties != schema.end()) {
      const std::string pointer = place.pointer + "/properties";
      if (!properties->is_object()) {
        return failed(errors::schema_value("properties", phrases::schema_object()), pointer);
      }
      for (const auto& [name, value] : properties->items())
        all.push_back({name, &value, false, pointer + "/" + name});
    }
    const auto required = schema.find("required");
    if (required == schema.end()) return all;
    const std::string pointer = place.pointer + "/required";
    if (!required->is_array())
      return failed(errors::schema_value("required", phrases::schema_names()), pointer);
    for (const Json& name : *required) {
      if (!name.is_string())
        return failed(errors::schema_value("required", phrases::schema_names()), pointer);
      const auto found = std::ranges::find(all, name.get<std::string>(), &Property::name);
      if (found != all.end()) {
        found->is_required = true;
      } else {
        all.push_back({name.get<std::string>(), &others, true, place.pointer + "/additionalProperties"});
      }
    }
    return all;
  }

  Result<void> connect_object(Automaton& automaton, std::uint32_t end, const Json& schema,
                              const Place& place) {
    static const Json any = true;
    const bool says = schema.contains("additionalProperties");
    const Json& others = says ? schema["additionalProperties"] : any;
    FOVEA_TRY(const std::vector<Property> properties, properties_of(schema, others, place));
    // Where a schema names properties, others come only if it speaks of them.
    const bool has_others = says ? others != Json(false) : properties.empty();
    const std::size_t count = properties.size();

    const std::uint32_t open = automaton.add_state(), close = automaton.add_state();
    sign(automaton, 0, '{', open);
    sign(automaton, close, '}', end);
    // name[i]: one of the properties from i on begins. behind[i]: one before i was the last so far.
    std::vector<std::uint32_t> name(count + 1), behind(count + 1);
    for (std::size_t i = 0; i <= count; ++i) {
      name[i] = automaton.add_state();
      behind[i] = automaton.add_state();
    }
    space(automaton, open, name[0]);
    bool may_end = true;
    if (has_others) {
      std::vector<std::string> names;
      for (const Property& property : properties) names.push_back(property.name);
      const std::uint32_t colon = automaton.add_state();
      if (names.empty()) {
        automaton.add(name[count], Edge::Kind::call, text_.any_string(), colon);
      } else {
        text_.connect_string(automaton, name[count], other_names(names), colon);
      }
      FOVEA_CHECK(connect_member(automaton, colon, others, behind[count],
                                 place.pointer + "/additionalProperties", place.depth));
    }
    for (std::size_t i = count;; --i) {
      if (may_end) space(automaton, behind[i], close);
      if (i < count || has_others) {
        const std::uint32_t comma = automaton.add_state();
        sign(automaton, behind[i], ',', comma);
        space(automaton, comma, name[i]);
      }
      if (i == 0) break;
      const Property& property = properties[i - 1];
      const std::uint32_t colon = automaton.add_state();
      text_.connect_literal(automaton, name[i - 1], Json(property.name).dump(), colon);
      FOVEA_CHECK(
          connect_member(automaton, colon, *property.schema, behind[i], property.pointer, place.depth));
      if (property.is_required) {
        may_end = false;
      } else {
        automaton.add_epsilon(name[i - 1], name[i]);
      }
    }
    if (may_end) sign(automaton, open, '}', end);
    return {};
  }

  Result<void> connect_member(Automaton& automaton, std::uint32_t from, const Json& schema, std::uint32_t to,
                              const std::string& pointer, std::size_t depth) {
    const std::uint32_t spaced = automaton.add_state(), value = automaton.add_state();
    sign(automaton, from, ':', spaced);
    sign(automaton, spaced, ' ', value);
    automaton.add_epsilon(spaced, value);
    return call(automaton, value, schema, to, pointer, depth + 1);
  }

  const Json& root_;
  const Phrase& where_;
  Draft draft_;
  JsonText text_;
  std::map<std::string, std::uint32_t> rules_;  // of schemas, as they are written
  std::size_t states_ = 0;
};

}  // namespace

Result<Draft> draft_of_json_schema(std::string_view text, const Phrase& where) {
  bool is_deep = false;
  const auto watch = [&](int depth, Json::parse_event_t, Json&) {
    is_deep = is_deep || depth > static_cast<int>(Limits::nesting) * 2;
    return !is_deep;
  };
  const Json root = Json::parse(text, watch, false);
  if (is_deep) return std::unexpected(errors::grammar_nested(Limits::nesting).at(where));
  if (root.is_discarded()) return std::unexpected(errors::schema_not_json().at(where));
  return SchemaDrafter(root, where).run();
}

}  // namespace fovea::grammar
