// What the history keeps: conversations, and in each a tree of messages. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/api/sentence.h"

namespace fovea::app::history {

using Id = std::int64_t;    // of a conversation, a message or a folder; 0: none
using Time = std::int64_t;  // milliseconds since 1970, UTC

enum class Role : std::uint8_t { system, user, assistant, tool };
enum class MessageState : std::uint8_t {
  complete,
  partial,  // being written, or cut off when the program was killed
  stopped,  // by the user
  failed
};

std::string_view name_of(Role role);           // "user"; the word in files and chat templates
std::string_view name_of(MessageState state);  // "partial"

// A text file that went into the prompt with its message.
struct Attachment {
  std::string name;
  std::string media_type;
  std::string text;
  std::int64_t tokens = 0;
  bool operator==(const Attachment&) const = default;
};

// How a message came about; empty for what the user wrote.
struct Origin {
  std::string model;
  std::string policy;
  std::uint64_t seed = 0;
  std::string settings;  // JSON, or empty
  bool operator==(const Origin&) const = default;
};

struct Message {
  Id id = 0;
  Id conversation = 0;
  Id parent = 0;  // 0: a first message
  Role role = Role::user;
  std::string text;
  Origin origin;
  std::string timings;  // JSON, or empty
  MessageState state = MessageState::complete;
  std::string note;  // why it failed or ended early, for people
  Time created_at = 0;
  Time updated_at = 0;
  std::vector<Attachment> attachments;

  // The place among the messages with the same parent, in order of creation: ‹2/3› is {2, 3}. Filled in a
  // Branch.
  std::int32_t sibling = 1;
  std::int32_t siblings = 1;
  Id previous_sibling = 0;  // 0: this is the first
  Id next_sibling = 0;      // 0: this is the last
};

struct Conversation {
  Id id = 0;
  std::string uid;  // the same in every export and on every machine
  std::string title;
  Time created_at = 0;
  Time updated_at = 0;
  Time pinned_at = 0;   // 0: not pinned
  Time deleted_at = 0;  // 0: not deleted
  Id leaf = 0;          // the last message of the chosen branch; 0: there are no messages
  std::string draft;    // what was typed and not sent
  std::string system_prompt;
  std::string settings;  // generation settings, JSON, or empty
  Id folder = 0;         // 0: in none
};

// Holds conversations; there are none in one another.
struct Folder {
  Id id = 0;
  std::string uid;  // the same in every export and on every machine
  std::string name;
  bool collapsed = false;
  // What a new conversation in it starts with.
  std::string preset;  // its id in the settings; empty: the usual
  std::string model;   // its path; empty: the one that is open
  bool operator==(const Folder&) const = default;
};

// One way from a first message to a leaf.
struct Branch {
  Conversation conversation;
  std::vector<Message> messages;  // in order
};

// A conversation with all its branches. Parents come before their children.
struct Archive {
  Conversation conversation;  // its folder means something in its own history only
  std::string folder_uid;     // empty: it is in none
  std::string folder_name;
  std::vector<Message> messages;
};

// --- the sidebar's list

struct ConversationPage {
  std::vector<Conversation> conversations;
  bool more = false;  // there are others
};

// --- search

struct TextRange {
  std::int32_t start = 0;  // bytes of UTF-8
  std::int32_t length = 0;
  bool operator==(const TextRange&) const = default;
};

struct SearchHit {
  Id conversation = 0;
  std::string title;
  std::vector<TextRange> title_matches;
  Id message = 0;  // 0: only the title matches
  Role role = Role::user;
  std::string snippet;  // of the message, on one line
  std::vector<TextRange> snippet_matches;
  Time updated_at = 0;  // of the conversation
  bool pinned = false;  // the conversation is
  std::string folder;   // that it is in; empty: in none
};

struct SearchResult {
  std::vector<SearchHit> hits;  // best first
  bool more = false;            // there are others
};

// --- requests

struct NewConversation {
  std::string title;
  std::string system_prompt;
  std::string settings;
  Id folder = 0;  // in none where it has gone
};

// A question and the answer that is about to be written, stored together before generation starts.
struct NewTurn {
  Id conversation = 0;  // 0: a new one, from `created`
  NewConversation created;
  Id parent = 0;  // the message before the question; editing a question: the edited question's parent
  std::string text;
  std::vector<Attachment> attachments;
  Origin answer;
};

struct Turn {
  Conversation conversation;  // with the answer as its leaf
  Message question;
  Message answer;                 // partial, empty
  std::vector<Message> messages;  // the chosen branch, which ends with both
};

// A question that comes back unanswered.
struct TakenBack {
  Branch branch;     // without it; the conversation's draft begins with its text
  Message question;  // with its attachments; id 0: it stays, since it has other answers
};

struct AnswerEnd {
  MessageState state = MessageState::complete;
  std::uint64_t seed = 0;  // the one that was used
  std::string timings;     // JSON
  std::string note;
  std::string use_profile = {};  // bytes, see Engine::use_profile; empty: the conversation's stays
};

struct ImportReport {
  std::int32_t imported = 0;       // conversations
  std::int32_t already_there = 0;  // not imported again
  std::vector<Id> conversations;   // the imported ones
  std::vector<Phrase> left_out;    // what could not be read, and why; at most 100
  std::int32_t left_out_count = 0;
};

}  // namespace fovea::app::history
