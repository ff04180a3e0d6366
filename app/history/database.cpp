#include "app/history/database.h"

#include <cerrno>
#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>
#include <utility>

#include "app/files/errors.h"
#include "app/history/errors.h"
#include "app/history/word_tokenizer.h"
#include "engine/core/file_descriptor.h"
#include "engine/core/result.h"

namespace fovea::app::history {
namespace {

// While another process writes, its next transaction begins as soon as the last one ends. SQLite's own
// waiting looks ten times a second, and may miss every gap for ten seconds; this looks some hundred times, at
// irregular moments.
constexpr int kBusyTries = 8000;
int wait_for_lock(void*, int tries) {
  if (tries >= kBusyTries) return 0;
  ::usleep(500U +
           static_cast<unsigned>(tries) * 2'654'435'761U % 7'000U);  // 4 ms in the mean: half a minute in all
  return 1;
}

// A row is at most as large as this: no message is, and a damaged file cannot ask for more.
constexpr int kMaxBytesOfARow = 256 << 20;

// said_by_sqlite: its message for the code; system_error: errno behind it, 0: none.
Error error_of(int code, int system_error, const char* said_by_sqlite) {
  const Said said{said_by_sqlite};
  const Said cause = system_error != 0 ? Said{system_message(system_error)} : said;
  switch (code & 0xFF) {
    case SQLITE_FULL:
      return errors::history_disk_full();
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return errors::history_damaged(said);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return errors::history_locked();
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return errors::history_read_only(said);
    case SQLITE_CANTOPEN:
      return errors::files_cannot_open(cause).advise(phrases::files_check_permissions());
    case SQLITE_IOERR:
      return errors::history_access(cause);
    case SQLITE_NOMEM:
      return errors::no_memory();
    case SQLITE_TOOBIG:
      return errors::history_text_too_large(Bytes{kMaxBytesOfARow});
    case SQLITE_CONSTRAINT:
      return errors::history_parent_gone(said);
    case SQLITE_INTERRUPT:
      return errors::history_interrupted();
    default:
      return errors::history_sqlite(said);
  }
}

// The file must exist before SQLite opens it: SQLite would let everybody read it.
Result<void> make_private_file(const std::filesystem::path& file) {
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) {
    return fail(
        phrases::file_place(file),
        errors::files_cannot_open(Said{system_message(errno)}).advise(phrases::files_check_permissions()));
  }
  ::close(fd);
  return {};
}

constexpr const char* kSettings =
    "PRAGMA foreign_keys=ON; PRAGMA cell_size_check=ON;"
    "PRAGMA temp_store=MEMORY; PRAGMA cache_size=-8000;";
constexpr const char* kWriterSettings =
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA journal_size_limit=16777216;";

}  // namespace

// --- Statement

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_),
      sql_(other.sql_),
      compiled_(std::exchange(other.compiled_, nullptr)),
      bind_error_(other.bind_error_) {}

Statement::~Statement() {
  if (compiled_) database_->keep(sql_, compiled_);
}

void Statement::bind(int parameter, std::int64_t value) {
  if (const int code = sqlite3_bind_int64(compiled_, parameter, value)) bind_error_ = code;
}

void Statement::bind(int parameter, std::string_view text) {
  const char* data = text.data() ? text.data() : "";  // a null pointer would be NULL
  if (const int code =
          sqlite3_bind_text64(compiled_, parameter, data, text.size(), SQLITE_STATIC, SQLITE_UTF8)) {
    bind_error_ = code;
  }
}

void Statement::bind_blob(int parameter, std::string_view bytes) {
  if (const int code = sqlite3_bind_blob64(compiled_, parameter, bytes.data(), bytes.size(), SQLITE_STATIC))
    bind_error_ = code;
}

void Statement::bind_null(int parameter) {
  if (const int code = sqlite3_bind_null(compiled_, parameter)) bind_error_ = code;
}

Result<bool> Statement::step() {
  if (bind_error_ != 0) return database_->failed(bind_error_);
  const int code = sqlite3_step(compiled_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return database_->failed(code);
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(compiled_, column);
}

std::string Statement::text(int column) const {
  const void* bytes = sqlite3_column_blob(compiled_, column);
  if (!bytes) return {};
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(sqlite3_column_bytes(compiled_, column))};
}

// --- Database

Result<Database> Database::open(const std::filesystem::path& file, Access access) {
  const bool writes = access == Access::read_write;
  if (writes) FOVEA_CHECK(make_private_file(file));
  sqlite3* handle = nullptr;
  const int flags = (writes ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) | SQLITE_OPEN_NOMUTEX;
  const int code = sqlite3_open_v2(file.c_str(), &handle, flags, nullptr);
  Database database(handle, file);
  if (code != SQLITE_OK) return database.failed(code);
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_handler(handle, wait_for_lock, nullptr);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kMaxBytesOfARow);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  FOVEA_CHECK(database.script(kSettings));
  if (writes) FOVEA_CHECK(database.script(kWriterSettings));
  if (const int registered = register_word_tokenizer(handle)) return database.failed(registered);
  return database;
}

