#include "app/download/partial_file.h"

#include <QCryptographicHash>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <vector>

#include "app/download/errors.h"
#include "app/files/errors.h"
#include "app/files/files.h"
#include "app/files/folders.h"
#include "engine/core/atomic_file.h"
#include "engine/core/log.h"
#include "engine/core/result.h"
#include "engine/core/thread.h"

namespace fovea::app {
namespace {

constexpr std::int64_t state_limit_bytes = 4 << 20;
constexpr std::int64_t hash_piece_bytes = 1 << 20;
constexpr int state_version = 1;
constexpr std::chrono::milliseconds first_sync(100);

std::filesystem::path state_of(const PartialPlace& place) {
  return place.incomplete.string() + ".state";
}

// States that a killed program had written and not yet named. Only for who has the file's lock.
void remove_unnamed_states(const PartialPlace& place) {
  const std::string begin = state_of(place).filename().string() + ".partial-";
  std::error_code ignored;
  for (const std::filesystem::path& path : entries_of(place.incomplete.parent_path()))
    if (path.filename().string().starts_with(begin)) std::filesystem::remove(path, ignored);
}

std::unexpected<Error> cannot_write(const std::filesystem::path& path, int error_number) {
  return fail(
      phrases::file_place(path),
      errors::cannot_write(Said{system_message(error_number)}).advise(phrases::choose_writable_place()));
}

// Follows the bytes that are there without a gap.
struct Hasher {
  explicit Hasher(const PartialContent& content)
      : hash(content.sha256.empty() ? QCryptographicHash::Sha1 : QCryptographicHash::Sha256) {
    if (!content.sha256.empty()) return;
    const std::string header = "blob " + std::to_string(content.bytes);
    hash.addData(QByteArrayView(header.c_str(), static_cast<qsizetype>(header.size()) + 1));  // with the zero
  }
  std::string result() const { return hash.result().toHex().toStdString(); }

