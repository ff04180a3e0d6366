// The tables of the history file, and how older ones become the present ones.
#pragma once

#include <span>

#include "app/history/database.h"

namespace fovea::app::history {

// Takes a database from version - 1 to version, inside one transaction.
struct Migration {
  int version;
  const char* sql;
  // The oldest schema whose programs may still read (not write) this one.
  int oldest_reader;
};

std::span<const Migration> migrations();

Result<int> schema_version(Database& database);
// Applies what is missing, each migration in a transaction of its own.
Result<void> migrate(Database& database, std::span<const Migration> steps);
// Builds the search index again where it was built with other rules for words.
Result<void> refresh_index(Database& database);

}  // namespace fovea::app::history
