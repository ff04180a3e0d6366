// Tasks as lm-evaluation-harness has them ("the harness"): run on a loaded engine, kept document by document,
// summed up, and compared with another run's. Plain data.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "engine/api/engine.h"

namespace fovea {

// What can be asked for.
struct TaskInfo {
  std::string name;                   // "mmlu"; one of its parts is "mmlu_anatomy"
  std::string description;            // a line for people
  std::vector<std::string> files;     // in the folder of data sets
  std::vector<std::string> metrics;   // by their names in the harness; the first is the one to look at
  std::optional<double> chance = {};  // what guessing reaches
  std::int64_t examples = 0;          // that a prompt begins with, usually
  bool runs_code = false;             // that the model writes
};
std::vector<TaskInfo> known_tasks();

struct TaskSettings {
  std::vector<std::string> tasks;               // names of tasks or of parts
  std::filesystem::path data = {};              // the folder of data sets
  std::int64_t limit = 0;                       // documents of each part; 0: all
  std::optional<std::int64_t> examples = {};    // that a prompt begins with; nothing: as many as usual
  std::optional<std::int64_t> max_tokens = {};  // of an answer; nothing: as many as the task gives it
  // Run what the model writes, where a task asks for it: in bubblewrap, shut off from the system and the
  // network.
  bool run_code = false;
  // Where outcomes are kept, one line of JSON each. What stands there is not run again. Empty: nowhere.
  std::filesystem::path results = {};
};

// What one document took: where a run goes on another day, each of its documents has its own.
struct TaskCost {
  double seconds = 0;  // of all that was computed for it; 0: not known
  std::int64_t bytes =
      0;  // that the engine held, on the device and beside it, without what is kept free; 0: not known
  bool operator==(const TaskCost&) const = default;
};

// What came of one document.
struct TaskOutcome {
  std::string task, part;  // "mmlu", "anatomy"; a task may have one part alone, without a name
  std::int64_t document = 0;
  // ln p in nats: of every choice, else of the right answer alone; empty: there is no right answer.
  std::vector<double> log_likelihoods = {};
  std::int64_t gold = 0;                                   // the right one of these
  std::string answer = {};                                 // what was written; empty where choices are scored
  std::map<std::string, std::vector<double>> values = {};  // by metric: what its score is summed up from
  std::int64_t dropped_tokens = 0;                         // of the prompt's beginning, for want of context
  TaskCost cost = {};

  std::string name() const { return part.empty() ? task : task + "_" + part; }
  bool operator==(const TaskOutcome&) const = default;
};

struct TaskResults {
  // What was run how, as name and value: two runs that are to be the same must agree in all.
  std::vector<std::pair<std::string, std::string>> conditions = {};
  std::vector<TaskOutcome> outcomes = {};
};

struct TaskScore {
  std::string name;  // of a task, or of a part
  std::string metric;
  double value = 0;
  std::optional<double> standard_error = {};  // nothing: too few documents
  std::optional<double> chance = {};
  std::int64_t documents = 0;
  bool is_whole = false;  // of a task with several parts
};

// Progress counts documents. ErrorKind::not_found names a task or a file that is not there;
// ErrorKind::invalid a results file of another run, or a task
// that runs code which nobody has allowed; ErrorKind::unsupported: bubblewrap cannot start here. A cancelled
// run keeps what it has done in its file.
Result<TaskResults> run_tasks(Engine&, const TaskSettings&, const ProgressSink& = {}, std::stop_token = {});

// What run_tasks() has kept in a file.
Result<TaskResults> read_task_results(const std::filesystem::path& file);

// Of each task, and behind it of its parts where it has several: for each of its metrics the score over the
// outcomes' documents, and the mean of their right answers' log-likelihoods. Standard errors: of one part,
// leaving out each document once (for a mean, the usual one); of several, pooled from theirs.
std::vector<TaskScore> task_scores(const std::vector<TaskOutcome>& outcomes);

// A mean of differences of the same documents in two runs, or a difference of their scores.
struct PairedDifference {
  double value = 0;  // the second run's less the first's
  std::optional<double> standard_error = {};
};

struct TaskComparison {
  std::string name;  // of a task
  std::int64_t documents = 0;
  std::optional<PairedDifference> gold_log_likelihood = {};  // nats for each document
  // KL divergence of the second run's choices from the first's, each taken as a distribution: mean nats.
  std::optional<PairedDifference> divergence = {};
  std::optional<double> same = {};  // share of documents with the same likeliest choice, or the same answer
  std::optional<PairedDifference> rouge_l = {};  // of the second run's answers, measured against the first's
  struct Metric {
    std::string name;
    double first = 0, second = 0;
    PairedDifference difference;
  };
  std::vector<Metric> metrics = {};
  // Of the documents for which both runs tell what they took; nothing: there is none.
  struct Costs {
    std::int64_t documents = 0;
    double first_seconds = 0, second_seconds = 0;    // mean
    PairedDifference log_ratio;                      // ln of the second's seconds by the first's
    std::int64_t first_bytes = 0, second_bytes = 0;  // the most
  };
  std::optional<Costs> costs = {};
};

// Over the documents that both have. ErrorKind::invalid: there is none.
Result<std::vector<TaskComparison>> compare_tasks(const TaskResults& first, const TaskResults& second);

}  // namespace fovea
