// Rows of the tables as values.
#pragma once

#include <string>
#include <vector>

#include "app/history/database.h"
#include "app/history/types.h"

namespace fovea::app::history {

// The columns that conversation_of() reads, in its order.
#define FOVEA_CONVERSATION_COLUMNS                                                                    \
  "c.id, c.uid, c.title, c.created_at, c.updated_at, c.pinned_at, c.deleted_at, c.leaf_id, c.draft, " \
  "c.system_prompt, c.settings"
Conversation conversation_of(const Statement& row);
Result<Conversation> read_conversation(Database& database, Id id);

// With its text as far as it is written, and its attachments. Siblings are not filled in.
Result<Message> read_message(Database& database, Id id);

// The text of a message is what `messages` holds and then its pieces. This puts them together.
Result<void> gather_pieces(Database& database, Id message);

// Writes a message with its attachments and returns its id; the parent and the conversation must be there.
Result<Id> write_message(Database& database, const Message& message);
Result<Id> write_conversation(Database& database, const Conversation& conversation);

// One conversation with all branches, in order of creation.
Result<Archive> read_archive(Database& database, Id conversation);

// After an UPDATE: `missing` when there was no such row.
Result<void> must_have_changed(const Database& database, Error missing);

// The first line of a question, cut between words at about 60 letters.
std::string title_from(std::string_view text);

// 32 random hexadecimal digits.
std::string random_uid();

}  // namespace fovea::app::history
