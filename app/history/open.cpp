#include "app/history/open.h"

#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include "app/files/errors.h"
#include "app/files/folders.h"
#include "app/history/errors.h"
#include "app/history/rows.h"
#include "app/history/schema.h"
#include "engine/core/result.h"

namespace fovea::app::history {
namespace {

constexpr std::int64_t kOurMark = 0x46766561;  // schema.cpp

std::filesystem::path with_suffix(const std::filesystem::path& file, const std::string& suffix) {
  return file.string() + suffix;
}

std::filesystem::path suspect_note(const std::filesystem::path& file) {
  return with_suffix(file, ".suspect");
}

// The file with its log, under another name.
Result<std::filesystem::path> set_aside(const std::filesystem::path& file) {
  const auto target = name_aside(file, "damaged");
  std::error_code error;
  std::filesystem::rename(file, target, error);
  if (error) return fail(phrases::file_place(file), errors::history_stays_damaged(Said{error.message()}));
  std::error_code ignored;
  std::filesystem::rename(with_suffix(file, "-wal"), with_suffix(target, "-wal"), ignored);
  std::filesystem::remove(with_suffix(file, "-shm"), ignored);
  std::filesystem::remove(suspect_note(file), ignored);
  return target;
}

bool must_check(const std::filesystem::path& file, const Options& options) {
  std::error_code ignored;
  if (std::filesystem::exists(suspect_note(file), ignored)) return true;
  const auto bytes = std::filesystem::file_size(file, ignored);
  return !ignored && static_cast<std::int64_t>(bytes) <= options.quick_check_limit_bytes;
}

// Opens and looks; an error that is_damage() says that the file is not sound.
Result<Database> open_sound(const std::filesystem::path& file, const Options& options, Opening& opening) {
  FOVEA_TRY(auto database, Database::open(file, Access::read_write));
  FOVEA_TRY(const auto mark, database.number("PRAGMA application_id"));
  FOVEA_TRY(const auto tables, database.number("SELECT count(*) FROM sqlite_schema"));
  if (tables > 0 && mark != kOurMark) return fail(phrases::file_place(file), errors::history_foreign());
  if (tables > 0 && must_check(file, options)) {
    FOVEA_TRY(const auto problems, database.quick_check());
    if (!problems.empty()) return fail(phrases::file_place(file), errors::history_damaged(problems.front()));
    opening.checked = true;
    std::error_code ignored;
    std::filesystem::remove(suspect_note(file), ignored);
  }
  return database;
}

// A file of a newer Fovea: read if its author allows it.
Result<Database> open_newer(const std::filesystem::path& file, Database database, int known,
                            Opening& opening) {
  FOVEA_TRY(const auto oldest,
            database.number("SELECT CAST(value AS INTEGER) FROM meta WHERE key='oldest_reader'"));
  if (oldest > known) return fail(phrases::file_place(file), errors::history_too_new());
  FOVEA_TRY(database, Database::open(file, Access::read_only));
  opening.read_only = true;
  opening.notices.push_back(phrases::history_newer(file.filename()));
  return database;
}

// Answers that were cut off: their pieces become their text, so that they are searched too.
Result<void> gather_all_pieces(Database& database) {
  std::vector<Id> cut_off;
  {
    FOVEA_TRY(auto rows, database.query("SELECT DISTINCT message_id FROM pieces"));
    for (;;) {
      FOVEA_TRY(const bool row, rows.step());
      if (!row) break;
      cut_off.push_back(rows.integer(0));
    }
  }
  if (cut_off.empty()) return {};
  FOVEA_TRY(auto transaction, Transaction::begin(database));
  for (const Id message : cut_off) FOVEA_CHECK(gather_pieces(database, message));
  return transaction.commit();
}

// Everything that needs nobody else at the file.
Result<Database> prepare_alone(const std::filesystem::path& file, const Options& options, Opening& opening) {
  auto database = open_sound(file, options, opening);
  if (!database && is_damage(database.error())) {
    FOVEA_TRY(opening.set_aside, set_aside(file));
    opening.notices.push_back(phrases::history_set_aside(database.error().what, opening.set_aside));
    database = open_sound(file, options, opening);
  }
  if (!database) return database;
  const auto steps = options.migrations.empty() ? migrations() : options.migrations;
  FOVEA_TRY(const int version, schema_version(*database));
  if (version > steps.back().version) {
    return open_newer(file, std::move(*database), steps.back().version, opening);
  }
  if (version > 0 && version < steps.back().version) {
    opening.backup = name_aside(file, "before-v" + std::to_string(steps.back().version));
    FOVEA_CHECK(database->backup_to(opening.backup));
  }
  FOVEA_CHECK(migrate(*database, steps));
  FOVEA_CHECK(refresh_index(*database));
  FOVEA_CHECK(gather_all_pieces(*database));
  return database;
}

// Another process has the file open, so it is sound enough for it.
Result<Database> join_others(const std::filesystem::path& file, const Options& options, Opening& opening) {
  FOVEA_TRY(auto database, Database::open(file, Access::read_write));
  const auto steps = options.migrations.empty() ? migrations() : options.migrations;
  FOVEA_TRY(const int version, schema_version(database));
  if (version > steps.back().version) {
    return open_newer(file, std::move(database), steps.back().version, opening);
  }
  if (version < steps.back().version) return fail(phrases::file_place(file), errors::history_older_runs());
  return database;
}

}  // namespace

void mark_suspect(const std::filesystem::path& file) {
  const int fd = ::open(suspect_note(file).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd >= 0) ::close(fd);
}

Result<Opened> open_history(const std::filesystem::path& file, const Options& options) {
  std::error_code error;
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), error);
  const Phrase another_folder = phrases::files_set_fovea_data();
  if (error)
    return fail(phrases::file_place(file.parent_path()),
                errors::cannot_make_folder(Said{error.message()}).advise(another_folder));
  FOVEA_TRY(auto lock, FileLock::open(file, another_folder));
  Opening opening;
  if (lock.try_alone()) {
    FOVEA_TRY(auto database, prepare_alone(file, options, opening));
    lock.share();
    return Opened{std::move(lock), std::move(database), std::move(opening)};
  }
  lock.share();
  FOVEA_TRY(auto database, join_others(file, options, opening));
  return Opened{std::move(lock), std::move(database), std::move(opening)};
}

}  // namespace fovea::app::history
