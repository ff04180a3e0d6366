// Two runs over the same documents: what differs, with errors of the differences.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "engine/core/result.h"
#include "engine/tasks/catalogue.h"
#include "engine/tasks/errors.h"
#include "engine/tasks/rouge.h"
#include "engine/tasks/statistics.h"

namespace fovea {
namespace {

using Pair = std::pair<const TaskOutcome*, const TaskOutcome*>;

// By task, the documents that both runs have.
std::map<std::string, std::vector<Pair>> pairs_of(const TaskResults& first, const TaskResults& second) {
  std::map<std::tuple<std::string, std::string, std::int64_t>, const TaskOutcome*> known;
  for (const TaskOutcome& each : first.outcomes) known[{each.task, each.part, each.document}] = &each;
  std::map<std::string, std::vector<Pair>> pairs;
  for (const TaskOutcome& each : second.outcomes) {
    const auto found = known.find({each.task, each.part, each.document});
    if (found != known.end() && found->second->log_likelihoods.size() == each.log_likelihoods.size())
      pairs[each.task].emplace_back(found->second, &each);
  }
  return pairs;
}

PairedDifference difference(const tasks::Estimate& estimate) {
  return {.value = estimate.value, .standard_error = estimate.standard_error};
}

double gold_of(const TaskOutcome& outcome) {
  return outcome.log_likelihoods[static_cast<std::size_t>(outcome.gold)];
}

// ln of the choices' shares of what they have together.
std::vector<double> log_shares(std::vector<double> values) {
  const double top = *std::ranges::max_element(values);
  double sum = 0;
  for (const double value : values) sum += std::exp(value - top);
  for (double& value : values) value -= top + std::log(sum);
  return values;
}

// Σ p ln (p / q)
double divergence_of(const TaskOutcome& p, const TaskOutcome& q) {
  const std::vector<double> log_p = log_shares(p.log_likelihoods), log_q = log_shares(q.log_likelihoods);
  double sum = 0;
  for (std::size_t i = 0; i < log_p.size(); ++i) sum += std::exp(log_p[i]) * (log_p[i] - log_q[i]);
  return std::max(sum, 0.0);
}

bool is_same(const Pair& pair, tasks::Kind kind) {
  const auto choice = [](const TaskOutcome& outcome) {
    return std::ranges::max_element(outcome.log_likelihoods) - outcome.log_likelihoods.begin();
  };
  return kind == tasks::Kind::choices ? choice(*pair.first) == choice(*pair.second)
                                      : pair.first->answer == pair.second->answer;
}

template <class Function>
PairedDifference mean_over(const std::vector<Pair>& pairs, const Function& of_pair) {
  std::vector<double> values;
  for (const auto& [first, second] : pairs) values.push_back(of_pair(*first, *second));
  return difference(tasks::mean(values));
}

TaskComparison::Metric compare_metric(const std::vector<Pair>& pairs, const std::string& metric) {
  std::vector<std::vector<double>> rows;  // the first run's values, and behind them the second's
  for (const auto& [first, second] : pairs) {
    std::vector<double> row = first->values.at(metric);
    row.insert(row.end(), second->values.at(metric).begin(), second->values.at(metric).end());
    rows.push_back(std::move(row));
  }
  const std::size_t half = rows.front().size() / 2;
  TaskComparison::Metric result{.name = metric, .first = 0, .second = 0, .difference = {}};
  const auto of_half = [&](std::size_t begin) {
    return [&metric, begin, half](std::span<const double> sums, std::int64_t documents) {
      return tasks::score_of(metric, sums.subspan(begin, half), documents);
    };
  };
  result.first = tasks::estimate(rows, of_half(0)).value;
  result.second = tasks::estimate(rows, of_half(half)).value;
  result.difference =
      difference(tasks::estimate(rows, [&](std::span<const double> sums, std::int64_t documents) {
        return of_half(half)(sums, documents) - of_half(0)(sums, documents);
      }));
  return result;
}

bool both_have(const std::vector<Pair>& pairs, const std::string& metric) {
  return std::ranges::all_of(pairs, [&](const Pair& pair) {
    const auto first = pair.first->values.find(metric), second = pair.second->values.find(metric);
    return first != pair.first->values.end() && second != pair.second->values.end() &&
           first->second.size() == second->second.size();
  });
}

std::optional<TaskComparison::Costs> compare_costs(const std::vector<Pair>& pairs) {
  TaskComparison::Costs costs;
  std::vector<double> ratios;
  for (const auto& [first, second] : pairs) {
    const TaskCost &was = first->cost, &is = second->cost;
    if (was.seconds <= 0 || is.seconds <= 0 || was.bytes == 0 || is.bytes == 0) continue;
    costs.first_seconds += was.seconds;
    costs.second_seconds += is.seconds;
    costs.first_bytes = std::max(costs.first_bytes, was.bytes);
    costs.second_bytes = std::max(costs.second_bytes, is.bytes);
    ratios.push_back(std::log(is.seconds) - std::log(was.seconds));
  }
  if (ratios.empty()) return std::nullopt;
  costs.documents = std::ssize(ratios);
  costs.first_seconds /= static_cast<double>(ratios.size());
  costs.second_seconds /= static_cast<double>(ratios.size());
  costs.log_ratio = difference(tasks::mean(ratios));
  return costs;
}

TaskComparison compare_task(const tasks::Task& task, const std::vector<Pair>& pairs) {
  TaskComparison result{.name = task.info.name, .documents = std::ssize(pairs)};
  if (std::ranges::none_of(pairs, [](const Pair& pair) { return pair.first->log_likelihoods.empty(); })) {
    result.gold_log_likelihood = mean_over(pairs, [](const TaskOutcome& first, const TaskOutcome& second) {
      return gold_of(second) - gold_of(first);
    });
    if (task.kind == tasks::Kind::choices) result.divergence = mean_over(pairs, divergence_of);
  }
  if (task.kind == tasks::Kind::answer) {
    result.rouge_l = mean_over(pairs, [](const TaskOutcome& first, const TaskOutcome& second) {
      return tasks::rouge_l(tasks::rouge_tokens(first.answer, true),
                            tasks::rouge_tokens(second.answer, true));
    });
  }
  if (task.kind != tasks::Kind::text) {
    const auto same =
        std::ranges::count_if(pairs, [&](const Pair& pair) { return is_same(pair, task.kind); });
    result.same = static_cast<double>(same) / static_cast<double>(pairs.size());
  }
  for (const std::string& metric : task.info.metrics)
    if (both_have(pairs, metric)) result.metrics.push_back(compare_metric(pairs, metric));
  result.costs = compare_costs(pairs);
  return result;
}

}  // namespace

Result<std::vector<TaskComparison>> compare_tasks(const TaskResults& first, const TaskResults& second) {
  const auto pairs = pairs_of(first, second);
  std::vector<TaskComparison> comparisons;
  for (const tasks::Task& task : tasks::catalogue()) {
    const auto found = pairs.find(task.info.name);
    if (found != pairs.end()) comparisons.push_back(compare_task(task, found->second));
  }
  if (comparisons.empty()) return fail(phrases::option_place("--compare"), errors::task_nothing_in_common());
  return comparisons;
}

}  // namespace fovea
