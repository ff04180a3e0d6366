// All conversations, in one SQLite file. One thread at a time may call a History; several processes may have
// the same file open.
//
// A kill at any moment loses nothing that a call has returned from: each one commits and waits for the disk.
// While an answer is written its pieces go to rows of their own, so that the cost of a piece does not grow
// with the answer.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "app/history/types.h"
#include "engine/api/error.h"

namespace fovea::app::history {

class Database;
struct Migration;

struct Options {
  std::function<Time()> now;                        // empty: the system's clock
  std::span<const Migration> migrations;            // empty: those of schema.h
  std::int64_t quick_check_limit_bytes = 32 << 20;  // larger files are checked by check(), not when opened
};

// What happened while the file was opened.
struct Opening {
  bool read_only = false;
  std::vector<Phrase> notices;      // a damaged file was set aside, a newer schema …
  std::filesystem::path set_aside;  // where the damaged file is now; empty: there was none
  std::filesystem::path backup;     // made before a migration; empty: there was none
  bool checked = false;             // the whole file was checked
};

class History {
 public:
  // Makes the file and its folder where they are missing. A damaged file is renamed, never overwritten; a
  // newer schema is opened for reading only.
  static Result<History> open(const std::filesystem::path& file, const Options& options = {});
  History(History&&) noexcept;
  History& operator=(History&&) noexcept;
  ~History();

  const Opening& opening() const;

  // Reads the whole file on a connection of its own: call it from any thread. An error says what is damaged.
  static Result<void> check(const std::filesystem::path& file, std::stop_token = {});

  // --- conversations
  Result<Conversation> create(const NewConversation&);
  Result<Conversation> conversation(Id);
  // As a sidebar lists them: pinned ones first, then by their last change, newest first. Those in no folder,
  // and all that are in one.
  Result<ConversationPage> conversations(int limit);
  Result<std::vector<Conversation>> in_folders();
  Result<void> rename(Id, std::string_view title);
  Result<void> set_pinned(Id, bool pinned);
  Result<void> set_draft(Id, std::string_view text);
  // What was typed for a conversation that does not exist yet.
  Result<std::string> new_draft();
  Result<void> set_new_draft(std::string_view text);
  Result<void> set_system_prompt(Id, std::string_view text);
  Result<void> set_settings(Id, std::string_view json);
  // Deleted conversations are in no list and no search until restored; after 30 days purge() forgets them.
  Result<void> remove(Id);
  Result<void> restore(Id);
  Result<ConversationPage> removed(int limit);  // the last deleted one first
  Result<int> purge();                          // returns how many

  // --- folders, in the order that the user gives them; a new one is the last
  Result<std::vector<Folder>> folders();
  Result<Folder> folder(Id);
  Result<Folder> create_folder(std::string_view name);
  Result<void> rename_folder(Id, std::string_view name);
  Result<void> place_folder(Id, int place);  // from 0; beyond the last: the last
  Result<void> set_collapsed(Id folder, bool collapsed);
  Result<void> set_folder_defaults(Id, std::string_view preset, std::string_view model);
  Result<void> forget_preset(std::string_view preset);  // no folder starts with it any more
  // Its conversations stay, in no folder.
  Result<void> remove_folder(Id);
  Result<void> move_to_folder(Id conversation, Id folder);  // 0: to none

  // --- the tree. Editing a question: add_turn() with the edited question's parent. Regenerating:
  // add_answer() with the question. Both make a branch, choose it and return it; after an error nothing of it
  // is stored. A turn that begins a conversation is what was typed for a new one: set_new_draft() is undone.
  Result<Turn> add_turn(const NewTurn&);
  Result<Branch> add_answer(Id question, const Origin&);  // the answer is the last one
  // The opposite, in one piece, while nothing is written of the answer; the question becomes a draft again.
  // A conversation that this leaves empty has no title any more.
  Result<TakenBack> take_back(Id answer);
  Result<void> set_origin(Id answer, const Origin&);  // of one that is begun later than it was asked for
  Result<Branch> branch(Id conversation);             // the chosen one
  Result<Branch> choose(Id message);                  // makes the branch through this message the chosen one
  Result<Message> message(Id);

  // --- an answer while it is written: at least once a second. Also continues a stopped answer.
  Result<void> append_answer(Id message, std::string_view text);
  Result<void> finish_answer(Id message, const AnswerEnd&);
  // That of the conversation's last answer that had one; empty: none had.
  Result<std::string> use_profile(Id conversation);

  // --- search as you type: each word, the last one also as a beginning. Any text is a valid query.
  Result<SearchResult> search(std::string_view query, int limit);

  // --- in and out
  Result<Archive> archive(Id conversation);
  // All of it or, when a write fails, nothing. A conversation whose uid is there already is left as it is.
  Result<ImportReport> import(std::span<const Archive> archives);

  struct Parts;
  explicit History(std::unique_ptr<Parts> parts);

 private:
  std::unique_ptr<Parts> parts_;
};

}  // namespace fovea::app::history
