#include "engine/core/atomic_file.h"

#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "engine/core/errors.h"
#include "engine/core/result.h"

namespace fovea {
namespace {

std::string name_of(const FileDescriptor& file) {
  return "/proc/self/fd/" + std::to_string(file.number());
}

// No other file of this or another program has this name, unless it was left by one that was killed.
std::string partial_name(const std::filesystem::path& target) {
  static std::atomic<unsigned> files = 0;
  return target.string() + ".partial-" + std::to_string(::getpid()) + "-" + std::to_string(files++);
}

// A file without a name, which the system takes away when the program ends, however it ends. None where the
// file system has none, or where it could not be given a name later.
FileDescriptor open_nameless(const std::filesystem::path& target) {
  const std::filesystem::path folder = target.has_parent_path() ? target.parent_path() : ".";
  FileDescriptor file(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666));
  if (file && ::access(name_of(file).c_str(), F_OK) == 0) return file;
  return {};
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
  if (!in_place) partial = partial_name(final_target);
  FileDescriptor file = in_place ? FileDescriptor() : open_nameless(final_target);
  const bool nameless = static_cast<bool>(file);
  const int flags = O_WRONLY | O_CLOEXEC | (in_place ? 0 : O_CREAT | O_TRUNC);
  if (!file) file = FileDescriptor(::open(in_place ? final_target.c_str() : partial.c_str(), flags, 0666));
  if (!file) {
    return fail(phrases::file_place(target),
                errors::cannot_write(Said{system_message(errno)}).advise(phrases::choose_writable_place()));
  }
  // Who may read what is replaced may read what replaces it, and nobody else.
  if (std::filesystem::is_regular_file(status))
    ::fchmod(file.number(), static_cast<mode_t>(status.permissions() & std::filesystem::perms::mask));
  return AtomicFile(std::move(file), std::move(final_target), std::move(partial), nameless);
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : file_(std::move(other.file_)),
      target_(std::move(other.target_)),
      partial_(std::exchange(other.partial_, {})),
      nameless_(other.nameless_) {}

AtomicFile::~AtomicFile() {
  if (!partial_.empty() && !nameless_) ::unlink(partial_.c_str());
}

std::filesystem::path AtomicFile::uncommitted() const {
  return nameless_ ? std::filesystem::path(name_of(file_)) : partial_;
}

std::unexpected<Error> AtomicFile::failed(int error_number) const {
  return fail(phrases::file_place(target_), errors::writing_failed(Said{system_message(error_number)}));
}

Result<void> AtomicFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_.number(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failed(errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> AtomicFile::write(std::span<const std::byte> bytes) {
  return write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

Result<void> AtomicFile::commit() {
  const FileDescriptor file = std::move(file_);
  if (!file) return failed(EBADF);  // committed before
  if (partial_.empty()) return {};
  if (::fsync(file.number()) != 0) return failed(errno);
  if (nameless_) {
    ::unlink(partial_.c_str());  // of another program that was killed right here
    if (::linkat(AT_FDCWD, name_of(file).c_str(), AT_FDCWD, partial_.c_str(), AT_SYMLINK_FOLLOW) != 0)
      return failed(errno);
    nameless_ = false;
  }
  if (const int code = rename_durably(partial_, target_); code != 0) return failed(code);
  partial_.clear();
  return {};
}

}  // namespace fovea
