#include "engine/tasks/statistics.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "engine/tasks/catalogue.h"

namespace fovea::tasks {
namespace {

using Outcomes = std::vector<const TaskOutcome*>;

constexpr const char* gold = "gold_log_likelihood";

std::vector<std::vector<double>> rows_of(const Outcomes& outcomes, const std::string& metric) {
  std::vector<std::vector<double>> rows;
  for (const TaskOutcome* const outcome : outcomes) {
    if (metric == gold && !outcome->log_likelihoods.empty())
      rows.push_back({outcome->log_likelihoods[static_cast<std::size_t>(outcome->gold)]});
    const auto found = outcome->values.find(metric);
    if (found != outcome->values.end()) rows.push_back(found->second);
  }
  return rows;
}

Estimate score(const std::vector<std::vector<double>>& rows, const std::string& metric) {
  return estimate(rows, [&](std::span<const double> sums, std::int64_t documents) {
    return score_of(metric, sums, documents);
  });
}

// One part after the other, in the order in which they first appear.
std::vector<Outcomes> parts_of(const Outcomes& outcomes) {
  std::vector<Outcomes> parts;
  for (const TaskOutcome* const outcome : outcomes) {
    auto part = std::ranges::find_if(
        parts, [&](const Outcomes& each) { return each.front()->part == outcome->part; });
    if (part == parts.end()) part = parts.emplace(parts.end());
    part->push_back(outcome);
  }
  return parts;
}

void add_scores(const Task& task, const Outcomes& outcomes, std::vector<TaskScore>& scores) {
  const std::vector<Outcomes> parts = parts_of(outcomes);
  std::vector<std::string> metrics = task.info.metrics;
  metrics.emplace_back(gold);
  for (const std::string& metric : metrics) {
    const auto rows = rows_of(outcomes, metric);
    if (rows.empty()) continue;
    const std::optional<double> chance = metric == gold ? std::nullopt : task.info.chance;
    std::vector<TaskScore> of_parts;
    std::vector<std::int64_t> sizes;
    std::vector<std::optional<double>> errors;
    for (const Outcomes& part : parts) {
      const auto of_part = rows_of(part, metric);
      if (of_part.empty()) continue;
      const Estimate found = score(of_part, metric);
      sizes.push_back(std::ssize(of_part));
      errors.push_back(found.standard_error);
      of_parts.push_back({.name = part.front()->name(),
                          .metric = metric,
                          .value = found.value,
                          .standard_error = found.standard_error,
                          .chance = chance,
                          .documents = std::ssize(of_part)});
    }
    if (parts.size() > 1) {
      scores.push_back({.name = task.info.name,
                        .metric = metric,
                        .value = score(rows, metric).value,
                        .standard_error = pooled_error(sizes, errors),
                        .chance = chance,
                        .documents = std::ssize(rows),
                        .is_whole = true});
    }
    scores.insert(scores.end(), of_parts.begin(), of_parts.end());
  }
}

}  // namespace

Estimate estimate(const std::vector<std::vector<double>>& rows, const SumFunction& function) {
  const std::int64_t count = std::ssize(rows);
  std::vector<double> sums(rows.front().size());
  for (const auto& row : rows)
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += row[i];
  Estimate result{.value = function(sums, count)};
  if (count < 2) return result;
  std::vector<double> without;
  double total = 0;
  for (const auto& row : rows) {
    std::vector<double> rest = sums;
    for (std::size_t i = 0; i < sums.size(); ++i) rest[i] -= row[i];
    without.push_back(function(rest, count - 1));
    total += without.back();
  }
  double squares = 0;
  for (const double each : without) squares += std::pow(each - total / static_cast<double>(count), 2);
  const double error = std::sqrt(squares * static_cast<double>(count - 1) / static_cast<double>(count));
  if (std::isfinite(error)) result.standard_error = error;
  return result;
}

Estimate mean(const std::vector<double>& values) {
  std::vector<std::vector<double>> rows;
  for (const double value : values) rows.push_back({value});
  return estimate(rows, [](std::span<const double> sums, std::int64_t documents) {
    return sums[0] / static_cast<double>(documents);
  });
}

std::optional<double> pooled_error(const std::vector<std::int64_t>& sizes,
                                   const std::vector<std::optional<double>>& errors) {
  double sum = 0;
  std::int64_t total = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto size = static_cast<double>(sizes[i]);
    sum += (size - 1) * size * std::pow(errors[i].value_or(0), 2);
    total += sizes[i];
  }
  if (total == std::ssize(sizes)) return std::nullopt;
  return std::sqrt(sum / static_cast<double>(total - std::ssize(sizes)) / static_cast<double>(total));
}

}  // namespace fovea::tasks

namespace fovea {

std::vector<TaskScore> task_scores(const std::vector<TaskOutcome>& outcomes) {
  std::vector<TaskScore> scores;
  for (const tasks::Task& task : tasks::catalogue()) {
    tasks::Outcomes of_task;
    for (const TaskOutcome& outcome : outcomes)
      if (outcome.task == task.info.name) of_task.push_back(&outcome);
    tasks::add_scores(task, of_task, scores);
  }
  return scores;
}

}  // namespace fovea
