#include "app/files/error_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "app/files/errors.h"

namespace fovea::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr Code table[] = {
#include "error_table.inc"
};

// Phrases within phrases of a file are no deeper than this.
constexpr int max_depth = 8;

const Code* find_code(std::string_view id) {
  const auto* found = std::ranges::lower_bound(table, id, {}, &Code::id);
  return found != std::end(table) && found->id == id ? found : nullptr;
}

Json json_of(const Phrase& phrase);

// [what it is, its value]
Json json_of(const Argument& argument) {
  struct {
    Json operator()(std::int64_t value) const { return {"number", value}; }
    Json operator()(std::uint64_t value) const { return {"number", value}; }
    Json operator()(double value) const { return {"real", value}; }
    Json operator()(const Bytes& bytes) const { return {"bytes", bytes.count}; }
    Json operator()(const Said& said) const { return {"said", said.words}; }
    Json operator()(const std::string& name) const { return {"name", name}; }
    Json operator()(const std::filesystem::path& path) const { return {"path", path.string()}; }
    Json operator()(const std::vector<std::int64_t>& list) const { return {"numbers", list}; }
    Json operator()(const std::vector<std::string>& list) const { return {"names", list}; }
    Json operator()(const std::vector<Phrase>& list) const {
      Json phrases = Json::array();
      for (const Phrase& each : list) phrases.push_back(json_of(each));
      return {"phrases", phrases};
    }
  } const json;
  return std::visit(json, argument);
}

Json json_of(const Phrase& phrase) {
  if (phrase.empty()) return nullptr;
  Json arguments = Json::array();
  for (const Argument& each : phrase.arguments) arguments.push_back(json_of(each));
  return {{"code", phrase.code->id}, {"arguments", arguments}};
}

template <class T, class Is>
std::optional<Argument> list_of(const Json& json, const Is& is) {
  if (!json.is_array() || !std::ranges::all_of(json, is)) return std::nullopt;
  return json.get<std::vector<T>>();
}

std::optional<Phrase> phrase_of(const Json& json, int depth);

std::optional<Argument> phrases_of(const Json& json, int depth) {
  if (!json.is_array()) return std::nullopt;
  std::vector<Phrase> phrases;
  for (const Json& each : json) {
    auto phrase = phrase_of(each, depth);
    if (!phrase) return std::nullopt;
    phrases.push_back(*std::move(phrase));
  }
  return phrases;
}

std::optional<Argument> argument_of(const Json& json, int depth) {
  if (!json.is_array() || json.size() != 2 || !json[0].is_string()) return std::nullopt;
  const auto what = json[0].get<std::string>();
  const Json& value = json[1];
  if (what == "number" && value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number > std::uint64_t{INT64_MAX}) return number;
    return static_cast<std::int64_t>(number);
  }
  if (what == "number" && value.is_number_integer()) return value.get<std::int64_t>();
  if (what == "real" && value.is_number()) return value.get<double>();
  if (what == "bytes" && value.is_number_integer()) return Bytes{value.get<std::int64_t>()};
  if (what == "said" && value.is_string()) return Said{value.get<std::string>()};
  if (what == "name" && value.is_string()) return value.get<std::string>();
  if (what == "path" && value.is_string()) return std::filesystem::path(value.get<std::string>());
  if (what == "numbers")
    return list_of<std::int64_t>(value, [](const Json& each) { return each.is_number_integer(); });
  if (what == "names") return list_of<std::string>(value, [](const Json& each) { return each.is_string(); });
  if (what == "phrases") return phrases_of(value, depth + 1);
  return std::nullopt;
}

std::optional<Phrase> phrase_of(const Json& json, int depth) {
  if (json.is_null()) return Phrase();
  if (depth > max_depth || !json.is_object() || !json.contains("code") || !json["code"].is_string() ||
      !json.contains("arguments") || !json["arguments"].is_array())
    return std::nullopt;
  const Code* code = find_code(json["code"].get<std::string>());
  if (code == nullptr || ArgumentNames(*code).count != json["arguments"].size()) return std::nullopt;
  Phrase phrase(code, {});
  for (const Json& each : json["arguments"]) {
    auto argument = argument_of(each, depth);
    if (!argument) return std::nullopt;
    phrase.arguments.push_back(*std::move(argument));
  }
  return phrase;
}

}  // namespace

std::span<const Code> error_table() {
  return table;
}

Json as_json(const Error& error) {
  return {{"kind", static_cast<int>(error.kind)},
          {"where", json_of(error.where)},
          {"what", json_of(error.what)},
          {"advice", json_of(error.advice)}};
}

std::optional<Error> as_error(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  const Json kind = json.value("kind", Json());
  const bool is_known = kind.is_number_unsigned() && kind <= static_cast<unsigned>(ErrorKind::internal);
  if (const Json words = json.value("what", Json()); words.is_string()) {  // before there were codes
    Error error = errors::earlier_version_said(Said{words.get<std::string>()});
    if (is_known) error.kind = static_cast<ErrorKind>(kind.get<unsigned>());
    return error;
  }
  const auto phrase = [&json](const char* key) { return phrase_of(json.value(key, Json()), 0); };
  auto [where, what, advice] = std::tuple(phrase("where"), phrase("what"), phrase("advice"));
  if (!where || !what || what->empty() || !advice) return std::nullopt;
  return Error{is_known ? static_cast<ErrorKind>(kind.get<unsigned>()) : what->code->kind, *std::move(where),
               *std::move(what), *std::move(advice)};
}

}  // namespace fovea::app
