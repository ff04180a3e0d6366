#include "app/files/atomic_file.h"

#include <cerrno>
#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <utility>

#include "app/files/files.h"

namespace fovea::app {

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
  const int flags = O_WRONLY | O_CLOEXEC | (in_place ? 0 : O_CREAT | O_TRUNC);
  const int fd = ::open(in_place ? final_target.c_str() : partial.c_str(), flags, 0666);
  if (fd < 0) {
    return std::unexpected(Error{ErrorKind::io, target.string(),
                                 "cannot be written: " + system_message(errno),
                                 "Choose a place that you can write to"});
  }
  return AtomicFile(fd, std::move(final_target), std::move(partial));
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      target_(std::move(other.target_)),
      partial_(std::exchange(other.partial_, {})) {}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!partial_.empty()) ::unlink(partial_.c_str());
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
  if (::close(std::exchange(fd_, -1)) != 0) return failed(errno);
  if (partial_.empty()) return {};
  if (::rename(partial_.c_str(), target_.c_str()) != 0) return failed(errno);
  partial_.clear();
  return {};
}

}  // namespace fovea::app
