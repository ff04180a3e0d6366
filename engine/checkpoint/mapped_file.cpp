#include "engine/checkpoint/mapped_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "engine/core/file_descriptor.h"
#include "engine/core/result.h"

namespace fovea::checkpoint {
namespace {

std::size_t page_bytes() {
  static const std::size_t bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

std::unexpected<Error> system_error(const std::filesystem::path& path, const char* action, int code) {
  const bool missing = code == ENOENT || code == ENOTDIR;
  const char* advice = missing          ? "Check the path"
                       : code == EACCES ? "Give yourself the right to read it"
                       : code == ENOMEM ? "Raise the limit on address space (ulimit -v)"
                                        : "Check the disk";
  return fail(missing ? ErrorKind::not_found : ErrorKind::io, path.string(),
              std::string(action) + ": " + system_message(code), advice);
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  // O_NONBLOCK: opening a named pipe must not wait for its writer.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return system_error(path, "cannot open the file", errno);
  struct stat status{};
  if (fstat(file.number(), &status) != 0) return system_error(path, "cannot read the file's size", errno);
  if (!S_ISREG(status.st_mode))
    return fail(ErrorKind::invalid, path.string(), "this is not a regular file",
                "Name a model file or folder");
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return MappedFile();
  void* address = mmap(nullptr, size, PROT_READ, MAP_SHARED, file.number(), 0);
  if (address == MAP_FAILED) return system_error(path, "cannot map the file into memory", errno);
  return MappedFile(std::span(static_cast<const std::byte*>(address), size));
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void MappedFile::drop(std::size_t offset, std::size_t count) const {
  const std::size_t page = page_bytes();
  const std::size_t end_byte = std::min(offset + count, bytes_.size());
  // The file's last page belongs to nobody else, so it may go although the file ends inside it.
  const std::size_t end = end_byte == bytes_.size() ? end_byte : end_byte / page * page;
  const std::size_t begin = (offset + page - 1) / page * page;
  if (begin >= end) return;
  madvise(const_cast<std::byte*>(bytes_.data()) + begin, end - begin, MADV_DONTNEED);
}

void MappedFile::will_need(std::size_t offset, std::size_t count) const {
  const std::size_t begin = offset / page_bytes() * page_bytes();
  const std::size_t end = std::min(offset + count, bytes_.size());
  if (begin >= end) return;
  madvise(const_cast<std::byte*>(bytes_.data()) + begin, end - begin, MADV_WILLNEED);
}

}  // namespace fovea::checkpoint