  QCryptographicHash hash;
  std::int64_t done = 0;
};

}  // namespace

std::unexpected<Error> disk_too_full(const std::filesystem::path& folder, std::int64_t missing_bytes,
                                     std::int64_t free_bytes) {
  return fail(phrases::file_place(folder),
              errors::download_disk_full(Bytes{missing_bytes}, Bytes{free_bytes}));
}

bool is_disk_full(int error_number) {
  return error_number == ENOSPC || error_number == EDQUOT || error_number == EFBIG;
}

Result<bool> has_content(const std::filesystem::path& file, const PartialContent& content,
                         const std::stop_token& stop) {
  const FileDescriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  Hasher hasher(content);
  std::vector<char> piece(static_cast<std::size_t>(hash_piece_bytes));
  ssize_t got = opened ? 1 : -1;
  while (got > 0 && !stop.stop_requested()) {
    got = ::read(opened.number(), piece.data(), piece.size());
    if (got > 0) hasher.hash.addData(QByteArrayView(piece.data(), got));
    if (got < 0 && errno == EINTR) got = 1;
  }
  if (got < 0)
    return fail(phrases::file_place(file),
                errors::cannot_read(Said{system_message(errno)}).advise(phrases::files_check_path()));
  return hasher.result() == (content.sha256.empty() ? content.git_oid : content.sha256);
}

void PartialFile::clean_after_commit(const PartialPlace& place) {
  std::error_code error;
  if (std::filesystem::exists(place.incomplete, error) || error) return;  // somebody writes it anew
  std::filesystem::remove(state_of(place), error);
  remove_unnamed_states(place);
}

Result<std::unique_ptr<PartialFile>> PartialFile::open(const PartialPlace& place,
                                                       const PartialContent& content,
                                                       const PartialSettings& settings) {
  std::error_code error;
  for (const auto& folder : {place.incomplete.parent_path(), place.lock.parent_path()}) {
    if (folder.empty()) continue;
    std::filesystem::create_directories(folder, error);
    if (error) return cannot_write(folder, error.value());
  }
  FileDescriptor locked;
  if (!place.lock.empty()) {
    auto lock = open_locked(place.lock, 0666);
    if (!lock && lock.error() == EWOULDBLOCK) return nullptr;
    if (!lock) return cannot_write(place.lock, lock.error());
    locked = std::move(*lock);
  }
  auto incomplete = open_locked(place.incomplete, 0666);
  if (!incomplete && incomplete.error() == EWOULDBLOCK) return nullptr;
  if (!incomplete) return cannot_write(place.incomplete, incomplete.error());
  remove_unnamed_states(place);
  std::unique_ptr<PartialFile> file(
      new PartialFile(std::move(*incomplete), std::move(locked), place, content, settings));
  file->load_state();
  file->thread_ = std::jthread([raw = file.get()](const std::stop_token& stop) { raw->work(stop); });
  return file;
}

PartialFile::PartialFile(FileDescriptor file, FileDescriptor lock, PartialPlace place, PartialContent content,
                         PartialSettings settings)
    : file_(std::move(file)),
      lock_(std::move(lock)),
      place_(std::move(place)),
      content_(std::move(content)),
      settings_(settings) {}

PartialFile::~PartialFile() {
  thread_.request_stop();
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  if (!is_committed_) save_state();
}

void PartialFile::load_state() {
  const auto text = read_file(state_of(place_), state_limit_bytes);
  const auto json = text ? nlohmann::json::parse(*text, nullptr, false) : nlohmann::json();
  struct stat file{};
  bool fits = ::fstat(file_.number(), &file) == 0 && json.is_object() &&
              json.value("version", nlohmann::json()) == state_version &&
              json.value("source", nlohmann::json()) == content_.source &&
              json.value("bytes", nlohmann::json()) == content_.bytes &&
              json.value("sha256", nlohmann::json()) == content_.sha256 &&
              json.value("git_oid", nlohmann::json()) == content_.git_oid && json.contains("there") &&
              json["there"].is_array();
  RangeSet there;
  if (fits) {
    for (const auto& range : json["there"]) {
      fits = fits && range.is_array() && range.size() == 2 && range[0].is_number_integer() &&
             range[1].is_number_integer();
      if (!fits) break;
      const ByteRange known{range[0].get<std::int64_t>(), range[1].get<std::int64_t>()};
      fits = known.begin >= 0 && known.begin < known.end && known.end <= content_.bytes &&
             known.end <= file.st_size;
      there.add(known);
    }
  }
  if (fits) {
    there_ = std::move(there);
    if (json.contains("etag") && json["etag"].is_string()) etag_ = json["etag"].get<std::string>();
    log::info("download", place_.incomplete.string(), ": continues with ", there_.bytes(), " of ",
              content_.bytes, " bytes");
  } else if (::ftruncate(file_.number(), 0) != 0) {
    log::warning("download", place_.incomplete.string(), ": cannot be emptied: ", system_message(errno));
  }
}

Result<void> PartialFile::make_room() {
  struct stat file{};
  struct statvfs disk{};
  if (::fstat(file_.number(), &file) != 0 || ::fstatvfs(file_.number(), &disk) != 0)
    return {};  // a file system that does not tell
  const std::int64_t allocated = static_cast<std::int64_t>(file.st_blocks) * 512;
  const std::int64_t missing = content_.bytes - std::min(content_.bytes, allocated);
  const std::int64_t free_bytes =
      static_cast<std::int64_t>(disk.f_bavail) * static_cast<std::int64_t>(disk.f_frsize);
  const auto too_little = [&] { return disk_too_full(place_.incomplete.parent_path(), missing, free_bytes); };
  if (missing > 0 && missing + settings_.spare_bytes > free_bytes) return too_little();
  if (settings_.reserve && missing > 0 &&
      ::fallocate(file_.number(), FALLOC_FL_KEEP_SIZE, 0, content_.bytes) != 0 && errno == ENOSPC)
    return too_little();
  return {};
}

int PartialFile::write(std::int64_t offset, std::span<const char> bytes) {
  if (const int code = file_.write_at(offset, std::as_bytes(bytes)); code != 0) return code;
  const std::scoped_lock lock(mutex_);
  there_.add({offset, offset + std::ssize(bytes)});
  is_dirty_ = true;
  changed_.notify_all();
  return 0;
}

std::int64_t PartialFile::bytes_there() const {
  const std::scoped_lock lock(mutex_);
  return there_.bytes();
}

ByteRange PartialFile::first_gap(std::span<const ByteRange> taken) const {
  const std::scoped_lock lock(mutex_);
  RangeSet busy = there_;
  for (const ByteRange& range : taken) busy.add(range);
  return busy.first_gap(0, content_.bytes);
}

std::string PartialFile::etag() const {
  const std::scoped_lock lock(mutex_);
  return etag_;
}

void PartialFile::set_etag(std::string etag) {
  const std::scoped_lock lock(mutex_);
  etag_ = std::move(etag);
  is_dirty_ = true;
}

void PartialFile::verify(std::function<void(Result<bool>)> verified) {
  const std::scoped_lock lock(mutex_);
  verified_ = std::move(verified);
  changed_.notify_all();
}

void PartialFile::discard() {
  const std::scoped_lock lock(mutex_);
  there_.clear();
  etag_.clear();
  verified_ = nullptr;
  ++generation_;
  is_dirty_ = true;
  ::unlink(state_of(place_).c_str());  // it would claim what is now overwritten
  changed_.notify_all();
}

// One loop: hash what has come, save the state when it is time, report when all is hashed.
void PartialFile::work(const std::stop_token& stop) {
  name_this_thread("download");
  yield_to_others();
  using Clock = std::chrono::steady_clock;
  // Soon at first, so that a short life of the program gets somewhere too.
  const std::chrono::milliseconds longest(settings_.sync_interval_ms);
  auto interval = std::min(longest, first_sync);
  const std::string& expected = content_.sha256.empty() ? content_.git_oid : content_.sha256;
  std::vector<char> piece(static_cast<std::size_t>(hash_piece_bytes));
  std::uint64_t generation = 0;
  auto hasher = std::make_unique<Hasher>(content_);
  auto saved_at = Clock::now();

  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (generation != generation_) {
      generation = generation_;
      hasher = std::make_unique<Hasher>(content_);
    }
    const std::int64_t prefix = there_.prefix();
    if (is_dirty_ && Clock::now() - saved_at >= interval) {
      lock.unlock();
      save_state();
      saved_at = Clock::now();
      interval = std::min(longest, 2 * interval);
      lock.lock();
    } else if (hasher->done < prefix) {
      lock.unlock();
      const auto wanted = static_cast<std::size_t>(std::min(hash_piece_bytes, prefix - hasher->done));
      const ssize_t got = ::pread(file_.number(), piece.data(), wanted, hasher->done);
      const int why = errno;
      if (got > 0) {
        hasher->hash.addData(QByteArrayView(piece.data(), got));
        hasher->done += got;
      }
      lock.lock();
      if (got <= 0 && !(got < 0 && why == EINTR) && generation == generation_) {
        // What was written cannot be read back: the disk fails, or somebody has cut the file off.
        if (auto report = std::exchange(verified_, nullptr)) {
          lock.unlock();
          report(fail(phrases::file_place(place_.incomplete), errors::download_not_read_back()));
          lock.lock();
        } else {
          changed_.wait_for(lock, stop, interval, [] { return false; });
        }
      }
    } else if (verified_ && prefix == content_.bytes) {
      const auto report = std::exchange(verified_, nullptr);
      lock.unlock();
      report(hasher->result() == expected);
      lock.lock();
    } else if (is_dirty_) {
      changed_.wait_until(lock, stop, saved_at + interval, [&] {
        return there_.prefix() != prefix || generation != generation_ || verified_;
      });
    } else {
      changed_.wait(lock, stop, [&] {
        return is_dirty_ || there_.prefix() != prefix || generation != generation_ || verified_;
      });
    }
  }
}

