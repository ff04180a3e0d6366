// The tree of messages, its chosen branch, and answers while they are written.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "app/history/errors.h"
#include "app/history/history.h"
#include "app/history/parts.h"
#include "app/history/rows.h"
#include "engine/core/result.h"

namespace fovea::app::history {
namespace {

struct Node {
  Id parent = 0;
  Id chosen_child = 0;
  std::vector<Id> children;  // in order of creation
};
// The messages of one conversation without their texts; node 0 holds the first messages.
using Tree = std::unordered_map<Id, Node>;

Result<Tree> read_tree(Database& database, Id conversation) {
  Tree tree;
  FOVEA_TRY(auto rows,
            database.query("SELECT id, parent_id, chosen_child FROM messages WHERE conversation_id=? "
                           "ORDER BY id",
                           conversation));
  for (;;) {
    FOVEA_TRY(const bool row, rows.step());
    if (!row) return tree;
    const Id id = rows.integer(0), parent = rows.integer(1);
    Node& node = tree[id];
    node.parent = parent;
    node.chosen_child = rows.integer(2);
    tree[parent].children.push_back(id);
  }
}

// Ids from a first message to the leaf. A parent is always older than its child, so this ends.
std::vector<Id> way_to(const Tree& tree, Id leaf) {
  std::vector<Id> way;
  for (Id at = leaf; at != 0;) {
    const auto node = tree.find(at);
    if (node == tree.end()) break;
    way.push_back(at);
    const Id parent = node->second.parent;
    at = parent < at ? parent : 0;
  }
  std::ranges::reverse(way);
  return way;
}

// Down from a message: where a choice was made before, that way, else the newest.
Id leaf_below(const Tree& tree, Id message) {
  for (Id at = message;;) {
    const auto node = tree.find(at);
    if (node == tree.end() || node->second.children.empty()) return at;
    const auto& children = node->second.children;
    const bool chosen = std::ranges::find(children, node->second.chosen_child) != children.end();
    const Id next = chosen ? node->second.chosen_child : children.back();
    if (next <= at) return at;
    at = next;
  }
}

void place_among_siblings(const Tree& tree, Message& message) {
  const auto parent = tree.find(message.parent);
  if (parent == tree.end()) return;
  const auto& all = parent->second.children;
  const auto here = std::ranges::find(all, message.id);
  if (here == all.end()) return;
  message.sibling = static_cast<std::int32_t>(here - all.begin()) + 1;
  message.siblings = static_cast<std::int32_t>(all.size());
  message.previous_sibling = here == all.begin() ? 0 : *std::prev(here);
  message.next_sibling = std::next(here) == all.end() ? 0 : *std::next(here);
}

Result<Branch> read_branch(Database& database, Id conversation) {
  Branch branch;
  FOVEA_TRY(branch.conversation, read_conversation(database, conversation));
  FOVEA_TRY(const Tree tree, read_tree(database, conversation));
  for (const Id id : way_to(tree, branch.conversation.leaf)) {
    FOVEA_TRY(auto message, read_message(database, id));
    place_among_siblings(tree, message);
    branch.messages.push_back(std::move(message));
  }
  return branch;
}

Result<void> set_leaf(Database& database, Id conversation, Id leaf, Time now) {
  return database.run("UPDATE conversations SET leaf_id=?, updated_at=? WHERE id=?", leaf, now, conversation);
}

// The parent remembers its newest child, unless it has only that one.
Result<void> choose_child(Database& database, Id parent, Id child) {
  if (parent == 0) return {};
  return database.run("UPDATE messages SET chosen_child=? WHERE id=? AND chosen_child IS NOT ?", child,
                      parent, child);
}

Result<Id> add_leaf(Database& database, Message& message, Time now) {
  message.created_at = message.updated_at = now;
  FOVEA_TRY(message.id, write_message(database, message));
  FOVEA_CHECK(choose_child(database, message.parent, message.id));
  FOVEA_CHECK(set_leaf(database, message.conversation, message.id, now));
  return message.id;
}

Result<void> must_be_in(Database& database, Id message, Id conversation) {
  if (message == 0) return {};
  FOVEA_TRY(const Id holder, database.number("SELECT conversation_id FROM messages WHERE id=?", message));
  if (holder == conversation) return {};
  return fail(phrases::file_place(database.file()), errors::history_message_elsewhere(message, conversation));
}

}  // namespace

Result<Turn> History::add_turn(const NewTurn& turn) {
  Database& db = parts_->database;
  FOVEA_TRY(auto transaction, Transaction::begin(db));
  Turn stored;
  if (turn.conversation == 0) {
    NewConversation created = turn.created;
    if (created.title.empty()) created.title = title_from(turn.text);
    FOVEA_TRY(stored.conversation, create(created));
    FOVEA_CHECK(set_new_draft({}));
  } else {
    FOVEA_TRY(stored.conversation, read_conversation(db, turn.conversation));
    if (stored.conversation.title.empty()) {
      FOVEA_CHECK(rename(stored.conversation.id, title_from(turn.text)));
    }
  }
  const Id conversation = stored.conversation.id;
  const Time now = parts_->now();
  FOVEA_CHECK(must_be_in(db, turn.parent, conversation));
  stored.question.conversation = stored.answer.conversation = conversation;
  stored.question.parent = turn.parent;
  stored.question.text = turn.text;
  stored.question.attachments = turn.attachments;
  FOVEA_TRY(stored.answer.parent, add_leaf(db, stored.question, now));
  stored.answer.role = Role::assistant;
  stored.answer.origin = turn.answer;
  stored.answer.state = MessageState::partial;
  FOVEA_CHECK(add_leaf(db, stored.answer, now));
  FOVEA_TRY(Branch branch, read_branch(db, conversation));
  FOVEA_CHECK(transaction.commit());
  stored.conversation = std::move(branch.conversation);
  stored.messages = std::move(branch.messages);
  return stored;
}

Result<Branch> History::add_answer(Id question, const Origin& origin) {
  Database& db = parts_->database;
  FOVEA_TRY(auto transaction, Transaction::begin(db));
  FOVEA_TRY(const Message asked, read_message(db, question));
  Message answer;
  answer.conversation = asked.conversation;
  answer.parent = question;
  answer.role = Role::assistant;
  answer.origin = origin;
  answer.state = MessageState::partial;
  FOVEA_CHECK(add_leaf(db, answer, parts_->now()));
  FOVEA_TRY(Branch branch, read_branch(db, asked.conversation));
  FOVEA_CHECK(transaction.commit());
  return branch;
}

Result<TakenBack> History::take_back(Id answer) {
  Database& db = parts_->database;
  FOVEA_TRY(auto transaction, Transaction::begin(db));
  FOVEA_TRY(const Message taken, read_message(db, answer));
  FOVEA_TRY(Tree tree, read_tree(db, taken.conversation));
  if (taken.state != MessageState::partial || !taken.text.empty() || !tree[answer].children.empty()) {
    return fail(phrases::file_place(db.file()), errors::history_not_waiting(answer));
  }
  TakenBack back;
  Id gone = answer;
  if (taken.parent != 0 && tree[taken.parent].children.size() == 1) {
    FOVEA_TRY(back.question, read_message(db, taken.parent));
    gone = taken.parent;
  }
  const Id parent = tree[gone].parent;
  auto& siblings = tree[parent].children;
  std::erase(siblings, gone);
  const Id leaf = siblings.empty() ? parent : leaf_below(tree, siblings.back());
  FOVEA_CHECK(db.run("UPDATE conversations SET leaf_id=? WHERE id=?", OrNull{leaf}, taken.conversation));
  FOVEA_CHECK(db.run("DELETE FROM messages WHERE id=?", answer));
  if (gone != answer) FOVEA_CHECK(db.run("DELETE FROM messages WHERE id=?", gone));
  if (leaf == 0) FOVEA_CHECK(rename(taken.conversation, {}));
  FOVEA_TRY(back.branch, read_branch(db, taken.conversation));
  if (gone != answer) {
    std::string& draft = back.branch.conversation.draft;
    draft = draft.empty() ? back.question.text : back.question.text + "\n\n" + draft;
    FOVEA_CHECK(set_draft(taken.conversation, draft));
  }
  FOVEA_CHECK(transaction.commit());
  return back;
}

Result<void> History::set_origin(Id answer, const Origin& origin) {
  return parts_->database.run("UPDATE messages SET model=?, policy=?, settings=? WHERE id=?",
                              std::string_view(origin.model), std::string_view(origin.policy),
                              std::string_view(origin.settings), answer);
}

Result<Branch> History::branch(Id conversation) {
  return read_branch(parts_->database, conversation);
}

Result<Branch> History::choose(Id message) {
  Database& db = parts_->database;
  FOVEA_TRY(const Id conversation, db.number("SELECT conversation_id FROM messages WHERE id=?", message));
  FOVEA_TRY(const Tree tree, read_tree(db, conversation));
  const Id leaf = leaf_below(tree, message);
  if (!parts_->opening.read_only) {
    FOVEA_TRY(auto transaction, Transaction::begin(db));
    // Every fork on the way remembers it, so that going away and back shows the same branch.
    for (const Id id : way_to(tree, leaf)) {
      const Id parent = tree.at(id).parent;
      if (tree.at(parent).children.size() > 1) FOVEA_CHECK(choose_child(db, parent, id));
    }
    FOVEA_CHECK(db.run("UPDATE conversations SET leaf_id=? WHERE id=?", leaf, conversation));
    FOVEA_CHECK(transaction.commit());
  }
  return read_branch(db, conversation);
}

Result<Message> History::message(Id id) {
  FOVEA_TRY(auto message, read_message(parts_->database, id));
  FOVEA_TRY(const Tree tree, read_tree(parts_->database, message.conversation));
  place_among_siblings(tree, message);
  return message;
}

Result<void> History::append_answer(Id message, std::string_view text) {
  if (text.empty()) return {};
  Database& db = parts_->database;
  FOVEA_TRY(auto transaction, Transaction::begin(db));
  FOVEA_CHECK(
      db.run("INSERT INTO pieces(message_id, number, text) SELECT ?1, "
             "coalesce((SELECT max(number) FROM pieces WHERE message_id=?1), 0) + 1, ?2",
             message, text));
  FOVEA_CHECK(db.run("UPDATE messages SET state=?1 WHERE id=?2 AND state<>?1",
                     static_cast<std::int64_t>(MessageState::partial), message));
  return transaction.commit();
}

Result<void> History::finish_answer(Id message, const AnswerEnd& end) {
  Database& db = parts_->database;
  const Time now = parts_->now();
  FOVEA_TRY(auto transaction, Transaction::begin(db));
  FOVEA_CHECK(gather_pieces(db, message));
  FOVEA_CHECK(db.run("UPDATE messages SET state=?, seed=?, timings=?, note=?, updated_at=? WHERE id=?",
                     static_cast<std::int64_t>(end.state), static_cast<std::int64_t>(end.seed),
                     std::string_view(end.timings), std::string_view(end.note), now, message));
  FOVEA_CHECK(must_have_changed(db, errors::history_no_message(message)));
  FOVEA_CHECK(db.run(
      "UPDATE conversations SET updated_at=? WHERE id=(SELECT conversation_id FROM messages WHERE id=?)", now,
      message));
  if (!end.use_profile.empty())
    FOVEA_CHECK(
        db.run("INSERT OR REPLACE INTO use_profiles(conversation_id, profile) "
               "SELECT conversation_id, ? FROM messages WHERE id=?",
               Blob{end.use_profile}, message));
  return transaction.commit();
}

Result<std::string> History::use_profile(Id conversation) {
  FOVEA_TRY(auto rows,
            parts_->database.query("SELECT profile FROM use_profiles WHERE conversation_id=?", conversation));
  FOVEA_TRY(const bool found, rows.step());
  return found ? rows.text(0) : std::string();
}

}  // namespace fovea::app::history
