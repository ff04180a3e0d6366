// A file that comes in pieces: "NAME.incomplete" beside where it will be, and what of it is there in
// "NAME.incomplete.state", so that a later program continues it whatever ended this one. A thread of its own
// checks the content's hash behind the writer and makes durable what is there.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <thread>

#include "app/download/range_set.h"
#include "engine/api/error.h"
#include "engine/core/file_descriptor.h"

namespace fovea::app {

struct PartialPlace {
  std::filesystem::path target;      // what appears at the end
  std::filesystem::path incomplete;  // in the same folder
  std::filesystem::path lock;        // taken too, for other tools; may be empty
  bool is_named_by_hash = false;     // a target that exists is the right one
};

// What the file is: a state on the disk that says otherwise is of something else and is thrown away.
struct PartialContent {
  std::string source;  // "ORG/NAME@COMMIT:PATH"
  std::int64_t bytes = 0;
  std::string sha256;   // of the content; or
  std::string git_oid;  // of the Git blob, where there is no SHA-256
};

struct PartialSettings {
  int sync_interval_ms = 2000;                        // at most so much work is lost with the power
  std::int64_t spare_bytes = std::int64_t{64} << 20;  // left free on the disk
  bool reserve = true;                                // ask the file system for the space at once
};

class PartialFile {
 public:
  // Null: somebody else, in this program or another, is writing it.
  static Result<std::unique_ptr<PartialFile>> open(const PartialPlace& place, const PartialContent& content,
                                                   const PartialSettings& settings);
  // For a target that is there and right: removes the state that a program left which was killed between
  // naming the target and this.
  static void clean_after_commit(const PartialPlace& place);
  // Keeps what is there, durably.
  ~PartialFile();
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  // Whether the disk can take the rest; it is reserved where the file system can. The error says how much is
  // missing.
  Result<void> make_room();
  // 0 or an errno value. From one thread.
  int write(std::int64_t offset, std::span<const char> bytes);

  std::int64_t bytes_there() const;
  bool is_whole() const { return bytes_there() == content_.bytes; }
  // The first missing range that is in none of `taken`.
  ByteRange first_gap(std::span<const ByteRange> taken) const;
  // The storage's name of what was read so far: Range requests continue only that.
  std::string etag() const;
  void set_etag(std::string etag);

  // Calls `verified` once, in another thread, when the whole content is hashed: true where it is what it
  // should be.
  void verify(std::function<void(Result<bool>)> verified);
  // Begins again from nothing.
  void discard();
  // The target appears. After verify() said true.
  Result<void> commit();

 private:
  PartialFile(FileDescriptor file, FileDescriptor lock, PartialPlace place, PartialContent content,
              PartialSettings settings);
  void load_state();
  void work(const std::stop_token& stop);
  void save_state();

  const FileDescriptor file_;
  const FileDescriptor lock_;
  const PartialPlace place_;
  const PartialContent content_;
  const PartialSettings settings_;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  RangeSet there_;                              // guarded by mutex_
  std::string etag_;                            // guarded by mutex_
  bool is_dirty_ = false;                       // guarded by mutex_: there_ is ahead of the state on the disk
  bool is_committed_ = false;                   // guarded by mutex_
  std::uint64_t generation_ = 0;                // guarded by mutex_: counts discard()
  std::function<void(Result<bool>)> verified_;  // guarded by mutex_
  std::jthread thread_;
};

std::unexpected<Error> disk_too_full(const std::filesystem::path& folder, std::int64_t missing_bytes,
                                     std::int64_t free_bytes);
bool is_disk_full(int error_number);

// Whether a whole file is what it should be.
Result<bool> has_content(const std::filesystem::path& file, const PartialContent& content,
                         const std::stop_token& stop);

}  // namespace fovea::app
