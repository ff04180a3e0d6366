#include "engine/checkpoint/store.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>

#include "engine/checkpoint/checksum.h"
#include "engine/checkpoint/errors.h"
#include "engine/checkpoint/store_format.h"
#include "engine/core/file_descriptor.h"

namespace fovea::checkpoint {
namespace {

struct OpenFile {
  FileDescriptor file;
  std::int64_t bytes = 0;
};

Result<OpenFile> open_file(const std::filesystem::path& path) {
  OpenFile opened{FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK))};
  if (!opened.file) {
    const int code = errno;
    if (code != ENOENT && code != ENOTDIR)
      return fail(phrases::file_place(path), errors::store_not_opened(Said{system_message(code)}));
    std::error_code ignored;
    const bool begun = std::filesystem::exists(path.string() + ".part", ignored);
    return fail(phrases::file_place(path), begun ? errors::store_not_finished() : errors::no_such_store());
  }
  struct stat status{};
  if (fstat(opened.file.number(), &status) != 0)
    return fail(phrases::file_place(path), errors::store_size_unknown(Said{system_message(errno)}));
  if (!S_ISREG(status.st_mode))
    return fail(phrases::file_place(path), errors::not_a_regular_file().advise(phrases::make_store()));
  opened.bytes = status.st_size;
  return opened;
}

// The first `count` bytes, or as many as there are.
Result<std::vector<std::byte>> read_front(const OpenFile& opened, const std::filesystem::path& path,
                                          std::int64_t count) {
  std::vector<std::byte> front(static_cast<std::size_t>(std::min(count, opened.bytes)));
  if (const int code = opened.file.read_at(0, front); code != 0) return read_error(path, 0, code);
  return front;
}

Result<StoreHeader> read_header(const OpenFile& opened, const std::filesystem::path& path) {
  FOVEA_TRY(const auto front, read_front(opened, path, store_header_bytes));
  return read_store_header(front, opened.bytes, path);
}

}  // namespace

struct Store::File {
  std::filesystem::path path;
  FileDescriptor descriptor;
  ReadMode mode = ReadMode::buffered;
  StoreLayout layout;
  StoreIdentity identity;           // as the reader asked for it
  std::vector<std::int64_t> tiers;  // of identity: where each stands in layout
};

Store::Store(std::unique_ptr<File> file) : file_(std::move(file)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(const std::filesystem::path& path, ReadMode mode) {
  FOVEA_TRY(OpenFile opened, open_file(path));
  FOVEA_TRY(const StoreHeader header, read_header(opened, path));
  FOVEA_TRY(const auto front, read_front(opened, path, header.data_offset));
  auto file = std::make_unique<File>();
  FOVEA_TRY(file->layout, read_store_front(front, opened.bytes, path));
  file->identity = file->layout.identity;
  file->tiers.resize(file->identity.tiers.size());
  std::iota(file->tiers.begin(), file->tiers.end(), 0);
  file->path = path;
  file->descriptor = std::move(opened.file);
  if (mode == ReadMode::direct) {
    // The same file again: another may have taken its name, and then it is not read.
    const std::string again = "/proc/self/fd/" + std::to_string(file->descriptor.number());
    FileDescriptor direct(::open(again.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT));
    if (direct) {
      file->descriptor = std::move(direct);
      file->mode = ReadMode::direct;
    }
  }
  return Store(std::move(file));
}

Result<Store> Store::open(const std::filesystem::path& path, const StoreIdentity& expected, ReadMode mode) {
  // Before the index: an old store's identity is the better error.
  FOVEA_TRY(const StoreIdentity found, read_store_identity(path));
  FOVEA_CHECK(check_identity(found, expected, path));
  FOVEA_TRY(Store store, open(path, mode));
  store.file_->identity.tiers = expected.tiers;
  store.file_->tiers = tiers_among(expected.tiers, found.tiers);
  return store;
}

const StoreIdentity& Store::identity() const {
  return file_->identity;
}

const std::filesystem::path& Store::path() const {
  return file_->path;
}

std::int64_t Store::file_bytes() const {
  return file_->layout.file_bytes;
}

ReadMode Store::mode() const {
  return file_->mode;
}

const Extent& Store::extent(std::int64_t unit, std::int64_t tier) const {
  return file_->layout.extents[file_->layout.slot(unit, file_->tiers[static_cast<std::size_t>(tier)])];
}

Result<void> Store::read(std::int64_t unit, std::int64_t tier, std::span<std::byte> memory,
                         const Pace& pace) const {
  const Extent& e = extent(unit, tier);
  assert(std::ssize(memory) == e.bytes);
  const std::int64_t piece_bytes = pace ? paced_bytes : e.bytes;
  RunningChecksum checksum;
  for (std::int64_t done = 0; done < e.bytes; done += piece_bytes) {
    const auto piece = memory.subspan(static_cast<std::size_t>(done),
                                      static_cast<std::size_t>(std::min(piece_bytes, e.bytes - done)));
    if (pace && !pace(std::ssize(piece)))
      return fail(phrases::store_read_place(), errors::store_read_given_up());
    if (const int code = file_->descriptor.read_at(e.offset + done, piece); code != 0)
      return read_error(file_->path, e.offset + done, code);
    checksum.add(piece);  // while it is in the cache
  }
  if (checksum.value() != e.checksum)
    return fail(phrases::offset_place(file_->path, e.offset),
                errors::store_unit_checksum(unit, file_->identity.tiers[static_cast<std::size_t>(tier)]));
  return {};
}

bool begins_as_store(const std::filesystem::path& path) {
  const auto opened = open_file(path);
  if (!opened) return false;
  const auto front = read_front(*opened, path, store_header_bytes);
  return front && begins_as_store(*front);
}

Result<StoreIdentity> read_store_identity(const std::filesystem::path& path) {
  FOVEA_TRY(const OpenFile opened, open_file(path));
  FOVEA_TRY(const StoreHeader header, read_header(opened, path));
  FOVEA_TRY(const auto front, read_front(opened, path, header.index_offset));
  return read_store_description(header, front, path);
}

}  // namespace fovea::checkpoint
