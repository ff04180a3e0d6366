#include "app/history/schema.h"

#include <array>
#include <string>

#include "app/history/word_tokenizer.h"
#include "engine/core/result.h"

namespace fovea::app::history {
namespace {

// Short columns stand before the texts, so that a walk over the tree does not read them. An answer that is
// being written has its text in `pieces`. The pair (conversation_id, parent_id) keeps a message's parent in
// its own conversation. Ids are never used again.
constexpr const char* kVersion1 = R"sql(
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE conversations(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  pinned_at INTEGER NOT NULL DEFAULT 0,
  deleted_at INTEGER NOT NULL DEFAULT 0,
  leaf_id INTEGER,
  uid TEXT NOT NULL UNIQUE,
  title TEXT NOT NULL,
  settings TEXT NOT NULL DEFAULT '',
  draft TEXT NOT NULL DEFAULT '',
  system_prompt TEXT NOT NULL DEFAULT '',
  FOREIGN KEY(id, leaf_id) REFERENCES messages(conversation_id, id) DEFERRABLE INITIALLY DEFERRED
) STRICT;
CREATE INDEX conversations_in_order ON conversations(deleted_at, pinned_at, updated_at, id);
CREATE INDEX conversations_by_leaf ON conversations(id, leaf_id);

CREATE TABLE messages(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  conversation_id INTEGER NOT NULL REFERENCES conversations(id) DEFERRABLE INITIALLY DEFERRED,
  parent_id INTEGER,
  chosen_child INTEGER,
  role INTEGER NOT NULL,
  state INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  seed INTEGER NOT NULL DEFAULT 0,
  model TEXT NOT NULL DEFAULT '',
  policy TEXT NOT NULL DEFAULT '',
  settings TEXT NOT NULL DEFAULT '',
  timings TEXT NOT NULL DEFAULT '',
  note TEXT NOT NULL DEFAULT '',
  text TEXT NOT NULL DEFAULT '',
  UNIQUE(conversation_id, id),
  FOREIGN KEY(conversation_id, parent_id) REFERENCES messages(conversation_id, id) DEFERRABLE INITIALLY DEFERRED
) STRICT;
CREATE INDEX messages_by_parent ON messages(conversation_id, parent_id, id);

CREATE TABLE pieces(
  message_id INTEGER NOT NULL REFERENCES messages(id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY(message_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE attachments(
  id INTEGER PRIMARY KEY,
  message_id INTEGER NOT NULL REFERENCES messages(id) ON DELETE CASCADE,
  tokens INTEGER NOT NULL,
  name TEXT NOT NULL,
  media_type TEXT NOT NULL,
  text TEXT NOT NULL
) STRICT;
CREATE INDEX attachments_by_message ON attachments(message_id, id);

CREATE VIRTUAL TABLE message_words USING fts5(
  text, content='messages', content_rowid='id', tokenize='fovea_words', prefix='1 2 3');
CREATE TRIGGER message_added AFTER INSERT ON messages BEGIN
  INSERT INTO message_words(rowid, text) VALUES(new.id, new.text);
END;
CREATE TRIGGER message_changed AFTER UPDATE OF text ON messages BEGIN
  INSERT INTO message_words(message_words, rowid, text) VALUES('delete', old.id, old.text);
  INSERT INTO message_words(rowid, text) VALUES(new.id, new.text);
END;
CREATE TRIGGER message_removed AFTER DELETE ON messages BEGIN
  INSERT INTO message_words(message_words, rowid, text) VALUES('delete', old.id, old.text);
END;

CREATE VIRTUAL TABLE title_words USING fts5(
  title, content='conversations', content_rowid='id', tokenize='fovea_words', prefix='1 2 3');
CREATE TRIGGER conversation_added AFTER INSERT ON conversations BEGIN
  INSERT INTO title_words(rowid, title) VALUES(new.id, new.title);
END;
CREATE TRIGGER conversation_renamed AFTER UPDATE OF title ON conversations BEGIN
  INSERT INTO title_words(title_words, rowid, title) VALUES('delete', old.id, old.title);
  INSERT INTO title_words(rowid, title) VALUES(new.id, new.title);
END;
CREATE TRIGGER conversation_removed AFTER DELETE ON conversations BEGIN
  INSERT INTO title_words(title_words, rowid, title) VALUES('delete', old.id, old.title);
END;
)sql";

// What each conversation uses of a model's experts (Engine::use_profile).
constexpr const char* kVersion2 = R"sql(
CREATE TABLE use_profiles(
  conversation_id INTEGER PRIMARY KEY REFERENCES conversations(id) ON DELETE CASCADE,
  profile BLOB NOT NULL
) STRICT;
)sql";

// A folder that is removed leaves its conversations where they are.
constexpr const char* kVersion3 = R"sql(
CREATE TABLE folders(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  place INTEGER NOT NULL,
  collapsed INTEGER NOT NULL DEFAULT 0,
  uid TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  preset TEXT NOT NULL DEFAULT '',
  model TEXT NOT NULL DEFAULT ''
) STRICT;
ALTER TABLE conversations ADD COLUMN folder_id INTEGER REFERENCES folders(id) ON DELETE SET NULL;
CREATE INDEX conversations_in_folder ON conversations(folder_id, deleted_at, pinned_at, updated_at, id);
)sql";

constexpr std::array kMigrations{Migration{1, kVersion1, 1}, Migration{2, kVersion2, 1},
                                 Migration{3, kVersion3, 1}};
// "Fvea": tells a history from another program's database.
constexpr const char* kMark = "PRAGMA application_id=0x46766561;";

Result<void> apply(Database& database, const Migration& step) {
  FOVEA_TRY(auto transaction, Transaction::begin(database));
  FOVEA_TRY(const int present, schema_version(database));
  if (present >= step.version) return {};  // another process was faster
  FOVEA_CHECK(database.script(step.sql));
  FOVEA_CHECK(database.script(kMark));
  FOVEA_CHECK(database.script("PRAGMA user_version=" + std::to_string(step.version)));
  FOVEA_CHECK(database.run("INSERT OR REPLACE INTO meta(key, value) VALUES('oldest_reader', ?)",
                           std::string_view(std::to_string(step.oldest_reader))));
  return transaction.commit();
}

}  // namespace

std::span<const Migration> migrations() {
  return kMigrations;
}

Result<int> schema_version(Database& database) {
  FOVEA_TRY(const auto version, database.number("PRAGMA user_version"));
  return static_cast<int>(version);
}

Result<void> migrate(Database& database, std::span<const Migration> steps) {
  for (const Migration& step : steps) {
    FOVEA_TRY(const int present, schema_version(database));
    if (present < step.version) FOVEA_CHECK(apply(database, step));
  }
  return {};
}

Result<void> refresh_index(Database& database) {
  {
    FOVEA_TRY(auto stored, database.query("SELECT value FROM meta WHERE key='tokenizer'"));
    FOVEA_TRY(const bool found, stored.step());
    if (found && stored.text(0) == tokenizer_version()) return {};
  }
  FOVEA_TRY(auto transaction, Transaction::begin(database));
  FOVEA_CHECK(database.run("INSERT INTO message_words(message_words) VALUES('rebuild')"));
  FOVEA_CHECK(database.run("INSERT INTO title_words(title_words) VALUES('rebuild')"));
  FOVEA_CHECK(
      database.run("INSERT OR REPLACE INTO meta(key, value) VALUES('tokenizer', ?)", tokenizer_version()));
  return transaction.commit();
}

}  // namespace fovea::app::history
