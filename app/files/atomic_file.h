// A file that appears complete or not at all.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include "engine/api/error.h"

namespace fovea::app {

// Written beside its target without a name, so that nothing is left of it when the program is killed; where
// the file system knows no such files, under another name. commit() renames it. Without commit() the target
// is as it was. A target that exists keeps its permissions; one that is no regular file (a device, a pipe) is
// written in place.
class AtomicFile {
 public:
  static Result<AtomicFile> create(const std::filesystem::path& target);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  Result<void> write(std::string_view bytes);
  Result<void> commit();

 private:
  AtomicFile(int fd, std::filesystem::path target, std::filesystem::path partial, bool nameless)
      : fd_(fd), target_(std::move(target)), partial_(std::move(partial)), nameless_(nameless) {}
  std::unexpected<Error> failed(int error_number) const;

  int fd_ = -1;
  std::filesystem::path target_;
  std::filesystem::path partial_;  // empty: written in place
  bool nameless_ = false;          // partial_ is the name that it will have for a moment
};

}  // namespace fovea::app
