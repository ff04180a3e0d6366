#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "engine/checkpoint/checksum.h"
#include "engine/checkpoint/errors.h"
#include "engine/checkpoint/store.h"
#include "engine/checkpoint/store_format.h"
#include "engine/core/file_descriptor.h"

namespace fovea::checkpoint {
namespace {

// `error`: a row of errors.h that quotes the system.
std::unexpected<Error> write_error(const std::filesystem::path& path, auto error, int code) {
  return fail(phrases::file_place(path), error(Said{system_message(code)})
                                             .advise(code == ENOSPC ? phrases::free_space_and_start_again()
                                                                    : phrases::check_folder_is_writable()));
}

std::unexpected<Error> no_room(const std::filesystem::path& path, std::int64_t needed, std::int64_t free) {
  return fail(phrases::file_place(path), errors::store_room(Bytes{needed}, Bytes{free}));
}

// Takes the whole file's room from the disk.
Result<void> reserve(const FileDescriptor& file, const std::filesystem::path& part, std::int64_t bytes) {
  struct stat status{};
  struct statvfs disk{};
  if (fstat(file.number(), &status) != 0 || fstatvfs(file.number(), &disk) != 0)
    return write_error(part, errors::store_room_unknown, errno);
  const std::int64_t taken = std::int64_t{status.st_blocks} * 512;
  const auto free = static_cast<std::int64_t>(disk.f_bavail * disk.f_frsize);
  const std::int64_t needed = std::max<std::int64_t>(bytes - taken, 0);
  if (needed > free) return no_room(part, needed, free);
  if (::fallocate(file.number(), 0, 0, bytes) == 0) return {};
  const int code = errno;
  if (code == ENOSPC || code == EDQUOT || code == EFBIG) return no_room(part, needed, free);
  // A file system without reservations: the room was at least there a moment ago.
  if (::ftruncate(file.number(), bytes) != 0) return write_error(part, errors::store_size_not_set, errno);
  return {};
}

}  // namespace

struct StoreWriter::File {
  std::filesystem::path path, part;
  FileDescriptor descriptor;
  StoreLayout layout;
  std::unique_ptr<std::atomic<bool>[]> written;  // [slots]

