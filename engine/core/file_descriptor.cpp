#include "engine/core/file_descriptor.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "engine/core/errors.h"

namespace fovea {

FileDescriptor::~FileDescriptor() {
  if (number_ >= 0) ::close(number_);
}

int FileDescriptor::read_at(std::int64_t offset, std::span<std::byte> memory) const {
  while (!memory.empty()) {
    const ssize_t count = ::pread(number_, memory.data(), memory.size(), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    if (count == 0) return -1;
    memory = memory.subspan(static_cast<std::size_t>(count));
    offset += count;
  }
  return 0;
}

int FileDescriptor::write_at(std::int64_t offset, std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(number_, bytes.data(), bytes.size(), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    offset += count;
  }
  return 0;
}

std::string system_message(int error_number) {
  return std::generic_category().message(error_number);
}

std::unexpected<Error> read_error(const std::filesystem::path& path, std::int64_t offset, int code) {
  return fail(phrases::offset_place(path, offset),
              code < 0 ? errors::read_cut_off() : errors::reading_failed(Said{system_message(code)}));
}

std::expected<FileDescriptor, int> open_locked(const std::filesystem::path& path, unsigned permissions) {
  for (;;) {
    FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, permissions));
    struct stat mine{}, named{};
    if (!file || ::flock(file.number(), LOCK_EX | LOCK_NB) != 0 || ::fstat(file.number(), &mine) != 0)
      return std::unexpected(errno);
    // Whoever held it may have renamed or removed it in between: then this is no longer the name's file.
    if (::stat(path.c_str(), &named) == 0 && named.st_ino == mine.st_ino && named.st_dev == mine.st_dev)
      return file;
  }
}

int rename_durably(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) return errno;
  const std::filesystem::path folder = to.has_parent_path() ? to.parent_path() : ".";
  const FileDescriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory && ::fsync(directory.number()) != 0 && errno != EINVAL) return errno;
  return 0;
}

}  // namespace fovea
