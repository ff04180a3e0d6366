// JSON Schema 2020-12 as rules: each schema is one that spells the values that it allows.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "engine/core/result.h"
#include "engine/grammar/errors.h"
#include "engine/grammar/front_ends.h"
#include "engine/grammar/json_text.h"
#include "engine/grammar/schema_reader.h"

namespace fovea::grammar {
namespace {

constexpr std::uint64_t largest_length = 1'000'000;  // beyond it Limits::states refuses in any case

class SchemaDrafter {
 public:
  SchemaDrafter(const Json& root, const Spelling& spelling, const Phrase& where)
      : root_(root), schema_(root, where), text_(draft_, spelling) {}

  Result<Draft> run() {
    FOVEA_CHECK(rule_of(root_, "#", 0));
    return std::move(draft_);
  }

 private:
  struct Place {
    const std::string& pointer;
    std::size_t depth;
  };

  std::unexpected<Error> too_large() const {
    return std::unexpected(
        errors::grammar_too_large(Limits::rules, Limits::states, Limits::edges).at(schema_.where()));
  }

  // The rule of a schema; equal schemas share it, also one that refers to itself.
  Result<std::uint32_t> rule_of(const Json& schema, const std::string& pointer, std::size_t depth) {
    if (depth > Limits::nesting) return schema_.failed(errors::grammar_nested(Limits::nesting), pointer);
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
    text_.connect_space(automaton, from, to);
  }

  // From state 0 to `end`.
  Result<void> connect_schema(Automaton& automaton, std::uint32_t end, const Json& schema,
                              const Place& place) {
    if (schema.is_boolean()) {
      if (schema.get<bool>()) return connect_types(automaton, end, Json::object(), place, all_types());
      return {};
    }
    if (!schema.is_object()) return schema_.failed(errors::schema_not_schema(), place.pointer);
    FOVEA_TRY(const char* const keyword, schema_.sole_keyword(schema, place.pointer));
    if (keyword != nullptr) return connect_alone(automaton, end, schema, keyword, place);
    FOVEA_TRY(const std::set<JsonType> types, schema_.types_of(schema, place.pointer));
    return connect_types(automaton, end, schema, place, types);
  }

  Result<void> connect_types(Automaton& automaton, std::uint32_t end, const Json& schema, const Place& place,
                             const std::set<JsonType>& types) {
    for (const JsonType type : types) {
      switch (type) {
        case JsonType::null:
          text_.connect_literal(automaton, 0, "null", end);
          break;
        case JsonType::boolean:
          text_.connect_literal(automaton, 0, "true", end);
          text_.connect_literal(automaton, 0, "false", end);
          break;
        case JsonType::integer:
        case JsonType::number:
          FOVEA_CHECK(connect_number_of(automaton, end, schema, place, type));
          break;
        case JsonType::string:
          FOVEA_CHECK(connect_string_of(automaton, end, schema, place));
          break;
        case JsonType::array:
          FOVEA_CHECK(connect_array(automaton, end, schema, place));
          break;
        case JsonType::object:
          FOVEA_CHECK(connect_object(automaton, end, schema, place));
          break;
      }
    }
    return {};
  }

