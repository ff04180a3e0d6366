#include "app/history/history.h"

#include <chrono>
#include <utility>

#include "app/history/errors.h"
#include "app/history/parts.h"
#include "app/history/rows.h"
#include "engine/core/result.h"

namespace fovea::app::history {
namespace {

constexpr Time kKeepDeleted = Time{30} * 24 * 3600 * 1000;  // ms

Time system_time() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

Result<ConversationPage> page_of(Statement rows, int limit) {
  ConversationPage page;
  for (;;) {
    FOVEA_TRY(const bool row, rows.step());
    if (!row) return page;
    if (static_cast<int>(page.conversations.size()) == limit) {
      page.more = true;
      return page;
    }
    page.conversations.push_back(conversation_of(rows));
  }
}

// What can be read of a damaged file goes into the new one, conversation by conversation.
int save_from(const std::filesystem::path& damaged, History& history, Database& target) {
  auto database = Database::open(damaged, Access::read_only);
  if (!database) return 0;
  std::vector<Id> ids;
  if (auto rows = database->query("SELECT id FROM conversations WHERE deleted_at=0")) {
    while (rows->step().value_or(false)) ids.push_back(rows->integer(0));
  }
  // An older schema has no folders, and where these cannot be read conversations bring theirs.
  if (const auto folders = read_folders(*database)) {
    for (const Folder& folder : *folders) (void)write_folder(target, folder);
  }
  int saved = 0;
  for (const Id id : ids) {
    const auto archive = read_archive(*database, id);
    if (!archive) continue;
    const auto report = history.import(std::span(&*archive, 1));
    if (report) saved += report->imported;
  }
  return saved;
}

}  // namespace

std::string_view name_of(Role role) {
  switch (role) {
    case Role::system:
      return "system";
    case Role::user:
      return "user";
    case Role::assistant:
      return "assistant";
    case Role::tool:
      return "tool";
  }
  return "user";
}

std::string_view name_of(MessageState state) {
  switch (state) {
    case MessageState::complete:
      return "complete";
    case MessageState::partial:
      return "partial";
    case MessageState::stopped:
      return "stopped";
    case MessageState::failed:
      return "failed";
  }
  return "complete";
}

History::History(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
History::History(History&&) noexcept = default;
History& History::operator=(History&&) noexcept = default;
History::~History() = default;

Result<History> History::open(const std::filesystem::path& file, const Options& options) {
  FOVEA_TRY(auto opened, open_history(file, options));
  History history(std::make_unique<Parts>(std::move(opened.lock), std::move(opened.database),
                                          std::move(opened.opening),
                                          options.now ? options.now : system_time));
  Opening& opening = history.parts_->opening;
  if (!opening.set_aside.empty()) {
    const int saved = save_from(opening.set_aside, history, history.parts_->database);
    opening.notices.push_back(saved == 0 ? phrases::history_nothing_saved() : phrases::history_saved(saved));
  }
  return history;
}

const Opening& History::opening() const {
  return parts_->opening;
}

Result<void> History::check(const std::filesystem::path& file, std::stop_token stop) {
  FOVEA_TRY(auto database, Database::open(file, Access::read_only));
  FOVEA_TRY(const auto problems, database.quick_check(stop));
  if (problems.empty()) return {};
  mark_suspect(file);
  return fail(phrases::file_place(file), errors::history_damaged(problems.front()));
}

// --- conversations

Result<Conversation> History::create(const NewConversation& created) {
  Conversation c;
  c.uid = random_uid();
  c.title = shortened(created.title, kMaxNameBytes);
  c.system_prompt = created.system_prompt;
  c.settings = created.settings;
  c.folder = created.folder;
  c.created_at = c.updated_at = parts_->now();
  FOVEA_TRY(c.id, write_conversation(parts_->database, c));
  return read_conversation(parts_->database, c.id);
}

Result<Conversation> History::conversation(Id id) {
  return read_conversation(parts_->database, id);
}

Result<ConversationPage> History::conversations(int limit) {
  const std::int64_t rows = limit + 1;  // the last one only says that there are more
  FOVEA_TRY(auto listed,
            parts_->database.query("SELECT " FOVEA_CONVERSATION_COLUMNS
                                   " FROM conversations AS c WHERE folder_id IS NULL AND "
                                   "deleted_at=0 ORDER BY pinned_at DESC, updated_at DESC, id DESC LIMIT ?",
                                   rows));
  return page_of(std::move(listed), limit);
}

Result<void> History::rename(Id id, std::string_view title) {
  FOVEA_CHECK(parts_->database.run("UPDATE conversations SET title=? WHERE id=?",
                                   shortened(title, kMaxNameBytes), id));
  return must_have_changed(parts_->database, errors::history_no_conversation(id));
}

Result<void> History::set_pinned(Id id, bool pinned) {
  FOVEA_CHECK(parts_->database.run("UPDATE conversations SET pinned_at=? WHERE id=?",
                                   pinned ? parts_->now() : Time{0}, id));
  return must_have_changed(parts_->database, errors::history_no_conversation(id));
}

Result<std::string> History::new_draft() {
  FOVEA_TRY(auto stored, parts_->database.query("SELECT value FROM meta WHERE key='new_draft'"));
  FOVEA_TRY(const bool found, stored.step());
  return found ? std::string(stored.text(0)) : std::string();
}

Result<void> History::set_new_draft(std::string_view text) {
  return parts_->database.run("INSERT OR REPLACE INTO meta(key, value) VALUES('new_draft', ?)", text);
}

Result<void> History::set_draft(Id id, std::string_view text) {
  FOVEA_CHECK(parts_->database.run("UPDATE conversations SET draft=? WHERE id=?", text, id));
  return must_have_changed(parts_->database, errors::history_no_conversation(id));
}

Result<void> History::set_system_prompt(Id id, std::string_view text) {
  FOVEA_CHECK(parts_->database.run("UPDATE conversations SET system_prompt=? WHERE id=?", text, id));
  return must_have_changed(parts_->database, errors::history_no_conversation(id));
}

Result<void> History::set_settings(Id id, std::string_view json) {
  FOVEA_CHECK(parts_->database.run("UPDATE conversations SET settings=? WHERE id=?", json, id));
  return must_have_changed(parts_->database, errors::history_no_conversation(id));
}

Result<void> History::remove(Id id) {
  return parts_->database.run("UPDATE conversations SET deleted_at=? WHERE id=? AND deleted_at=0",
                              parts_->now(), id);
}

Result<void> History::restore(Id id) {
  return parts_->database.run("UPDATE conversations SET deleted_at=0 WHERE id=?", id);
}

Result<ConversationPage> History::removed(int limit) {
  FOVEA_TRY(auto rows, parts_->database.query("SELECT " FOVEA_CONVERSATION_COLUMNS
                                              " FROM conversations AS c WHERE deleted_at>0 "
                                              "ORDER BY deleted_at DESC, id DESC LIMIT ?",
                                              std::int64_t{limit} + 1));
  return page_of(std::move(rows), limit);
}

Result<int> History::purge() {
  Database& db = parts_->database;
  std::vector<Id> old;
  {
    FOVEA_TRY(auto rows, db.query("SELECT id FROM conversations WHERE deleted_at>0 AND deleted_at<?",
                                  parts_->now() - kKeepDeleted));
    for (;;) {
      FOVEA_TRY(const bool row, rows.step());
      if (!row) break;
      old.push_back(rows.integer(0));
    }
  }
  for (const Id id : old) {  // each in a transaction of its own: other windows need not wait long
    FOVEA_TRY(auto transaction, Transaction::begin(db));
    FOVEA_CHECK(db.run("UPDATE conversations SET leaf_id=NULL WHERE id=?", id));
    FOVEA_CHECK(db.run("DELETE FROM messages WHERE conversation_id=?", id));
    FOVEA_CHECK(db.run("DELETE FROM conversations WHERE id=?", id));
    FOVEA_CHECK(transaction.commit());
  }
  return static_cast<int>(old.size());
}

Result<Archive> History::archive(Id conversation) {
  return read_archive(parts_->database, conversation);
}

}  // namespace fovea::app::history
