#include "engine/tasks/text_formats.h"

#include "engine/core/json_depth.h"
#include "engine/core/result.h"
#include "engine/tasks/errors.h"

namespace fovea::tasks {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::vector<std::vector<std::string>> comma_separated(std::string_view text) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> row;
  std::string value;
  bool quoted = false;
  const auto end_value = [&] { row.push_back(std::exchange(value, {})); };
  const auto end_row = [&] {
    end_value();
    rows.push_back(std::exchange(row, {}));
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c != '"') {
        value += c;
      } else if (at + 1 < text.size() && text[at + 1] == '"') {
        value += text[++at];
      } else {
        quoted = false;
      }
    } else if (c == '"' && value.empty()) {
      quoted = true;
    } else if (c == ',') {
      end_value();
    } else if (c == '\n') {
      end_row();
    } else if (c != '\r') {
      value += c;
    }
  }
  if (!row.empty() || !value.empty()) end_row();
  return rows;
}

Result<std::vector<Json>> json_lines(std::string_view text, const std::filesystem::path& file,
                                     const std::vector<std::string>& keys) {
  std::vector<Json> objects;
  std::int64_t number = 0;
  for (const std::string& line : lines_of(text)) {
    ++number;
    if (line.empty()) continue;
    Json object = json_depth(line) > 64 ? Json() : Json::parse(line, nullptr, false);
    if (!object.is_object()) return fail(phrases::line_place(file, number), errors::task_line_no_object());
    for (const std::string& key : keys) {
      if (!object.contains(key))
        return fail(phrases::line_place(file, number), errors::task_line_without_key(key));
      Json& value = object[key];
      if (value.is_number()) value = value.dump();
      if (!value.is_string()) return fail(phrases::line_place(file, number), errors::task_value_no_text(key));
    }
    objects.push_back(std::move(object));
  }
  return objects;
}

}  // namespace fovea::tasks