// The data first, then the claim that it is there. A claim that cannot be written is not made: the older one
// is true too.
void PartialFile::save_state() {
  nlohmann::json ranges = nlohmann::json::array();
  nlohmann::json state;
  std::uint64_t generation = 0;
  {
    const std::scoped_lock lock(mutex_);
    if (!is_dirty_) return;
    generation = generation_;
    is_dirty_ = false;
    for (const ByteRange& range : there_.ranges()) ranges.push_back({range.begin, range.end});
    state["etag"] = etag_;
  }
  state["version"] = state_version;
  state["source"] = content_.source;
  state["bytes"] = content_.bytes;
  state["sha256"] = content_.sha256;
  state["git_oid"] = content_.git_oid;
  state["there"] = std::move(ranges);
  const auto write = [&]() -> Result<void> {
    if (::fdatasync(file_.number()) != 0) return cannot_write(place_.incomplete, errno);
    FOVEA_TRY(auto file, AtomicFile::create(state_of(place_)));
    FOVEA_CHECK(file.write(state.dump()));
    return file.commit();
  };
  if (const auto written = write(); !written) log::warning("download", written.error().message());
  const std::scoped_lock lock(mutex_);
  if (generation != generation_) ::unlink(state_of(place_).c_str());
}

Result<void> PartialFile::commit() {
  thread_.request_stop();
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  if (::ftruncate(file_.number(), content_.bytes) != 0 || ::fsync(file_.number()) != 0)
    return cannot_write(place_.target, errno);
  if (const int code = rename_durably(place_.incomplete, place_.target); code != 0)
    return cannot_write(place_.target, code);
  {
    const std::scoped_lock lock(mutex_);
    is_committed_ = true;
    is_dirty_ = false;
  }
  ::unlink(state_of(place_).c_str());
  return {};
}

}  // namespace fovea::app
