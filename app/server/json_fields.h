// Reads a client's JSON: every parameter is read by its kind and range, or refused by its name. The first
// error stays; what is read after it is of no use.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/api/error.h"

namespace fovea::app {

using Json = nlohmann::ordered_json;

inline constexpr int max_json_depth = 64;

// One object, nested no deeper than max_json_depth.
Result<Json> parse_body(std::string_view text);

// Bytes that are not UTF-8 become U+FFFD.
std::string dump(const Json& json);

// What an endpoint knows, for its reader and for docs/server.md.
struct ParameterKinds {
  std::vector<std::string_view> honoured;
  std::vector<std::string_view> without_effect;  // on the answer here
  // Would change the answer and cannot be had. Allowed where they ask for nothing: null, false, 0, 1 and what
  // is empty.
  std::vector<std::string_view> refused;
};

class JsonFields {
 public:
  // where: before each name in errors, "messages[0]."
  JsonFields(const Json& object, std::optional<Error>& error, std::string where = {});

  // Null and what is not there are the same: nothing.
  const Json* take(std::string_view name);
  std::optional<double> number(std::string_view name, double least, double most);
  std::optional<std::int64_t> integer(std::string_view name, std::int64_t least, std::int64_t most);
  std::optional<bool> boolean(std::string_view name);
  std::optional<std::string> text(std::string_view name);
  // One of them; their index.
  std::optional<std::size_t> one_of(std::string_view name, std::initializer_list<const char*> names);
  const Json* list(std::string_view name);
  const Json* object(std::string_view name);
  // A text, or a list of them.
  std::vector<std::string> texts(std::string_view name, std::size_t most);
  std::string needed_text(std::string_view name);

  void wrong(std::string_view name, const Phrase& expected);
  void refuse(std::string_view name);
  void fail(Error error);
  std::string place(std::string_view name) const { return where_ + std::string(name); }
  bool has_failed() const { return error_.has_value(); }

  // What was not read so far: without an effect, refused, or unknown.
  void finish(const ParameterKinds& kinds);

 private:
  const Json& object_;
  std::optional<Error>& error_;
  std::string where_;
  std::set<std::string, std::less<>> read_;
};

}  // namespace fovea::app
