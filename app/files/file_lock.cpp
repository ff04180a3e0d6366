#include "app/files/file_lock.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>

#include "app/files/errors.h"

namespace fovea::app {

Result<FileLock> FileLock::open(const std::filesystem::path& file, Phrase advice) {
  const std::filesystem::path path = file.string() + ".lock";
  FileDescriptor opened(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (opened) return FileLock(std::move(opened));
  return fail(phrases::file_place(path),
              errors::files_cannot_open(Said{system_message(errno)}).advise(std::move(advice)));
}

bool FileLock::try_alone() {
  return ::flock(file_.number(), LOCK_EX | LOCK_NB) == 0;
}

void FileLock::share() {
  while (::flock(file_.number(), LOCK_SH) != 0 && errno == EINTR) {
  }
}

}  // namespace fovea::app
