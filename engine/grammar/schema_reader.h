// What a schema of JSON Schema 2020-12 says, as far as docs/grammar.md goes.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/api/error.h"
#include "engine/grammar/errors.h"
#include "engine/grammar/json_text.h"

namespace fovea::grammar {

using Json = nlohmann::ordered_json;

enum class JsonType : std::uint8_t { null, boolean, integer, number, string, array, object };
// Without integers, which are numbers.
std::set<JsonType> all_types();
bool is_of(const Json& value, JsonType type);

// The expression of a "format"; empty: it is not supported.
std::string pattern_of_format(std::string_view format);

// Errors name the keyword's place as a JSON pointer; `pointer` is the schema's.
class SchemaReader {
 public:
  // Both outlive it.
  SchemaReader(const Json& root, const Phrase& where) : root_(root), where_(where) {}

  const Phrase& where() const { return where_; }
  std::unexpected<Error> failed(Error error, std::string_view pointer) const {
    return std::unexpected(std::move(error).at(phrases::schema_pointer(where_, pointer)));
  }

  // The keyword that stands by itself, but for annotations ("$ref", "anyOf", …); null: none. Refuses what is
  // not supported, or not beside it.
  Result<const char*> sole_keyword(const Json& schema, const std::string& pointer) const;
  // Of "type", else those to which the keywords belong, else all.
  Result<std::set<JsonType>> types_of(const Json& schema, const std::string& pointer) const;
  // Where a "$ref" leads.
  Result<const Json*> referred(const Json& reference, const std::string& pointer) const;
  // That no value is valid under two of the schemas.
  Result<void> check_exclusive(const Json& schemas, const std::string& pointer) const;
  // A count of "minLength" and the like.
  Result<std::uint64_t> count(const Json& schema, const char* keyword, std::uint64_t otherwise,
                              const std::string& pointer) const;
  Result<NumberRange> range_of(const Json& schema, JsonType type, const std::string& pointer) const;
  // A keyword that is a text; nothing: the schema has none.
  Result<std::optional<std::string>> text_of(const Json& schema, const char* keyword,
                                             const std::string& pointer) const;

  struct Property {
    std::string name;
    const Json* schema;
    bool is_required;
    std::string pointer;
  };
  // `others`: the schema of those that are required and not named.
  Result<std::vector<Property>> properties_of(const Json& schema, const Json& others,
                                              const std::string& pointer) const;

 private:
  Result<bool> exclude(const Json& left, const Json& right, const std::string& pointer,
                       std::size_t depth) const;
  Result<void> read_bounds(const Json& schema, const char* keyword, const char* exclusive_keyword,
                           std::optional<Decimal>& bound, bool& is_exclusive,
                           const std::string& pointer) const;
  Result<Decimal> decimal(const Json& number, const std::string& pointer) const;

  const Json& root_;
  const Phrase& where_;
};

}  // namespace fovea::grammar
