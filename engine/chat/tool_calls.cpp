#include "engine/chat/tool_calls.h"

#include <algorithm>
#include <utility>

#include "engine/core/json_depth.h"

namespace fovea::chat {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view white = " \t\r\n";

std::optional<ToolCall> call_of(std::string_view source) {
  if (json_depth(source) > max_json_depth) return {};
  const ordered_json json = ordered_json::parse(source, nullptr, false);
  if (!json.is_object() || !json.contains("name") || !json["name"].is_string()) return {};
  if (!json.contains("arguments") || !json["arguments"].is_object()) return {};
  ToolCall call{json["name"].get<std::string>(), json["arguments"], {}};
  if (json.contains("id") && json["id"].is_string()) call.id = json["id"].get<std::string>();
  return call;
}

}  // namespace

CalledText split_calls(std::string_view text) {
  CalledText split;
  const auto add = [&split](std::string_view more) {
    if (more.find_first_not_of(white) == std::string_view::npos && !split.calls.empty()) return;
    split.text += more;
  };
  std::size_t done = 0;
  for (std::size_t at = text.find(call_open); at != std::string_view::npos;) {
    const std::size_t begin = at + call_open.size();
    const std::size_t end = text.find(call_close, begin);
    if (end == std::string_view::npos) break;
    // A string among the arguments may spell the tag.
    std::optional<ToolCall> call;
    std::size_t close = end;
    for (; close != std::string_view::npos && !call; close = text.find(call_close, close + 1)) {
      call = call_of(text.substr(begin, close - begin));
      if (call) break;
    }
    if (!call) {
      at = text.find(call_open, begin);
      continue;
    }
    std::string_view before = text.substr(done, at - done);
    before = before.substr(0, before.find_last_not_of(white) + 1);
    add(before);
    split.calls.push_back(*std::move(call));
    done = close + call_close.size();
    at = text.find(call_open, done);
  }
  add(text.substr(done));
  return split;
}

const Tool* ToolSet::find(std::string_view name) const {
  const auto found = std::ranges::find(tools, name, &Tool::name);
  return found == tools.end() ? nullptr : &*found;
}

}  // namespace fovea::chat
