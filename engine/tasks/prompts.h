// What the model is asked: a task's templates over its documents, behind its description and its examples.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/tasks/catalogue.h"
#include "engine/tasks/python_random.h"
#include "engine/text/chat_template.h"

namespace fovea::tasks {

struct Prompt {
  std::string context;
  std::vector<std::string> choices = {};  // without the delimiter
  std::int64_t gold = 0;                  // the right one
  std::string target = {};                // the right answer; empty: there is none
  std::vector<std::string> until = {};
};

class PromptWriter {
 public:
  // The data set must outlive it. ErrorKind::invalid: the data set has fewer examples than asked for.
  static Result<PromptWriter> create(const Task& task, const DataSet& data, std::int64_t examples);

  // ErrorKind::format: the document's fields are not what the templates need.
  Result<Prompt> write(const Document& document);

 private:
  using Template = text::ChatTemplate;
  struct Templates {
    Template description, question, target;
    std::vector<Template> choices, until;
  };
  // The examples of a part's documents, as the harness draws them one document after the other.
  struct Draws {
    PythonRandom random{1234};  // its seed
    std::vector<std::vector<std::size_t>> drawn = {};
  };

  PromptWriter(const Task& task, const DataSet& data, std::int64_t examples, Templates templates)
      : task_(&task), data_(&data), examples_(examples), templates_(std::move(templates)) {}
  Result<std::vector<std::string>> choices_of(const Json& fields) const;
  Result<std::int64_t> gold_of(const Json& fields) const;
  Result<std::string> example(const Json& fields) const;
  Result<std::vector<const Json*>> examples_for(const Document& document);

  const Task* task_;
  const DataSet* data_;
  std::int64_t examples_;
  Templates templates_;
  std::map<std::string, Draws> draws_;  // by part
};

}  // namespace fovea::tasks