  std::int64_t entry_offset(std::size_t slot) const {
    return layout.index_offset + static_cast<std::int64_t>(slot * store_entry_bytes);
  }
  Result<void> begin();
  Result<bool> go_on(std::span<const std::byte> front);
  Result<void> write_entry(std::size_t slot) const;
};

StoreWriter::StoreWriter(std::unique_ptr<File> file) : file_(std::move(file)) {}
StoreWriter::StoreWriter(StoreWriter&&) noexcept = default;
StoreWriter& StoreWriter::operator=(StoreWriter&&) noexcept = default;
StoreWriter::~StoreWriter() {
  // One that never got as far as its description is of no use to anybody.
  if (!file_ || !file_->descriptor) return;
  struct stat status{};
  if (fstat(file_->descriptor.number(), &status) == 0 && status.st_size == 0) ::unlink(file_->part.c_str());
}

// True: the part is this store's, and the entries that count are known.
Result<bool> StoreWriter::File::go_on(std::span<const std::byte> front) {
  struct stat status{};
  if (fstat(descriptor.number(), &status) != 0) return write_error(part, errors::store_size_unknown, errno);
  if (!S_ISREG(status.st_mode)) return fail(phrases::file_place(part), errors::not_a_regular_file());
  // A store's part is zeros until its front is written. Another file is not emptied.
  std::array<std::byte, 8> start = {};
  const std::size_t there = std::min(start.size(), static_cast<std::size_t>(status.st_size));
  if (const int code = descriptor.read_at(0, std::span(start).first(there)); code != 0)
    return read_error(part, 0, code);
  if (start != std::array<std::byte, 8>{} && !begins_as_store(start))
    return fail(phrases::file_place(part), errors::not_to_be_emptied());
  if (status.st_size < layout.data_offset) return false;
  std::vector<std::byte> found(static_cast<std::size_t>(layout.data_offset));
  if (const int code = descriptor.read_at(0, found); code != 0) return read_error(part, 0, code);
  if (!std::ranges::equal(std::span(found).first(front.size()), front)) return false;
  for (std::size_t slot = 0; slot < layout.extents.size(); ++slot) {
    const auto entry = std::span(found).subspan(static_cast<std::size_t>(entry_offset(slot)));
    written[slot] = decode_store_entry(layout, slot, entry.first<store_entry_bytes>());
  }
  return true;
}

Result<void> StoreWriter::File::begin() {
  const std::vector<std::byte> front = encode_store_front(layout);
  FOVEA_TRY(const bool going_on, go_on(front));
  if (!going_on && ::ftruncate(descriptor.number(), 0) != 0)
    return write_error(part, errors::store_not_emptied, errno);
  if (auto reserved = reserve(descriptor, part, layout.file_bytes); !reserved) {
    if (!going_on) static_cast<void>(::ftruncate(descriptor.number(), 0) == 0);
    return reserved;
  }
  if (going_on) return {};
  if (const int code = descriptor.write_at(0, front); code != 0)
    return write_error(part, errors::store_not_written, code);
  return {};
}

Result<void> StoreWriter::File::write_entry(std::size_t slot) const {
  const StoreEntry entry = encode_store_entry(layout, slot);
  if (const int code = descriptor.write_at(entry_offset(slot), entry); code != 0)
    return write_error(part, errors::store_not_written, code);
  return {};
}

Result<StoreWriter> StoreWriter::create(const std::filesystem::path& path, const StoreIdentity& identity,
                                        std::span<const std::int64_t> bytes) {
  auto file = std::make_unique<File>();
  file->path = path;
  file->part = path.string() + ".part";
  FOVEA_TRY(file->layout, plan_store(identity, bytes));
  file->written = std::make_unique<std::atomic<bool>[]>(bytes.size());
  std::error_code error;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  if (error)
    return fail(phrases::file_place(path.parent_path()),
                errors::store_folder_not_made(Said{error.message()}));
  auto descriptor = open_locked(file->part, 0644);
  if (!descriptor && descriptor.error() == EWOULDBLOCK)
    return fail(phrases::file_place(file->part), errors::store_in_preparation());
  if (!descriptor) return write_error(file->part, errors::store_not_created, descriptor.error());
  file->descriptor = std::move(*descriptor);
  StoreWriter writer(std::move(file));
  FOVEA_CHECK(writer.file_->begin());
  return writer;
}

bool StoreWriter::has(std::int64_t unit, std::int64_t tier) const {
  return file_->written[file_->layout.slot(unit, tier)];
}

const Extent& StoreWriter::extent(std::int64_t unit, std::int64_t tier) const {
  return file_->layout.extents[file_->layout.slot(unit, tier)];
}

Result<void> StoreWriter::read(std::int64_t unit, std::int64_t tier, std::span<std::byte> memory) const {
  const Extent& e = extent(unit, tier);
  assert(has(unit, tier) && std::ssize(memory) == e.bytes);
  if (const int code = file_->descriptor.read_at(e.offset, memory); code != 0)
    return read_error(file_->part, e.offset, code);
  if (checksum64(memory) != e.checksum)
    return fail(phrases::offset_place(file_->part, e.offset), errors::store_extent_checksum());
  return {};
}

Result<void> StoreWriter::write(std::int64_t unit, std::int64_t tier, std::span<const std::byte> version,
                                Extent errors) {
  const std::size_t slot = file_->layout.slot(unit, tier);
  Extent& extent = file_->layout.extents[slot];
  if (std::ssize(version) != extent.bytes)
    return fail(phrases::file_place(file_->part),
                errors::store_version_size(Bytes{std::ssize(version)}, Bytes{extent.bytes}));
  if (const int code = file_->descriptor.write_at(extent.offset, version); code != 0)
    return write_error(file_->part, errors::store_not_written, code);
  errors.offset = extent.offset;
  errors.bytes = extent.bytes;
  errors.checksum = checksum64(version);
  extent = errors;
  FOVEA_CHECK(file_->write_entry(slot));
  file_->written[slot] = true;
  return {};
}

Result<void> StoreWriter::amend(std::int64_t unit, std::int64_t tier, Extent errors) {
  const std::size_t slot = file_->layout.slot(unit, tier);
  assert(file_->written[slot]);
  Extent& extent = file_->layout.extents[slot];
  extent.weight_error = errors.weight_error;
  extent.output_error = errors.output_error;
  extent.divergence = errors.divergence;
  extent.calibration_tokens = errors.calibration_tokens;
  return file_->write_entry(slot);
}

Result<void> StoreWriter::finish() {
  File& f = *file_;
  const auto missing = std::count(f.written.get(), f.written.get() + f.layout.extents.size(), false);
  if (missing > 0) return fail(phrases::file_place(f.part), errors::store_extents_missing(missing));
  if (::fsync(f.descriptor.number()) != 0) return write_error(f.part, errors::store_not_synced, errno);
  if (const int code = rename_durably(f.part, f.path); code != 0)
    return write_error(f.path, errors::store_not_named, code);
  return {};
}

std::int64_t store_bytes(const StoreIdentity& identity, std::span<const std::int64_t> bytes) {
  const auto layout = plan_store(identity, bytes);
  return layout ? layout->file_bytes : 0;
}

}  // namespace fovea::checkpoint
