// What is said of the history's file, and of conversations that come from elsewhere.
#pragma once

#include "engine/api/errors.h"

namespace fovea::phrases {

// open.cpp, history.cpp: what happened while the file was opened
FOVEA_PHRASE(history_newer,
             "{file} was written by a newer Fovea: the conversations can be read and exported, but nothing "
             "new is saved. Update Fovea to save again.");
FOVEA_PHRASE(history_set_aside,
             "The chat history could not be read: {why}. The damaged file is kept as {file}.");
FOVEA_PHRASE(history_nothing_saved, "No conversation could be recovered from it.");
FOVEA_PHRASE(history_saved, "Conversations recovered from it: {count}.");

// json.cpp: what an import leaves out
FOVEA_PHRASE(import_left_out, "conversation {number}: {why}");
FOVEA_PHRASE(import_left_out_titled, "conversation {number} ({title}): {why}");

}  // namespace fovea::phrases

namespace fovea::errors {

// database.cpp: what SQLite refuses
FOVEA_ERROR(io, history_disk_full, "the disk is full; what was written before is safe",
            "Free some space and try again");
FOVEA_ERROR(format, history_damaged, "is damaged ({said})",
            "Restart Fovea: it keeps the damaged file and recovers what can be read");
FOVEA_ERROR(io, history_locked, "another program has it locked", "Close the other program");
FOVEA_ERROR(io, history_read_only, "is read-only ({said})",
            "Check the permissions of the file and its folder");
FOVEA_ERROR(io, history_access, "reading or writing failed: {said}", "Check the disk");
FOVEA_ERROR(invalid, history_text_too_large, "a text is larger than {limit}", "Split it");
FOVEA_ERROR(not_found, history_parent_gone, "what this belongs to does not exist ({said})",
            "It may have been deleted in another window");
FOVEA_ERROR(cancelled, history_interrupted, "was interrupted", "");
FOVEA_ERROR(internal, history_sqlite, "SQLite says: {said}", "");

// open.cpp
FOVEA_ERROR(io, history_stays_damaged, "is damaged and cannot be renamed: {said}",
            "Move the file away yourself");
FOVEA_ERROR(invalid, history_foreign, "is another program's database",
            "Move it away, or set FOVEA_DATA to another folder");
FOVEA_ERROR(unsupported, history_too_new, "was written by a newer Fovea in a way that this one cannot read",
            "Update Fovea");
FOVEA_ERROR(io, history_older_runs, "is in use by an older Fovea that is still running",
            "Close the other one and start again");

// rows.cpp, tree.cpp, folders.cpp: what is asked for by its number
FOVEA_ERROR(not_found, history_no_conversation, "conversation {conversation} does not exist",
            "It may have been deleted in another window");
FOVEA_ERROR(not_found, history_no_folder, "folder {folder} does not exist",
            "It may have been deleted in another window");
FOVEA_ERROR(not_found, history_no_message, "message {message} does not exist",
            "It may have been deleted in another window");
FOVEA_ERROR(invalid, history_message_elsewhere, "message {message} is not in conversation {conversation}",
            "Open the conversation again");
FOVEA_ERROR(invalid, history_not_waiting, "message {message} is not a waiting answer",
            "Open the conversation again");

// json.cpp: a whole file
FOVEA_ERROR(unsupported, import_zip, "is a ZIP archive", "Unpack it and import conversations.json");
FOVEA_ERROR(unsupported, import_too_new, "was exported by a newer Fovea", "Update Fovea");
FOVEA_ERROR(format, import_no_json, "is not JSON",
            "Choose a file that Fovea has exported, or conversations.json of a ChatGPT export");
FOVEA_ERROR(format, import_breaks_off, "ends or breaks off at byte {offset}, inside its JSON",
            "Choose a file that Fovea has exported, or conversations.json of a ChatGPT export");
FOVEA_ERROR(format, import_no_conversations, "holds no conversations",
            "Choose a file that Fovea has exported, or conversations.json of a ChatGPT export");

// json.cpp, chatgpt.cpp: one conversation
FOVEA_ERROR(format, import_no_object, "it is not a valid JSON object", "");
FOVEA_ERROR(format, import_no_messages, "it has no list of messages", "");
FOVEA_ERROR(format, import_message_no_object, "a message is not an object", "");
FOVEA_ERROR(format, import_message_role, "a message has the role \"{role}\"", "");
FOVEA_ERROR(format, import_message_early, "a message comes before the one that it answers", "");
FOVEA_ERROR(format, import_message_twice, "two messages have the same id", "");
FOVEA_ERROR(format, import_no_mapping, "it has no mapping of messages", "");
FOVEA_ERROR(format, import_nothing_shown, "it has no messages that can be shown", "");

// worker/
FOVEA_ERROR(cancelled, history_closed, "the chat history is closed", "");

}  // namespace fovea::errors
