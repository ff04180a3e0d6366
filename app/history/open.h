// How a history file is opened: who else has it open, whether it is sound, which schema it has.
#pragma once

#include <optional>
#include <utility>

#include "app/history/database.h"
#include "app/history/history.h"

namespace fovea::app::history {

// An advisory lock on "<file>.lock", given back when the value goes or the process ends. Everybody who has
// the history open holds it shared; who can take it alone may repair and migrate.
class FileLock {
 public:
  static Result<FileLock> open(const std::filesystem::path& file);
  FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

  bool try_alone();
  void share();  // waits while somebody repairs

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  int fd_;
};

struct Opened {
  FileLock lock;
  Database database;
  Opening opening;
};

Result<Opened> open_history(const std::filesystem::path& file, const Options& options);

// Leaves a note beside the file, so that the next start checks all of it.
void mark_suspect(const std::filesystem::path& file);

}  // namespace fovea::app::history
