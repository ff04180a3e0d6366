#include "app/settings/settings_file.h"

#include <chrono>
#include <thread>
#include <utility>

#include "app/files/file_lock.h"
#include "app/files/files.h"
#include "app/files/folders.h"
#include "app/library/data_folder.h"
#include "app/settings/document.h"
#include "app/settings/errors.h"
#include "engine/core/atomic_file.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

constexpr std::int64_t kMaxBytes = 16 << 20;
constexpr int kLockAttempts = 200;  // 10 ms apart

// Held by one writer at a time, in whichever process.
Result<FileLock> lock_for_writing(const std::filesystem::path& file) {
  auto lock = FileLock::open(file, phrases::check_the_folder());
  for (int attempt = 0; lock && attempt < kLockAttempts; ++attempt) {
    if (lock->try_alone()) return lock;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (!lock) return lock;
  return fail(phrases::file_place(file), errors::settings_locked());
}

}  // namespace

std::filesystem::path settings_path() {
  return config_folder() / "settings.json";
}

// The file's text, or nothing when there is none. One that is no JSON object is renamed.
Result<std::string> SettingsFile::read_sound_text() {
  auto text = read_file(path_, kMaxBytes);
  if (!text && text.error().kind == ErrorKind::not_found) return std::string();
  if (!text && text.error().kind != ErrorKind::invalid) return text;
  const Phrase why = text ? SettingsDocument::fault(*text) : text.error().what;
  if (why.empty()) return text;
  const auto target = name_aside(path_, "broken");
  std::error_code error;
  std::filesystem::rename(path_, target, error);
  if (error == std::errc::no_such_file_or_directory) return std::string();  // another instance was faster
  if (error)
    return fail(phrases::file_place(path_), errors::settings_not_renamed(why, Said{error.message()}));
  notices_.push_back(phrases::settings_set_aside(path_, why, target));
  return std::string();
}

Result<Settings> SettingsFile::load() {
  auto text = read_sound_text();
  if (!text) return std::unexpected(std::move(text).error());
  return SettingsDocument(*text).settings(&notices_);
}

Result<Settings> SettingsFile::update(const std::function<void(Settings&)>& change) {
  if (path_.has_parent_path()) {
    if (auto folder = make_folder(path_.parent_path()); !folder) return std::unexpected(folder.error());
  }
  const auto lock = lock_for_writing(path_);
  if (!lock) return std::unexpected(lock.error());
  const auto text = read_sound_text();
  if (!text) return std::unexpected(text.error());
  SettingsDocument document(*text);
  const Settings before = document.settings(nullptr);
  Settings after = before;
  change(after);
  if (!document.apply(before, after)) return after;
  auto file = AtomicFile::create(path_);
  if (!file) return std::unexpected(file.error());
  if (auto written = file->write(document.text()); !written) return std::unexpected(written.error());
  if (auto committed = file->commit(); !committed) return std::unexpected(committed.error());
  return after;
}

std::vector<Phrase> SettingsFile::take_notices() {
  return std::exchange(notices_, {});
}

}  // namespace fovea::app
