// Rows of the tables as values.
#pragma once

#include <string>
#include <vector>

#include "app/history/database.h"
#include "app/history/types.h"

namespace fovea::app::history {

// The columns that conversation_of() reads, in its order; the last one is of schema 3.
#define FOVEA_COLUMNS_BEFORE_FOLDERS                                                                  \
  "c.id, c.uid, c.title, c.created_at, c.updated_at, c.pinned_at, c.deleted_at, c.leaf_id, c.draft, " \
  "c.system_prompt, c.settings"
#define FOVEA_CONVERSATION_COLUMNS FOVEA_COLUMNS_BEFORE_FOLDERS ", c.folder_id"
Conversation conversation_of(const Statement& row);
Result<Conversation> read_conversation(Database& database, Id id);

// With its text as far as it is written, and its attachments. Siblings are not filled in.
Result<Message> read_message(Database& database, Id id);

// The text of a message is what `messages` holds and then its pieces. This puts them together.
Result<void> gather_pieces(Database& database, Id message);

// Writes a message with its attachments and returns its id; the parent and the conversation must be there.
Result<Id> write_message(Database& database, const Message& message);
Result<Id> write_conversation(Database& database, const Conversation& conversation);

// One conversation with all branches, in order of creation. Also of a schema before the present one, which a
// damaged file keeps.
Result<Archive> read_archive(Database& database, Id conversation);

// In their order.
Result<std::vector<Folder>> read_folders(Database& database);
// Behind all others, with a uid of its own where it has none.
Result<Id> write_folder(Database& database, const Folder& folder);

// After an UPDATE: `missing` when there was no such row.
Result<void> must_have_changed(const Database& database, Error missing);

// Of a title or a folder's name; the rest is cut off.
inline constexpr std::size_t kMaxNameBytes = 4096;
// At most `limit` bytes, cut between characters.
std::string_view shortened(std::string_view text, std::size_t limit);

// The first line of a question, cut between words at about 60 letters.
std::string title_from(std::string_view text);

// 32 random hexadecimal digits.
std::string random_uid();

}  // namespace fovea::app::history
