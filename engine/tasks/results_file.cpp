#include "engine/tasks/results_file.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <span>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/core/result.h"
#include "engine/tasks/catalogue.h"
#include "engine/tasks/errors.h"
#include "engine/tasks/text_formats.h"

namespace fovea::tasks {
namespace {

constexpr const char* version_key = "fovea_tasks";
constexpr int version = 1;

std::string line_of(const Json& object) {
  return object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json conditions_json(const std::vector<std::pair<std::string, std::string>>& conditions) {
  Json object = {{version_key, version}};
  for (const auto& [name, value] : conditions) object[name] = value;
  return object;
}

Json outcome_json(const TaskOutcome& outcome) {
  Json object = {{"task", outcome.task}, {"part", outcome.part}, {"document", outcome.document}};
  if (!outcome.log_likelihoods.empty()) {
    object["log_likelihoods"] = outcome.log_likelihoods;
    object["gold"] = outcome.gold;
  }
  if (!outcome.answer.empty()) object["answer"] = outcome.answer;
  object["values"] = outcome.values;
  if (outcome.dropped_tokens > 0) object["dropped_tokens"] = outcome.dropped_tokens;
  object["seconds"] = outcome.cost.seconds;
  object["bytes"] = outcome.cost.bytes;
  return object;
}

std::optional<std::vector<double>> numbers_of(const Json& list) {
  if (!list.is_array() || !std::ranges::all_of(list, [](const Json& each) { return each.is_number(); }))
    return std::nullopt;
  return list.get<std::vector<double>>();
}

// Files of older programs have none. False: it is no time.
bool seconds_of(const Json& object, double& out) {
  if (!object.contains("seconds")) return true;
  const Json& seconds = object["seconds"];
  return seconds.is_number() && (out = seconds.get<double>(), out >= 0);
}

// Nothing: it is no outcome.
std::optional<TaskOutcome> outcome_of(const Json& object) {
  TaskOutcome outcome;
  const auto text = [&](const char* key, std::string& out) {
    if (!object.contains(key)) return true;
    return object[key].is_string() && (out = object[key].get<std::string>(), true);
  };
  const auto number = [&](const char* key, std::int64_t& out) {
    if (!object.contains(key)) return true;
    return object[key].is_number_integer() && (out = object[key].get<std::int64_t>(), out >= 0);
  };
  if (!text("task", outcome.task) || !text("part", outcome.part) || !text("answer", outcome.answer) ||
      !number("document", outcome.document) || !number("gold", outcome.gold) ||
      !number("dropped_tokens", outcome.dropped_tokens) || !number("bytes", outcome.cost.bytes) ||
      !seconds_of(object, outcome.cost.seconds) || !object.contains("values") ||
      !object["values"].is_object())
    return std::nullopt;
  if (object.contains("log_likelihoods")) {
    auto numbers = numbers_of(object["log_likelihoods"]);
    if (!numbers || outcome.gold >= std::ssize(*numbers)) return std::nullopt;
    outcome.log_likelihoods = *std::move(numbers);
  }
  for (const auto& [metric, value] : object["values"].items()) {
    auto numbers = numbers_of(value);
    if (!numbers || numbers->size() != values_of(metric)) return std::nullopt;
    outcome.values[metric] = *std::move(numbers);
  }
  return outcome;
}

struct Parsed {
  TaskResults results;
  std::int64_t bytes = 0;  // of whole lines
};

Result<Parsed> parse(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file && !file.eof())
    return fail(phrases::file_place(path), errors::cannot_read(Said{system_message(errno)}));
  Parsed parsed{.results = {}, .bytes = static_cast<std::int64_t>(text.rfind('\n') + 1)};
  FOVEA_TRY(const std::vector<Json> lines,
            json_lines(std::string_view(text).substr(0, static_cast<std::size_t>(parsed.bytes)), path, {}));
  // Nothing of somebody else's file is dropped.
  if (parsed.bytes == 0 && !text.empty())
    return fail(phrases::file_place(path), errors::task_results_not_ours());
  std::int64_t number = 0;
  for (const Json& line : lines) {
    ++number;
    if (number == 1) {
      if (line.value(version_key, Json()) != version)
        return fail(phrases::file_place(path), errors::task_results_not_ours());
      for (const auto& [name, value] : line.items())
        if (value.is_string()) parsed.results.conditions.emplace_back(name, value.get<std::string>());
      continue;
    }
    auto outcome = outcome_of(line);
    if (!outcome) return fail(phrases::line_place(path, number), errors::task_results_damaged());
    parsed.results.outcomes.push_back(*std::move(outcome));
  }
  return parsed;
}

Result<void> check_same(const std::filesystem::path& path,
                        const std::vector<std::pair<std::string, std::string>>& found,
                        const std::vector<std::pair<std::string, std::string>>& wanted) {
  for (std::size_t i = 0; i < std::max(found.size(), wanted.size()); ++i) {
    const std::pair<std::string, std::string> none;
    const auto& was = i < found.size() ? found[i] : none;
    const auto& is = i < wanted.size() ? wanted[i] : none;
    if (was == is) continue;
    return fail(
        phrases::file_place(path),
        errors::task_results_of_another_run(is.first.empty() ? was.first : is.first, was.second, is.second));
  }
  return {};
}

}  // namespace

Result<ResultsFile> ResultsFile::open(const std::filesystem::path& path,
                                      const std::vector<std::pair<std::string, std::string>>& conditions) {
  auto opened = open_locked(path, 0666);
  if (!opened) {
    if (opened.error() == EWOULDBLOCK) return fail(phrases::file_place(path), errors::task_results_in_use());
    return fail(phrases::file_place(path), errors::cannot_write(Said{system_message(opened.error())}));
  }
  ResultsFile results(path, *std::move(opened));
  FOVEA_TRY(Parsed parsed, parse(path));
  results.end_ = parsed.bytes;
  if (::ftruncate(results.file_.number(), results.end_) != 0)
    return fail(phrases::file_place(path), errors::cannot_write(Said{system_message(errno)}));
  if (parsed.bytes == 0) {
    FOVEA_CHECK(results.append(line_of(conditions_json(conditions))));
  } else {
    FOVEA_CHECK(check_same(path, parsed.results.conditions, conditions));
  }
  results.kept_ = std::move(parsed.results.outcomes);
  return results;
}

Result<void> ResultsFile::append(const std::string& line) {
  const int failed = file_.write_at(end_, std::as_bytes(std::span(line)));
  if (failed != 0)
    return fail(phrases::file_place(path_), errors::cannot_write(Said{system_message(failed)}));
  end_ += std::ssize(line);
  return {};
}

Result<void> ResultsFile::add(const TaskOutcome& outcome) {
  return append(line_of(outcome_json(outcome)));
}

}  // namespace fovea::tasks

namespace fovea {

Result<TaskResults> read_task_results(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored))
    return fail(phrases::file_place(file), errors::task_results_missing());
  FOVEA_TRY(tasks::Parsed parsed, tasks::parse(file));
  if (parsed.bytes == 0) return fail(phrases::file_place(file), errors::task_results_not_ours());
  return std::move(parsed.results);
}

}  // namespace fovea
