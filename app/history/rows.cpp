#include "app/history/rows.h"

#include <algorithm>
#include <array>
#include <random>
#include <utility>

#include "app/history/errors.h"
#include "engine/core/result.h"

namespace fovea::app::history {
namespace {

constexpr std::size_t kTitleLetters = 60;

Result<std::string> written_pieces(Database& database, Id message) {
  std::string text;
  FOVEA_TRY(auto pieces,
            database.query("SELECT text FROM pieces WHERE message_id=? ORDER BY number", message));
  for (;;) {
    FOVEA_TRY(const bool row, pieces.step());
    if (!row) return text;
    text += pieces.text(0);
  }
}

Result<void> read_attachments(Database& database, Message& message) {
  FOVEA_TRY(auto rows,
            database.query("SELECT name, media_type, text, tokens FROM attachments WHERE message_id=? "
                           "ORDER BY id",
                           message.id));
  for (;;) {
    FOVEA_TRY(const bool row, rows.step());
    if (!row) return {};
    message.attachments.push_back({rows.text(0), rows.text(1), rows.text(2), rows.integer(3)});
  }
}

// The conversation with the folder that it is in.
Result<void> read_archived(Database& database, Id id, Archive& archive) {
  FOVEA_TRY(const auto schema, database.number("PRAGMA user_version"));
  if (schema >= 3) {
    FOVEA_TRY(archive.conversation, read_conversation(database, id));
    FOVEA_TRY(auto folder,
              database.query("SELECT uid, name FROM folders WHERE id=?", archive.conversation.folder));
    FOVEA_TRY(const bool is_in_one, folder.step());
    if (!is_in_one) return {};
    archive.folder_uid = folder.text(0);
    archive.folder_name = folder.text(1);
    return {};
  }
  FOVEA_TRY(
      auto row,
      database.query("SELECT " FOVEA_COLUMNS_BEFORE_FOLDERS ", 0 FROM conversations AS c WHERE id=?", id));
  FOVEA_TRY(const bool found, row.step());
  if (!found) return fail(phrases::file_place(database.file()), errors::history_no_conversation(id));
  archive.conversation = conversation_of(row);
  return {};
}

// A number outside an enumeration (a file that somebody edited) becomes its first value.
template <class Enum>
Enum enum_of(std::int64_t value, Enum last) {
  return value >= 0 && value <= static_cast<std::int64_t>(last) ? static_cast<Enum>(value) : Enum{};
}

}  // namespace

Conversation conversation_of(const Statement& row) {
  Conversation c;
  c.id = row.integer(0);
  c.uid = row.text(1);
  c.title = row.text(2);
  c.created_at = row.integer(3);
  c.updated_at = row.integer(4);
  c.pinned_at = row.integer(5);
  c.deleted_at = row.integer(6);
  c.leaf = row.integer(7);
  c.draft = row.text(8);
  c.system_prompt = row.text(9);
  c.settings = row.text(10);
  c.folder = row.integer(11);
  return c;
}

Result<Conversation> read_conversation(Database& database, Id id) {
  FOVEA_TRY(auto row,
            database.query("SELECT " FOVEA_CONVERSATION_COLUMNS " FROM conversations AS c WHERE id=?", id));
  FOVEA_TRY(const bool found, row.step());
  if (!found) return fail(phrases::file_place(database.file()), errors::history_no_conversation(id));
  return conversation_of(row);
}

Result<Message> read_message(Database& database, Id id) {
  FOVEA_TRY(auto row,
            database.query("SELECT conversation_id, parent_id, role, state, created_at, updated_at, seed, "
                           "model, policy, settings, timings, note, text FROM messages WHERE id=?",
                           id));
  FOVEA_TRY(const bool found, row.step());
  if (!found) return fail(phrases::file_place(database.file()), errors::history_no_message(id));
  Message m;
  m.id = id;
  m.conversation = row.integer(0);
  m.parent = row.integer(1);
  m.role = enum_of(row.integer(2), Role::tool);
  m.state = enum_of(row.integer(3), MessageState::failed);
  m.created_at = row.integer(4);
  m.updated_at = row.integer(5);
  m.origin = {row.text(7), row.text(8), static_cast<std::uint64_t>(row.integer(6)), row.text(9)};
  m.timings = row.text(10);
  m.note = row.text(11);
  m.text = row.text(12);
  if (m.state == MessageState::partial) {
    FOVEA_TRY(const std::string pieces, written_pieces(database, id));
    m.text += pieces;
  }
  FOVEA_CHECK(read_attachments(database, m));
  return m;
}

Result<void> gather_pieces(Database& database, Id message) {
  FOVEA_TRY(const std::string pieces, written_pieces(database, message));
  FOVEA_CHECK(database.run("DELETE FROM pieces WHERE message_id=?", message));
  if (pieces.empty()) return {};
  return database.run("UPDATE messages SET text = text || ? WHERE id=?", std::string_view(pieces), message);
}

Result<Id> write_message(Database& database, const Message& m) {
  FOVEA_CHECK(database.run(
      "INSERT INTO messages(conversation_id, parent_id, role, state, created_at, updated_at, seed, model, "
      "policy, "
      "settings, timings, note, text) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)",
      m.conversation, OrNull{m.parent}, static_cast<std::int64_t>(m.role), static_cast<std::int64_t>(m.state),
      m.created_at, m.updated_at, static_cast<std::int64_t>(m.origin.seed), std::string_view(m.origin.model),
      std::string_view(m.origin.policy), std::string_view(m.origin.settings), std::string_view(m.timings),
      std::string_view(m.note), std::string_view(m.text)));
  const Id id = database.last_id();
  for (const Attachment& a : m.attachments) {
    FOVEA_CHECK(database.run(
        "INSERT INTO attachments(message_id, tokens, name, media_type, text) VALUES(?,?,?,?,?)", id, a.tokens,
        std::string_view(a.name), std::string_view(a.media_type), std::string_view(a.text)));
  }
  return id;
}

Result<std::vector<Folder>> read_folders(Database& database) {
  std::vector<Folder> folders;
  FOVEA_TRY(auto rows, database.query("SELECT id, uid, name, collapsed, preset, model FROM folders ORDER BY "
                                      "place, id"));
  for (;;) {
    FOVEA_TRY(const bool row, rows.step());
    if (!row) return folders;
    folders.push_back(
        {rows.integer(0), rows.text(1), rows.text(2), rows.integer(3) != 0, rows.text(4), rows.text(5)});
  }
}

Result<Id> write_folder(Database& database, const Folder& folder) {
  const std::string uid = folder.uid.empty() ? random_uid() : folder.uid;
  FOVEA_CHECK(
      database.run("INSERT INTO folders(place, collapsed, uid, name, preset, model) "
                   "SELECT coalesce(max(place), -1) + 1, ?, ?, ?, ?, ? FROM folders",
                   std::int64_t{folder.collapsed}, std::string_view(uid), std::string_view(folder.name),
                   std::string_view(folder.preset), std::string_view(folder.model)));
  return database.last_id();
}

Result<Id> write_conversation(Database& database, const Conversation& c) {
  FOVEA_CHECK(database.run(
      "INSERT INTO conversations(uid, title, created_at, updated_at, pinned_at, draft, "
      "system_prompt, settings, folder_id) VALUES(?,?,?,?,?,?,?,?,(SELECT id FROM folders WHERE id=?))",
      std::string_view(c.uid), std::string_view(c.title), c.created_at, c.updated_at, c.pinned_at,
      std::string_view(c.draft), std::string_view(c.system_prompt), std::string_view(c.settings), c.folder));
  return database.last_id();
}

Result<Archive> read_archive(Database& database, Id conversation) {
  Archive archive;
  FOVEA_CHECK(read_archived(database, conversation, archive));
  std::vector<Id> ids;
  {
    FOVEA_TRY(auto rows,
              database.query("SELECT id FROM messages WHERE conversation_id=? ORDER BY id", conversation));
    for (;;) {
      FOVEA_TRY(const bool row, rows.step());
      if (!row) break;
      ids.push_back(rows.integer(0));
    }
  }
  for (const Id id : ids) {
    FOVEA_TRY(auto message, read_message(database, id));
    archive.messages.push_back(std::move(message));
  }
  return archive;
}

Result<void> must_have_changed(const Database& database, Error missing) {
  if (database.changes() > 0) return {};
  return fail(phrases::file_place(database.file()), std::move(missing));
}

std::string_view shortened(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return text;
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xC0) == 0x80) --limit;
  return text.substr(0, limit);
}

std::string title_from(std::string_view text) {
  text = text.substr(std::min(text.find_first_not_of(" \t\r\n#>*"), text.size()));
  text = text.substr(0, text.find_first_of("\r\n"));
  std::size_t letters = 0, last_space = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80 && ++letters > kTitleLetters) {
      return std::string(text.substr(0, last_space > kTitleLetters / 2 ? last_space : i)) + "…";
    }
    if (text[i] == ' ') last_space = i;
  }
  return std::string(text);
}

std::string random_uid() {
  static constexpr std::array digits{'0', '1', '2', '3', '4', '5', '6', '7',
                                     '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};
  std::random_device device;
  std::string uid;
  while (uid.size() < 32) {
    for (auto [bits, n] = std::pair{device(), 0}; n < 8; ++n, bits >>= 4) uid += digits[bits & 15];
  }
  return uid;
}

}  // namespace fovea::app::history
