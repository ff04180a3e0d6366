// SQLite with errors as values. One thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/api/error.h"

struct sqlite3;
struct sqlite3_stmt;

namespace fovea::app::history {

class Database;

// One running statement. Going out of scope it ends, and its compiled form is kept for the next use.
class Statement {
 public:
  Statement(Database& database, const char* sql, sqlite3_stmt* compiled)
      : database_(&database), sql_(sql), compiled_(compiled) {}
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  void bind(int parameter, std::int64_t value);           // parameters count from 1
  void bind(int parameter, std::string_view text);        // must outlive the statement's steps
  void bind_blob(int parameter, std::string_view bytes);  // likewise
  void bind_null(int parameter);

  Result<bool> step();  // false: no more rows

  // Columns of the current row, from 0. NULL is 0 or empty.
  std::int64_t integer(int column) const;
  std::string text(int column) const;

 private:
  Database* database_;
  const char* sql_;
  sqlite3_stmt* compiled_;
  int bind_error_ = 0;
};

// An id that is NULL when it is 0.
struct OrNull {
  std::int64_t id;
};

struct Blob {
  std::string_view bytes;
};

enum class Access : std::uint8_t { read_write, read_only };

class Database {
 public:
  // With write-ahead log, full synchronisation, foreign keys and our word tokeniser. Makes the file, readable
  // by its owner only, when it may be written and is missing.
  static Result<Database> open(const std::filesystem::path& file, Access access);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  // A statement with its parameters. The SQL is a literal: its address is the key of the compiled form.
  template <class... Values>
  Result<Statement> query(const char* sql, const Values&... values) {
    auto statement = prepare(sql);
    if (!statement) return statement;
    int parameter = 0;
    (bind_one(*statement, ++parameter, values), ...);
    return statement;
  }
  // Runs a statement that returns no rows that matter.
  template <class... Values>
  Result<void> run(const char* sql, const Values&... values) {
    auto statement = query(sql, values...);
    if (!statement) return std::unexpected(std::move(statement).error());
    return finish(*statement);
  }
  // The first column of the first row; 0 without one.
  template <class... Values>
  Result<std::int64_t> number(const char* sql, const Values&... values) {
    auto statement = query(sql, values...);
    if (!statement) return std::unexpected(std::move(statement).error());
    auto row = statement->step();
    if (!row) return std::unexpected(std::move(row).error());
    return *row ? statement->integer(0) : 0;
  }

  // Several statements; not cached.
  Result<void> script(const std::string& sql);
  // A complete copy in a new file, through SQLite's backup interface.
  Result<void> backup_to(const std::filesystem::path& target);
  // Empty: sound. Otherwise SQLite's own lines on what is wrong.
  Result<std::vector<Said>> quick_check(std::stop_token stop = {});

  std::int64_t last_id() const;
  std::int64_t changes() const;  // rows of the last statement
  bool in_transaction() const;
  const std::filesystem::path& file() const { return file_; }
  sqlite3* handle() const { return handle_; }
  std::unexpected<Error> failed(int code) const;  // of a call that has just returned it

 private:
  friend class Statement;
  Database(sqlite3* handle, std::filesystem::path file) : handle_(handle), file_(std::move(file)) {}
  Result<Statement> prepare(const char* sql);
  static Result<void> finish(Statement& statement);
  void keep(const char* sql, sqlite3_stmt* compiled);
  void close();

  static void bind_one(Statement& s, int parameter, OrNull value) {
    value.id == 0 ? s.bind_null(parameter) : s.bind(parameter, value.id);
  }
  static void bind_one(Statement& s, int parameter, std::string_view text) { s.bind(parameter, text); }
  static void bind_one(Statement& s, int parameter, Blob blob) { s.bind_blob(parameter, blob.bytes); }
  static void bind_one(Statement& s, int parameter, std::int64_t value) { s.bind(parameter, value); }

  sqlite3* handle_;
  std::filesystem::path file_;
  std::unordered_map<const char*, sqlite3_stmt*> idle_;  // compiled statements not in use
};

// Writes together or not at all: rolled back when it goes out of scope without commit().
class Transaction {
 public:
  static Result<Transaction> begin(Database& database);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Result<void> commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;  // null: committed
};

// True for the errors that mean that the file itself is damaged or no database.
bool is_damage(const Error& error);

}  // namespace fovea::app::history
