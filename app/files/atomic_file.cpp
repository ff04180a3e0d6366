#include "app/files/atomic_file.h"

#include <cerrno>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "app/files/files.h"

namespace fovea::app {
namespace {

std::string name_of(int fd) {
  return "/proc/self/fd/" + std::to_string(fd);
}

// A file without a name, which the system takes away when the program ends, however it ends. −1 where the
// file system has none, or where it could not be given a name later.
int open_nameless(const std::filesystem::path& target) {
  const std::filesystem::path folder = target.has_parent_path() ? target.parent_path() : ".";
  const int fd = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (fd < 0 || ::access(name_of(fd).c_str(), F_OK) == 0) return fd;
  ::close(fd);
  return -1;
}

}  // namespace

Result<AtomicFile> AtomicFile::create(const std::filesystem::path& target) {
  std::error_code ignored;
  const auto status = std::filesystem::status(target, ignored);
  const bool in_place = std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
  std::filesystem::path final_target = target;
  if (std::filesystem::is_regular_file(status)) {
    final_target = std::filesystem::canonical(target, ignored);  // a link stays a link
    if (final_target.empty()) final_target = target;
  }
  std::filesystem::path partial;
  if (!in_place) partial = final_target.string() + ".partial-" + std::to_string(::getpid());
  int fd = in_place ? -1 : open_nameless(final_target);
  const bool nameless = fd >= 0;
  const int flags = O_WRONLY | O_CLOEXEC | (in_place ? 0 : O_CREAT | O_TRUNC);
  if (!nameless) fd = ::open(in_place ? final_target.c_str() : partial.c_str(), flags, 0666);
  if (fd < 0) {
    return std::unexpected(Error{ErrorKind::io, target.string(),
                                 "cannot be written: " + system_message(errno),
                                 "Choose a place that you can write to"});
  }
  // Who may read what is replaced may read what replaces it, and nobody else.
  if (std::filesystem::is_regular_file(status))
    ::fchmod(fd, static_cast<mode_t>(status.permissions() & std::filesystem::perms::mask));
  return AtomicFile(fd, std::move(final_target), std::move(partial), nameless);
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      target_(std::move(other.target_)),
      partial_(std::exchange(other.partial_, {})),
      nameless_(other.nameless_) {}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!partial_.empty() && !nameless_) ::unlink(partial_.c_str());
}

std::unexpected<Error> AtomicFile::failed(int error_number) const {
  return std::unexpected(Error{ErrorKind::io, target_.string(),
                               "writing failed: " + system_message(error_number),
                               "Check the free space of the disk"});
}

Result<void> AtomicFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failed(errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> AtomicFile::commit() {
  if (!partial_.empty() && ::fsync(fd_) != 0) return failed(errno);
  if (nameless_) {
    ::unlink(partial_.c_str());  // of another program that was killed right here
    if (::linkat(AT_FDCWD, name_of(fd_).c_str(), AT_FDCWD, partial_.c_str(), AT_SYMLINK_FOLLOW) != 0)
      return failed(errno);
    nameless_ = false;
  }
  if (::close(std::exchange(fd_, -1)) != 0) return failed(errno);
  if (partial_.empty()) return {};
  if (::rename(partial_.c_str(), target_.c_str()) != 0) return failed(errno);
  partial_.clear();
  return {};
}

}  // namespace fovea::app
