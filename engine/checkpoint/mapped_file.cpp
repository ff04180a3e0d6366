#include "engine/checkpoint/mapped_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "engine/checkpoint/errors.h"
#include "engine/core/file_descriptor.h"
#include "engine/core/result.h"

namespace fovea::checkpoint {
namespace {

std::size_t page_bytes() {
  static const std::size_t bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

std::unexpected<Error> not_opened(const std::filesystem::path& path, int code) {
  const Phrase where = phrases::file_place(path);
  const Said said{system_message(code)};
  if (code == ENOENT || code == ENOTDIR) return fail(where, errors::model_file_missing(said));
  Error error = errors::model_file_not_opened(said);
  if (code == EACCES) error.advice = phrases::give_the_right_to_read();
  return fail(where, std::move(error));
}

std::unexpected<Error> not_mapped(const std::filesystem::path& path, int code) {
  Error error = errors::model_file_not_mapped(Said{system_message(code)});
  if (code == ENOMEM) error.advice = phrases::raise_address_space();
  return fail(phrases::file_place(path), std::move(error));
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  // O_NONBLOCK: opening a named pipe must not wait for its writer.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return not_opened(path, errno);
  struct stat status{};
  if (fstat(file.number(), &status) != 0)
    return fail(phrases::file_place(path), errors::model_file_size_unknown(Said{system_message(errno)}));
  if (!S_ISREG(status.st_mode))
    return fail(phrases::file_place(path), errors::not_a_regular_file().advise(phrases::name_a_model()));
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return MappedFile();
  void* address = mmap(nullptr, size, PROT_READ, MAP_SHARED, file.number(), 0);
  if (address == MAP_FAILED) return not_mapped(path, errno);
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
