#include "engine/tasks/packed_file.h"

#include <archive.h>
#include <archive_entry.h>
#include <array>
#include <memory>
#include <system_error>

#include "engine/core/result.h"
#include "engine/tasks/errors.h"

namespace fovea::tasks {
namespace {

constexpr std::size_t limit_bytes = std::size_t{1} << 29;  // unpacked, of one file with all that it holds

using Archive = std::unique_ptr<archive, decltype(&archive_read_free)>;

std::unexpected<Error> failed(const std::filesystem::path& file, const Archive& opened) {
  const char* const said = archive_error_string(opened.get());
  return fail(phrases::file_place(file), errors::task_file_damaged(Said{said != nullptr ? said : ""}));
}

Result<std::filesystem::path> find(const std::filesystem::path& folder, const std::string& name) {
  std::error_code ignored;
  for (const char* packed : {"", ".xz", ".gz", ".bz2"}) {
    std::filesystem::path file = folder / (name + packed);
    if (std::filesystem::is_regular_file(file, ignored)) return file;
  }
  return fail(phrases::file_place(folder / name), errors::task_file_missing());
}

Result<void> append_entry(const std::filesystem::path& file, const Archive& opened, std::string& bytes) {
  std::array<char, 1 << 16> buffer;
  while (true) {
    const la_ssize_t got = archive_read_data(opened.get(), buffer.data(), buffer.size());
    if (got < 0) return failed(file, opened);
    if (got == 0) return {};
    if (bytes.size() + static_cast<std::size_t>(got) > limit_bytes) {
      return fail(phrases::file_place(file),
                  errors::task_file_too_large(Bytes{static_cast<std::int64_t>(limit_bytes)}));
    }
    bytes.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

// Of a file that is no archive, its bytes under some name.
Result<std::map<std::string, std::string>> unpack(const std::filesystem::path& file, bool is_archive) {
  const Archive opened(archive_read_new(), &archive_read_free);
  if (!opened) return fail(phrases::file_place(file), errors::no_memory());
  archive_read_support_filter_gzip(opened.get());
  archive_read_support_filter_bzip2(opened.get());
  archive_read_support_filter_xz(opened.get());
  if (is_archive) {
    archive_read_support_format_tar(opened.get());
  } else {
    archive_read_support_format_raw(opened.get());
    archive_read_support_format_empty(opened.get());
  }
  if (archive_read_open_filename(opened.get(), file.c_str(), 1 << 16) != ARCHIVE_OK)
    return failed(file, opened);
  std::map<std::string, std::string> found;
  std::size_t total = 0;
  archive_entry* entry = nullptr;
  int status = ARCHIVE_OK;
  while ((status = archive_read_next_header(opened.get(), &entry)) == ARCHIVE_OK) {
    const char* const name = archive_entry_pathname(entry);
    if (is_archive && (name == nullptr || archive_entry_filetype(entry) != AE_IFREG)) continue;
    std::string& bytes = found[name != nullptr ? name : ""];
    FOVEA_CHECK(append_entry(file, opened, bytes));
    if ((total += bytes.size()) > limit_bytes) {
      return fail(phrases::file_place(file),
                  errors::task_file_too_large(Bytes{static_cast<std::int64_t>(limit_bytes)}));
    }
  }
  if (status != ARCHIVE_EOF) return failed(file, opened);
  return found;
}

}  // namespace

Result<std::string> read_packed(const std::filesystem::path& folder, const std::string& name) {
  FOVEA_TRY(const std::filesystem::path file, find(folder, name));
  FOVEA_TRY(auto unpacked, unpack(file, false));
  return unpacked.empty() ? std::string() : std::move(unpacked.begin()->second);
}

Result<std::map<std::string, std::string>> read_archive(const std::filesystem::path& folder,
                                                        const std::string& name) {
  FOVEA_TRY(const std::filesystem::path file, find(folder, name));
  return unpack(file, true);
}

}  // namespace fovea::tasks
