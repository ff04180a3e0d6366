#include "app/files/error_json.h"

#include <nlohmann/json.hpp>

namespace fovea::app {

using Json = nlohmann::ordered_json;

Json as_json(const Error& error) {
  return {{"kind", static_cast<int>(error.kind)},
          {"where", error.where_words()},
          {"what", error.what_words()},
          {"advice", error.advice_words()}};
}

std::optional<Error> as_error(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  const auto text = [&json](const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  const auto kind = json.find("kind");
  const std::int64_t number =
      kind != json.end() && kind->is_number_integer() ? kind->get<std::int64_t>() : -1;
  const bool is_known = number >= 0 && number < static_cast<int>(ErrorKind::internal);
  return Error{is_known ? static_cast<ErrorKind>(number) : ErrorKind::internal, text("where"), text("what"),
               text("advice")};
}

}  // namespace fovea::app
