// What tests of the protocols share: requests, and what comes back.
#pragma once

#include <QString>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests_server.h"

namespace fovea::tests {

using Json = nlohmann::ordered_json;

inline Json answer_of(const Server& server, const std::string& path, const Json& body, int status = 200) {
  const std::string answer = server.ask(post(path, body.dump()));
  if (status_of(answer) != status) qFatal("%s\n%s", body.dump().c_str(), answer.c_str());
  return Json::parse(body_of(answer));
}

// The data of server-sent events, without "[DONE]"; with their names where they have some.
inline std::vector<std::pair<std::string, Json>> events_of(const std::string& text) {
  std::vector<std::pair<std::string, Json>> events;
  std::string name;
  for (const QString& line : QString::fromStdString(text).split('\n')) {
    if (line.startsWith("event: ")) name = line.mid(7).toStdString();
    if (!line.startsWith("data: ") || line == "data: [DONE]") continue;
    events.emplace_back(std::exchange(name, {}), Json::parse(line.mid(6).toStdString()));
  }
  return events;
}

inline std::string stream_of(const Server& server, const std::string& path, Json body) {
  body["stream"] = true;
  return body_of(server.ask(post(path, body.dump())));
}

inline Json merged(Json base, const Json& more) {
  base.update(more);
  return base;
}

inline const Json functions = Json::parse(
    "[{\"type\":\"function\",\"function\":{\"name\":\"look\",\"description\":\"Looks\",\"parameters\":"
    "{\"type\":\"object\",\"properties\":{\"at\":{\"type\":\"string\"}}}}},{\"type\":\"web_search\"}]");
inline const std::string said_call =
    "<think>\nHm.\n</think>\n\nI look.\n<tool_call>{\"name\": \"look\", \"arguments\": {\"at\": "
    "\"it\"}}</tool_call>";

// One of what a request can say.
struct Wish {
  const char* name;
  Json body;
  std::function<bool(const GenerateRequest&)> is_heeded;
};

}  // namespace fovea::tests
