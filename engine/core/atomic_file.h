// A file that appears complete or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

#include "engine/api/error.h"
#include "engine/core/file_descriptor.h"

namespace fovea {

// Written beside its target without a name, so that nothing is left of it when the program is killed; where
// the file system knows no such files, under another name. commit() brings it to the disk and renames it.
// Without commit() the target is as it was. A target that exists keeps its permissions; one that is no
// regular file (a device, a pipe) is written in place. Several at a time may have the same target: the last
// one counts.
class AtomicFile {
 public:
  // ErrorKind::io, as of the others.
  static Result<AtomicFile> create(const std::filesystem::path& target);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  Result<void> write(std::string_view bytes);
  Result<void> write(std::span<const std::byte> bytes);
  Result<void> commit();

  const std::filesystem::path& target() const { return target_; }
  // Under this name it can be read until it is committed.
  std::filesystem::path uncommitted() const;

 private:
  AtomicFile(FileDescriptor file, std::filesystem::path target, std::filesystem::path partial, bool nameless)
      : file_(std::move(file)),
        target_(std::move(target)),
        partial_(std::move(partial)),
        nameless_(nameless) {}
  std::unexpected<Error> failed(int error_number) const;

  FileDescriptor file_;
  std::filesystem::path target_;
  std::filesystem::path partial_;  // empty: written in place
  bool nameless_ = false;          // partial_ is the name that it will have for a moment
};

}  // namespace fovea
