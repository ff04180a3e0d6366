#include "engine/checkpoint/file_descriptor.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <unistd.h>

namespace fovea::checkpoint {

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

std::unexpected<Error> read_error(const std::filesystem::path& path, std::int64_t offset, int code) {
  const std::string where = path.string() + ", offset " + std::to_string(offset);
  if (code < 0)
    return fail(ErrorKind::format, where, "the file was cut off while it was read",
                "Find out what else writes it");
  return fail(ErrorKind::io, where, std::string("cannot read: ") + std::strerror(code), "Check the disk");
}

}  // namespace fovea::checkpoint
