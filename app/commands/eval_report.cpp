#include "app/commands/eval_report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <spdlog/fmt/fmt.h>

namespace fovea::app {
namespace {

using Json = nlohmann::ordered_json;
using Row = std::vector<std::string>;

// How wide a terminal shows it, for texts without wide characters.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string table(const std::vector<Row>& rows, TableForm form) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  const bool markdown = form == TableForm::markdown;
  std::string text;
  for (std::size_t line = 0; line < rows.size(); ++line) {
    std::string shown = markdown ? "|" : "";
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::string& value = rows[line][i];
      shown += (markdown ? " " : "") + value + std::string(widths[i] - width(value), ' ') +
               (markdown ? " |" : "  ");
    }
    text += shown.substr(0, shown.find_last_not_of(' ') + 1) + "\n";
    if (markdown && line == 0) {
      text += "|";
      for (std::size_t i = 0; i < widths.size(); ++i) text += " --- |";
      text += "\n";
    }
  }
  return text;
}

std::string with_error(double value, const std::optional<double>& error, bool sign = false) {
  const std::string number = sign ? fmt::format("{:+.4f}", value) : fmt::format("{:.4f}", value);
  return error ? fmt::format("{} ± {:.4f}", number, *error) : number;
}

// Of any order of magnitude.
std::string small_with_error(double value, const std::optional<double>& error) {
  return error ? fmt::format("{:.3g} ± {:.2g}", value, *error) : fmt::format("{:.3g}", value);
}

std::string chance_of(const std::optional<double>& chance) {
  return chance ? fmt::format("{:.2f}", *chance) : "";
}

Json error_json(const std::optional<double>& error) {
  return error ? Json(*error) : Json();
}

Json difference_json(const PairedDifference& difference) {
  return {{"value", difference.value}, {"standard_error", error_json(difference.standard_error)}};
}

bool is_clear(const PairedDifference& difference) {
  return difference.standard_error && std::abs(difference.value) > 2 * *difference.standard_error;
}

// "a, b and c"
std::string listed(const std::vector<std::string>& items) {
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i)
    text += (i == 0 ? "" : i + 1 == items.size() ? " and " : ", ") + items[i];
  return text;
}

std::string joined(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text;
}

// What both runs took, over the documents of all tasks; empty: the files do not tell.
std::string cost_clause(const std::vector<TaskComparison>& comparisons) {
  double documents = 0, first = 0, second = 0, log_ratio = 0, variance = 0;
  std::int64_t first_bytes = 0, second_bytes = 0;
  bool has_error = true;
  for (const TaskComparison& each : comparisons) {
    if (!each.costs) continue;
    const TaskComparison::Costs& costs = *each.costs;
    const auto count = static_cast<double>(costs.documents);
    documents += count;
    first += count * costs.first_seconds;
    second += count * costs.second_seconds;
    log_ratio += count * costs.log_ratio.value;
    variance += std::pow(count * costs.log_ratio.standard_error.value_or(0), 2);
    has_error = has_error && costs.log_ratio.standard_error.has_value();
    first_bytes = std::max(first_bytes, costs.first_bytes);
    second_bytes = std::max(second_bytes, costs.second_bytes);
  }
  if (documents == 0) return {};
  const std::string memory =
      first_bytes == second_bytes
          ? fmt::format("as much memory ({})", size_text(second_bytes))
          : fmt::format("{} instead of {}", size_text(second_bytes), size_text(first_bytes));
  const std::string times =
      fmt::format("{:.3g} s for a document instead of {:.3g} s", second / documents, first / documents);
  const bool is_clear_ratio = has_error && std::abs(log_ratio) > 2 * std::sqrt(variance);
  return is_clear_ratio
             ? fmt::format("the second takes {}, and {:.2f} × the time: {}", memory, second / first, times)
             : fmt::format("the second takes {}, and as much time as far as can be told: {}", memory, times);
}

}  // namespace

std::string score_table(const std::vector<TaskScore>& scores, TableForm form, bool parts) {
  std::vector<Row> rows = {{"task", "metric", "score", "chance", "documents"}};
  std::set<std::string> whole;  // tasks that stand there as a whole
  for (const TaskScore& score : scores) {
    if (score.is_whole) whole.insert(score.name);
    const bool of_shown_task = std::ranges::any_of(whole, [&](const std::string& name) {
      return score.name != name && score.name.starts_with(name + "_");
    });
    if (of_shown_task && !parts) continue;
    rows.push_back({score.name, score.metric, with_error(score.value, score.standard_error),
                    chance_of(score.chance), std::to_string(score.documents)});
  }
  return table(rows, form);
}

Json score_json(const std::vector<TaskScore>& scores) {
  Json tasks = Json::object();
  for (const TaskScore& score : scores) {
    Json& task = tasks[score.name];
    task["documents"] = score.documents;
    task["metrics"][score.metric] = {{"value", score.value},
                                     {"standard_error", error_json(score.standard_error)}};
    if (score.chance) task["metrics"][score.metric]["chance"] = *score.chance;
  }
  return tasks;
}