Database::Database(Database&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)),
      file_(std::move(other.file_)),
      idle_(std::exchange(other.idle_, {})) {}

Database& Database::operator=(Database&& other) noexcept {
  close();
  handle_ = std::exchange(other.handle_, nullptr);
  file_ = std::move(other.file_);
  idle_ = std::exchange(other.idle_, {});
  return *this;
}

Database::~Database() {
  close();
}

void Database::close() {
  for (const auto& [sql, compiled] : idle_) sqlite3_finalize(compiled);
  idle_.clear();
  sqlite3_close(std::exchange(handle_, nullptr));
}

std::unexpected<Error> Database::failed(int code) const {
  const int system_error = handle_ ? sqlite3_system_errno(handle_) : 0;
  const char* said =
      handle_ && sqlite3_errcode(handle_) == code ? sqlite3_errmsg(handle_) : sqlite3_errstr(code);
  return fail(phrases::file_place(file_), error_of(code, system_error, said));
}

Result<Statement> Database::prepare(const char* sql) {
  if (auto found = idle_.find(sql); found != idle_.end()) {
    sqlite3_stmt* compiled = found->second;
    idle_.erase(found);
    return Statement(*this, sql, compiled);
  }
  sqlite3_stmt* compiled = nullptr;
  const int code = sqlite3_prepare_v3(handle_, sql, -1, SQLITE_PREPARE_PERSISTENT, &compiled, nullptr);
  if (code != SQLITE_OK) return failed(code);
  return Statement(*this, sql, compiled);
}

void Database::keep(const char* sql, sqlite3_stmt* compiled) {
  sqlite3_reset(compiled);
  sqlite3_clear_bindings(compiled);
  if (!idle_.try_emplace(sql, compiled).second) sqlite3_finalize(compiled);
}

Result<void> Database::finish(Statement& statement) {
  for (;;) {
    FOVEA_TRY(const bool row, statement.step());
    if (!row) return {};
  }
}

Result<void> Database::script(const std::string& sql) {
  if (const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr)) return failed(code);
  return {};
}

Result<void> Database::backup_to(const std::filesystem::path& target) {
  FOVEA_CHECK(make_private_file(target));
  sqlite3* copy = nullptr;
  int code = sqlite3_open_v2(target.c_str(), &copy, SQLITE_OPEN_READWRITE, nullptr);
  if (code == SQLITE_OK) {
    if (sqlite3_backup* backup = sqlite3_backup_init(copy, "main", handle_, "main")) {
      code = sqlite3_backup_step(backup, -1);
      sqlite3_backup_finish(backup);
      if (code == SQLITE_DONE) code = SQLITE_OK;
    } else {
      code = sqlite3_errcode(copy);
    }
  }
  const int system_error = copy ? sqlite3_system_errno(copy) : 0;
  sqlite3_close(copy);
  if (code == SQLITE_OK) return {};
  ::unlink(target.c_str());
  return fail(phrases::file_place(target), error_of(code, system_error, sqlite3_errstr(code)));
}

Result<std::vector<Said>> Database::quick_check(std::stop_token stop) {
  std::vector<Said> problems;
  const auto stopped = [](void* token) {
    return static_cast<std::stop_token*>(token)->stop_requested() ? 1 : 0;
  };
  sqlite3_progress_handler(handle_, 10'000, stopped, &stop);
  const auto guard = std::unique_ptr<sqlite3, void (*)(sqlite3*)>(
      handle_, [](sqlite3* handle) { sqlite3_progress_handler(handle, 0, nullptr, nullptr); });
  FOVEA_TRY(auto check, query("PRAGMA quick_check(20)"));
  for (;;) {
    auto row = check.step();
    if (!row && is_damage(row.error())) {
      problems.emplace_back(sqlite3_errmsg(handle_));
      return problems;
    }
    if (!row) return std::unexpected(row.error());
    if (!*row) return problems;
    if (auto line = check.text(0); line != "ok") problems.emplace_back(std::move(line));
  }
}

std::int64_t Database::last_id() const {
  return sqlite3_last_insert_rowid(handle_);
}

std::int64_t Database::changes() const {
  return sqlite3_changes64(handle_);
}

bool Database::in_transaction() const {
  return sqlite3_get_autocommit(handle_) == 0;
}

// --- Transaction

Result<Transaction> Transaction::begin(Database& database) {
  FOVEA_CHECK(database.run("BEGIN IMMEDIATE"));
  return Transaction(database);
}

Transaction::~Transaction() {
  // A failed write may have rolled back by itself.
  if (database_ && database_->in_transaction()) (void)database_->run("ROLLBACK");
}

Result<void> Transaction::commit() {
  FOVEA_CHECK(database_->run("COMMIT"));
  database_ = nullptr;
  return {};
}

bool is_damage(const Error& error) {
  return error.kind == ErrorKind::format;
}

}  // namespace fovea::app::history
