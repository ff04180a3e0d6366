#include "app/download/partial_file.h"

#include <QCryptographicHash>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <vector>

#include "app/files/atomic_file.h"
#include "app/files/files.h"
#include "app/files/folders.h"
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

std::string gigabytes(std::int64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text,
                bytes < 10'000'000      ? "%.2f MB"
                : bytes < 1'000'000'000 ? "%.0f MB"
                                        : "%.1f GB",
                static_cast<double>(bytes) / (bytes < 1'000'000'000 ? 1e6 : 1e9));
  return text;
}

std::unexpected<Error> cannot_write(const std::filesystem::path& path, int error_number) {
  return fail(ErrorKind::io, path.string(), "cannot be written: " + system_message(error_number),
              "Choose a place that you can write to");
}

// -1 with errno 0: somebody else has it.
int open_locked(const std::filesystem::path& path) {
  for (;;) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0) return -1;
    struct stat mine{}, named{};
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
      const int why = errno == EWOULDBLOCK ? 0 : errno;
      ::close(fd);
      errno = why;
      return -1;
    }
    // Between open and lock the one before may have renamed or removed it: then this is no longer the file's
    // name.
    if (::fstat(fd, &mine) == 0 && ::stat(path.c_str(), &named) == 0 && mine.st_ino == named.st_ino &&
        mine.st_dev == named.st_dev)
      return fd;
    ::close(fd);
  }
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

bool is_disk_full(int error_number) {
  return error_number == ENOSPC || error_number == EDQUOT || error_number == EFBIG;
}

Result<bool> has_content(const std::filesystem::path& file, const PartialContent& content,
                         const std::stop_token& stop) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  Hasher hasher(content);
  std::vector<char> piece(static_cast<std::size_t>(hash_piece_bytes));
  ssize_t got = fd < 0 ? -1 : 1;
  while (got > 0 && !stop.stop_requested()) {
    got = ::read(fd, piece.data(), piece.size());
    if (got > 0) hasher.hash.addData(QByteArrayView(piece.data(), got));
    if (got < 0 && errno == EINTR) got = 1;
  }
  const int why = errno;
  if (fd >= 0) ::close(fd);
  if (got < 0)
    return fail(ErrorKind::io, file.string(), "cannot be read: " + system_message(why), "Check the path");
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
  int lock_fd = -1;
  if (!place.lock.empty()) {
    lock_fd = open_locked(place.lock);
    if (lock_fd < 0 && errno == 0) return nullptr;
    if (lock_fd < 0) return cannot_write(place.lock, errno);
  }
  const int fd = open_locked(place.incomplete);
  if (fd < 0) {
    const int why = errno;
    if (lock_fd >= 0) ::close(lock_fd);
    if (why == 0) return nullptr;
    return cannot_write(place.incomplete, why);
  }
  remove_unnamed_states(place);
  std::unique_ptr<PartialFile> file(new PartialFile(fd, lock_fd, place, content, settings));
  file->load_state();
  file->thread_ = std::jthread([raw = file.get()](const std::stop_token& stop) { raw->work(stop); });
  return file;
}

PartialFile::PartialFile(int fd, int lock_fd, PartialPlace place, PartialContent content,
                         PartialSettings settings)
    : fd_(fd),
      lock_fd_(lock_fd),
      place_(std::move(place)),
      content_(std::move(content)),
      settings_(settings) {}

PartialFile::~PartialFile() {
  thread_.request_stop();
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  if (!is_committed_) save_state();
  ::close(fd_);
  if (lock_fd_ >= 0) ::close(lock_fd_);
}

void PartialFile::load_state() {
  const auto text = read_file(state_of(place_), state_limit_bytes);
  const auto json = text ? nlohmann::json::parse(*text, nullptr, false) : nlohmann::json();
  struct stat file{};
  bool fits = ::fstat(fd_, &file) == 0 && json.is_object() &&
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
  } else if (::ftruncate(fd_, 0) != 0) {
    log::warning("download", place_.incomplete.string(), ": cannot be emptied: ", system_message(errno));
  }
}

Result<void> PartialFile::make_room() {
  struct stat file{};
  struct statvfs disk{};
  if (::fstat(fd_, &file) != 0 || ::fstatvfs(fd_, &disk) != 0) return {};  // a file system that does not tell
  const std::int64_t allocated = static_cast<std::int64_t>(file.st_blocks) * 512;
  const std::int64_t missing = content_.bytes - std::min(content_.bytes, allocated);
  const std::int64_t free_bytes =
      static_cast<std::int64_t>(disk.f_bavail) * static_cast<std::int64_t>(disk.f_frsize);
  const auto too_little = [&] {
    return fail(
        ErrorKind::io, place_.incomplete.parent_path().string(),
        "the disk is too full: " + gigabytes(missing) + " are needed, " + gigabytes(free_bytes) + " are free",
        "Free some space, then resume; nothing that was downloaded is lost");
  };
  if (missing > 0 && missing + settings_.spare_bytes > free_bytes) return too_little();
  if (settings_.reserve && missing > 0 && ::fallocate(fd_, FALLOC_FL_KEEP_SIZE, 0, content_.bytes) != 0 &&
      errno == ENOSPC)
    return too_little();
  return {};
}

int PartialFile::write(std::int64_t offset, std::span<const char> bytes) {
  const std::int64_t begin = offset;
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(fd_, bytes.data(), bytes.size(), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    offset += written;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  const std::scoped_lock lock(mutex_);
  there_.add({begin, offset});
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
      const ssize_t got = ::pread(fd_, piece.data(), wanted, hasher->done);
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
          report(fail(ErrorKind::io, place_.incomplete.string(), "cannot be read back", "Check the disk"));
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
    if (::fdatasync(fd_) != 0) return cannot_write(place_.incomplete, errno);
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
  if (::ftruncate(fd_, content_.bytes) != 0 || ::fsync(fd_) != 0 ||
      ::rename(place_.incomplete.c_str(), place_.target.c_str()) != 0)
    return cannot_write(place_.target, errno);
  {
    const std::scoped_lock lock(mutex_);
    is_committed_ = true;
    is_dirty_ = false;
  }
  ::unlink(state_of(place_).c_str());
  const int folder = ::open(place_.target.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    ::fsync(folder);
    ::close(folder);
  }
  return {};
}

}  // namespace fovea::app
