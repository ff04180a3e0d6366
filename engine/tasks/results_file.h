// Outcomes as lines of JSON: the conditions first, then one line for each document, written as it is done.
#pragma once

#include <filesystem>

#include "engine/api/tasks.h"
#include "engine/core/file_descriptor.h"

namespace fovea::tasks {

class ResultsFile {
 public:
  // Goes on with a file that is there; a line that a kill has cut short is dropped. ErrorKind::invalid: other
  // conditions, or somebody else is writing to it.
  static Result<ResultsFile> open(const std::filesystem::path& file,
                                  const std::vector<std::pair<std::string, std::string>>& conditions);

  const std::vector<TaskOutcome>& kept() const { return kept_; }
  Result<void> add(const TaskOutcome& outcome);

 private:
  ResultsFile(std::filesystem::path path, FileDescriptor file)
      : path_(std::move(path)), file_(std::move(file)) {}
  Result<void> append(const std::string& line);

  std::filesystem::path path_;
  FileDescriptor file_;
  std::int64_t end_ = 0;
  std::vector<TaskOutcome> kept_;
};

}  // namespace fovea::tasks
