// The tasks: which documents, what prompts are made of them, and how outcomes are valued. Prompts,
// delimiters, stop strings and metrics are lm-evaluation-harness'.
#pragma once

#include <filesystem>
#include <map>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/api/tasks.h"
#include "engine/tasks/data_sets.h"

namespace fovea::tasks {

enum class Kind : std::uint8_t {
  choices,  // the likeliest of several continuations
  text,     // how likely a whole text is
  answer,   // the model writes, and what it wrote is compared
};

// What the model said of one document.
struct Observed {
  std::vector<double> log_likelihoods = {};  // of the choices, or of the text
  std::vector<std::string> choices = {};
  std::int64_t gold = 0;
  std::string answer = {};
};

using Values = std::map<std::string, std::vector<double>>;  // TaskOutcome::values

struct Task {
  TaskInfo info;
  Kind kind = Kind::answer;
  Result<DataSet> (*read)(const std::filesystem::path& folder) = nullptr;
  Values (*value)(const Json& fields, const Observed& observed) = nullptr;
  // Jinja templates over a document's fields. None may end with a line break, which would be dropped.
  std::string description = {};           // before the examples
  std::string question = {};              // of text: the text itself
  std::vector<std::string> choices = {};  // of choices
  std::string target = {};      // the right choice's number, or the right answer; empty: there is none
  std::string delimiter = " ";  // between question and answer
  bool first_examples = false;  // in their order; else drawn for each document
  std::vector<std::string> until = {};  // of answer: templates of the strings that end it
  std::int64_t max_tokens = 256;        // of answer
  // Of answer: the Python program that shows by running to its end that the answer is right. Valued as
  // pass@1.
  std::string (*program)(const Json& fields, const std::string& answer) = nullptr;
  bool chat = false;  // of answer: asked in the model's chat template, where it has one
};

const std::vector<Task>& catalogue();

// How many values a document has for a metric.
std::size_t values_of(std::string_view metric);

// What a metric's values, added up over so many documents, come to.
double score_of(std::string_view metric, std::span<const double> sums, std::int64_t documents);

}  // namespace fovea::tasks
