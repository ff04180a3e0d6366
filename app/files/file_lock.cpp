#include "app/files/file_lock.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>

namespace fovea::app {

Result<FileLock> FileLock::open(const std::filesystem::path& file, std::string advice) {
  const std::string path = file.string() + ".lock";
  FileDescriptor opened(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (opened) return FileLock(std::move(opened));
  return fail(ErrorKind::io, path, "cannot be opened: " + system_message(errno), std::move(advice));
}

bool FileLock::try_alone() {
  return ::flock(file_.number(), LOCK_EX | LOCK_NB) == 0;
}

void FileLock::share() {
  while (::flock(file_.number(), LOCK_SH) != 0 && errno == EINTR) {
  }
}

}  // namespace fovea::app