  // Keywords that stand by themselves, but for annotations.
  Result<void> connect_alone(Automaton& automaton, std::uint32_t end, const Json& schema,
                             const std::string& keyword, const Place& place) {
    const Json& value = schema.at(keyword);
    const std::string pointer = place.pointer + "/" + keyword;
    if (keyword == "const") return connect_value(automaton, end, schema, value, pointer, place.depth);
    if (keyword == "$ref") {
      FOVEA_TRY(const Json* const target, schema_.referred(value, pointer));
      return call(automaton, 0, *target, end, value.get<std::string>(), place.depth + 1);
    }
    if (!value.is_array() || value.empty()) {
      return schema_.failed(errors::schema_value(keyword, phrases::schema_filled_list()), pointer);
    }
    if (keyword == "allOf" && value.size() > 1)
      return schema_.failed(errors::schema_keyword("allOf"), pointer);
    if (keyword == "oneOf") FOVEA_CHECK(schema_.check_exclusive(value, pointer));
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

  // A value of "const" or "enum", where "type" allows it.
  Result<void> connect_value(Automaton& automaton, std::uint32_t end, const Json& schema, const Json& value,
                             const std::string& pointer, std::size_t depth) {
    if (schema.contains("type")) {
      FOVEA_TRY(const std::set<JsonType> types, schema_.types_of(schema, pointer));
      if (!std::ranges::any_of(types, [&](JsonType type) { return is_of(value, type); })) return {};
    }
    if (value.is_string()) {
      if (text_.connect_string(automaton, 0, value.get<std::string>(), end)) return {};
      return schema_.failed(errors::schema_not_of_spelling(value.get<std::string>()), pointer);
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

  Result<void> connect_number_of(Automaton& automaton, std::uint32_t end, const Json& schema,
                                 const Place& place, JsonType type) {
    FOVEA_TRY(const NumberRange range, schema_.range_of(schema, type, place.pointer));
    if (range.least || range.most) {
      connect_number(automaton, draft_.sets, 0, range, end);
    } else {
      automaton.add(0, Edge::Kind::call, range.is_integer ? text_.any_integer() : text_.any_number(), end);
    }
    return {};
  }

  Result<void> connect_string_of(Automaton& automaton, std::uint32_t end, const Json& schema,
                                 const Place& place) {
    std::optional<Automaton> characters;
    const auto restrict = [&](const Automaton& other) -> Result<void> {
      characters = characters ? intersection(*characters, other, draft_.sets) : other;
      if (!characters) return too_large();
      return {};
    };
    FOVEA_TRY(const auto pattern, schema_.text_of(schema, "pattern", place.pointer));
    if (pattern) {
      const Phrase where = phrases::schema_pointer(schema_.where(), place.pointer + "/pattern");
      FOVEA_TRY(const Automaton found, automaton_of_pattern(*pattern, false, draft_.sets, where));
      FOVEA_CHECK(restrict(found));
    }
    FOVEA_TRY(const auto format, schema_.text_of(schema, "format", place.pointer));
    if (format) {
      const std::string spelled = pattern_of_format(*format);
      if (spelled.empty()) return schema_.failed(errors::schema_format(*format), place.pointer + "/format");
      FOVEA_TRY(const Automaton found, automaton_of_pattern(spelled, true, draft_.sets, schema_.where()));
      FOVEA_CHECK(restrict(found));
    }
    FOVEA_TRY(const std::uint64_t least, schema_.count(schema, "minLength", 0, place.pointer));
    FOVEA_TRY(const std::uint64_t most,
              schema_.count(schema, "maxLength", Expression::unbounded, place.pointer));
    if (least > 0 || most != Expression::unbounded) {
      if (most < least) return {};
      FOVEA_TRY(const Automaton lengths, any_of_length(least, most));
      FOVEA_CHECK(restrict(lengths));
    }
    if (!characters) {
      automaton.add(0, Edge::Kind::call, text_.any_string(), end);
    } else if (!text_.connect_string(automaton, 0, *characters, end)) {
      return too_large();
    }
    return {};
  }

  // Texts of so many characters.
  Result<Automaton> any_of_length(std::uint64_t least, std::uint64_t most) {
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
    return *plain;
  }

  Result<void> connect_array(Automaton& automaton, std::uint32_t end, const Json& schema,
                             const Place& place) {
    static const Json any = true, none = Json::array();
    const Json& first = schema.contains("prefixItems") ? schema["prefixItems"] : none;
    const Json& rest = schema.contains("items") ? schema["items"] : any;
    if (!first.is_array()) {
      return schema_.failed(errors::schema_value("prefixItems", phrases::schema_list()),
                            place.pointer + "/prefixItems");
    }
    FOVEA_TRY(const std::uint64_t least, schema_.count(schema, "minItems", 0, place.pointer));
    FOVEA_TRY(const std::uint64_t most,
              schema_.count(schema, "maxItems", Expression::unbounded, place.pointer));
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

  Result<void> connect_object(Automaton& automaton, std::uint32_t end, const Json& schema,
                              const Place& place) {
    static const Json any = true;
    const bool says = schema.contains("additionalProperties");
    const Json& others = says ? schema["additionalProperties"] : any;
    FOVEA_TRY(const std::vector<SchemaReader::Property> properties,
              schema_.properties_of(schema, others, place.pointer));
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
      for (const auto& property : properties) names.push_back(property.name);
      const std::uint32_t colon = automaton.add_state();
      if (names.empty()) {
        automaton.add(name[count], Edge::Kind::call, text_.any_name(), colon);
      } else if (!text_.connect_name(automaton, name[count], other_names(names), colon)) {
        return too_large();
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
      const SchemaReader::Property& property = properties[i - 1];
      const std::uint32_t colon = automaton.add_state();
      if (!text_.connect_name(automaton, name[i - 1], property.name, colon))
        return schema_.failed(errors::schema_not_of_spelling(property.name), property.pointer);
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
    const std::uint32_t value = automaton.add_state();
    text_.connect_colon(automaton, from, value);
    return call(automaton, value, schema, to, pointer, depth + 1);
  }

  const Json& root_;
  SchemaReader schema_;
  Draft draft_;
  JsonText text_;
  std::map<std::string, std::uint32_t> rules_;  // of schemas, as they are written
  std::size_t states_ = 0;
};

}  // namespace

Result<Draft> draft_of_json_schema(std::string_view text, const Phrase& where, const Spelling& spelling) {
  bool is_deep = false;
  const auto watch = [&](int depth, Json::parse_event_t, Json&) {
    is_deep = is_deep || depth > static_cast<int>(Limits::nesting) * 2;
    return !is_deep;
  };
  const Json root = Json::parse(text, watch, false);
  if (is_deep) return std::unexpected(errors::grammar_nested(Limits::nesting).at(where));
  if (root.is_discarded()) return std::unexpected(errors::schema_not_json().at(where));
  return SchemaDrafter(root, spelling, where).run();
}

}  // namespace fovea::grammar
