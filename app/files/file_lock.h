// A lock between processes, beside the file that it is for.
#pragma once

#include <filesystem>
#include <utility>

#include "engine/core/file_descriptor.h"
#include "engine/core/result.h"

namespace fovea::app {

// Advisory, on "<file>.lock", which stays; given back when the value goes or the process ends.
class FileLock {
 public:
  // Makes the lock's file where it is missing, and holds nothing yet. advice: what to do where that fails.
  static Result<FileLock> open(const std::filesystem::path& file, Phrase advice);

  bool try_alone();  // false: somebody else holds it, alone or shared
  void share();      // waits while somebody holds it alone

 private:
  explicit FileLock(FileDescriptor file) : file_(std::move(file)) {}
  FileDescriptor file_;
};

}  // namespace fovea::app