std::string comparison_table(const std::vector<TaskComparison>& comparisons, TableForm form) {
  std::vector<Row> rows = {{"task", "measure", "first", "second", "second − first", "documents"}};
  for (const TaskComparison& each : comparisons) {
    const std::string documents = std::to_string(each.documents);
    const auto add = [&](const char* measure, const std::string& found) {
      rows.push_back({each.name, measure, "", "", found, documents});
    };
    if (const auto& gold = each.gold_log_likelihood)
      add("right answer, nats", with_error(gold->value, gold->standard_error, true));
    if (const auto& kl = each.divergence)
      add("KL divergence, nats", small_with_error(kl->value, kl->standard_error));
    if (const auto& rouge = each.rouge_l)
      add("rougeL of the answers", with_error(rouge->value, rouge->standard_error));
    if (each.same) add("the same", fmt::format("{:.2f} %", 100 * *each.same));
    if (const auto& costs = each.costs) {
      rows.push_back({each.name, "seconds for a document", fmt::format("{:.4g}", costs->first_seconds),
                      fmt::format("{:.4g}", costs->second_seconds), "", std::to_string(costs->documents)});
      rows.push_back({each.name, "memory", size_text(costs->first_bytes), size_text(costs->second_bytes), "",
                      std::to_string(costs->documents)});
    }
    for (const TaskComparison::Metric& metric : each.metrics) {
      rows.push_back(
          {each.name, metric.name, fmt::format("{:.4f}", metric.first), fmt::format("{:.4f}", metric.second),
           with_error(metric.difference.value, metric.difference.standard_error, true), documents});
    }
  }
  return table(rows, form);
}

std::string comparison_sentence(const std::vector<TaskComparison>& comparisons) {
  std::vector<std::string> lost, gained, alike;
  for (const TaskComparison& each : comparisons) {
    const auto& gold = each.gold_log_likelihood;
    if (!gold) continue;
    if (!is_clear(*gold)) {
      alike.push_back(each.name);
      continue;
    }
    (gold->value < 0 ? lost : gained)
        .push_back(
            fmt::format("{:.4f} ± {:.4f} on {}", std::abs(gold->value), *gold->standard_error, each.name));
  }
  std::vector<std::string> parts;
  if (!lost.empty()) parts.push_back("loses " + listed(lost));
  if (!gained.empty()) parts.push_back("gains " + listed(gained));
  if (!alike.empty()) parts.push_back("differs by no more than chance on " + listed(alike));
  const std::string quality =
      parts.empty() ? "The two runs have no right answers to compare"
                    : "In nats of the right answer's log-likelihood, the second run " + listed(parts);
  const std::string costs = cost_clause(comparisons);
  return quality + "; " + (costs.empty() ? "the files do not tell time and memory" : costs) + ".";
}

Json comparison_json(const std::vector<TaskComparison>& comparisons) {
  Json tasks = Json::object();
  for (const TaskComparison& each : comparisons) {
    Json& task = tasks[each.name];
    task["documents"] = each.documents;
    if (each.gold_log_likelihood) task["gold_log_likelihood"] = difference_json(*each.gold_log_likelihood);
    if (each.divergence) task["kl"] = difference_json(*each.divergence);
    if (each.rouge_l) task["answers_rougeL"] = difference_json(*each.rouge_l);
    if (each.same) task["same"] = *each.same;
    if (const auto& costs = each.costs) {
      task["costs"] = {{"documents", costs->documents},
                       {"first", {{"seconds", costs->first_seconds}, {"bytes", costs->first_bytes}}},
                       {"second", {{"seconds", costs->second_seconds}, {"bytes", costs->second_bytes}}},
                       {"log_ratio", difference_json(costs->log_ratio)}};
    }
    for (const TaskComparison::Metric& metric : each.metrics) {
      task["metrics"][metric.name] = {{"first", metric.first},
                                      {"second", metric.second},
                                      {"difference", difference_json(metric.difference)}};
    }
  }
  return tasks;
}

std::string task_table() {
  std::vector<Row> rows = {{"task", "what it is", "metrics", "chance", "examples"}};
  for (const TaskInfo& task : known_tasks())
    rows.push_back({task.name, task.description, joined(task.metrics), chance_of(task.chance),
                    std::to_string(task.examples)});
  return table(rows, TableForm::plain);
}

Json task_json() {
  Json tasks = Json::object();
  for (const TaskInfo& task : known_tasks()) {
    tasks[task.name] = {{"description", task.description},
                        {"files", task.files},
                        {"metrics", task.metrics},
                        {"examples", task.examples},
                        {"runs_code", task.runs_code}};
    if (task.chance) tasks[task.name]["chance"] = *task.chance;
  }
  return tasks;
}

}  // namespace fovea::app
