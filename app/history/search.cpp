// Search over titles and messages. One hit for each conversation: conversations whose title matches come
// first, then those with the best message.
#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "app/history/history.h"
#include "app/history/parts.h"
#include "app/history/query.h"
#include "app/history/rows.h"
#include "engine/core/result.h"

namespace fovea::app::history {
namespace {

// What occurs in more messages than this says little about any of them: then the newest win, and the search
// need not look at the others.
constexpr std::int64_t kMaxRanked = 500;
constexpr double kHalfAge = 90.0 * 24 * 3600 * 1000;  // ms after which a message's weight is down to 3/4

struct Candidate {
  Id conversation = 0;
  Id message = 0;
  Time updated_at = 0;
  double score = 0;  // higher is better
  bool title = false;
};
using Candidates = std::unordered_map<Id, Candidate>;  // by conversation

Candidate& candidate(Candidates& all, Id conversation, Time updated_at) {
  Candidate& c = all[conversation];
  c.conversation = conversation;
  c.updated_at = updated_at;
  return c;
}

Result<void> search_titles(Database& db, const std::string& expression, Candidates& all) {
  FOVEA_TRY(
      auto rows,
      db.query("SELECT c.id, c.updated_at FROM title_words AS w CROSS JOIN conversations AS c ON "
               "c.id=w.rowid WHERE title_words MATCH ? AND c.deleted_at=0 ORDER BY w.rowid DESC LIMIT ?",
               std::string_view(expression), kMaxRanked));
  for (;;) {
    FOVEA_TRY(const bool row, rows.step());
    if (!row) return {};
    candidate(all, rows.integer(0), rows.integer(1)).title = true;
  }
}

// The newest messages that match, without a look at how well. Returns whether there were more.
Result<bool> search_newest(Database& db, const std::string& expression, Candidates& all) {
  FOVEA_TRY(auto rows,
            db.query("SELECT w.rowid, c.id, c.updated_at FROM message_words AS w CROSS JOIN messages AS m ON "
                     "m.id=w.rowid CROSS JOIN conversations AS c ON c.id=m.conversation_id "
                     "WHERE message_words MATCH ? AND c.deleted_at=0 ORDER BY w.rowid DESC LIMIT ?",
                     std::string_view(expression), kMaxRanked + 1));
  for (std::int64_t n = 0;; ++n) {
    FOVEA_TRY(const bool row, rows.step());
    if (!row) return false;
    if (n == kMaxRanked) return true;
    Candidate& c = candidate(all, rows.integer(1), rows.integer(2));
    if (c.message != 0) continue;
    c.message = rows.integer(0);
    c.score = static_cast<double>(c.updated_at);
  }
}

// Few enough to weigh each: BM25, less for what is old.
Result<void> rank_messages(Database& db, const std::string& expression, Time now, Candidates& all) {
  FOVEA_TRY(
      auto rows,
      db.query("SELECT w.rowid, c.id, c.updated_at, m.created_at, CAST(-w.rank * 1000000 AS INTEGER) FROM "
               "message_words AS w CROSS JOIN messages AS m ON m.id=w.rowid CROSS JOIN conversations AS c ON "
               "c.id=m.conversation_id WHERE message_words MATCH ? AND c.deleted_at=0",
               std::string_view(expression)));
  for (Candidates best;;) {
    FOVEA_TRY(const bool row, rows.step());
    if (!row) return {};
    const double age = static_cast<double>(std::max<Time>(now - rows.integer(3), 0));
    const double score = static_cast<double>(rows.integer(4)) * (0.5 + 0.5 * std::exp2(-age / kHalfAge));
    Candidate& ranked = best[rows.integer(1)];
    if (ranked.message != 0 && ranked.score >= score) continue;
    ranked.message = rows.integer(0);
    ranked.score = score;
    Candidate& c = candidate(all, rows.integer(1), rows.integer(2));
    c.message = ranked.message;
    c.score = score;
  }
}

bool better(const Candidate& a, const Candidate& b) {
  if (a.title != b.title) return a.title;
  if (a.title && a.updated_at != b.updated_at) return a.updated_at > b.updated_at;
  if (a.score != b.score) return a.score > b.score;
  return a.conversation > b.conversation;
}

Result<SearchHit> hit_of(Database& db, const Candidate& c, const Query& query) {
  SearchHit hit;
  hit.conversation = c.conversation;
  hit.message = c.message;
  hit.updated_at = c.updated_at;
  FOVEA_TRY(const Conversation conversation, read_conversation(db, c.conversation));
  hit.title = conversation.title;
  hit.title_matches = find_matches(hit.title, query);
  hit.pinned = conversation.pinned_at != 0;
  if (conversation.folder != 0) {
    FOVEA_TRY(auto folder, db.query("SELECT name FROM folders WHERE id=?", conversation.folder));
    FOVEA_TRY(const bool is_there, folder.step());
    if (is_there) hit.folder = folder.text(0);
  }
  if (c.message == 0) return hit;
  FOVEA_TRY(const Message message, read_message(db, c.message));
  hit.role = message.role;
  Snippet snippet = make_snippet(message.text, query);
  hit.snippet = std::move(snippet.text);
  hit.snippet_matches = std::move(snippet.matches);
  return hit;
}

}  // namespace

Result<SearchResult> History::search(std::string_view typed, int limit) {
  SearchResult result;
  const Query query = parse_query(typed);
  if (query.empty() || limit <= 0) return result;
  Database& db = parts_->database;
  const std::string expression = query.match_expression();
  Candidates all;
  FOVEA_CHECK(search_titles(db, expression, all));
  FOVEA_TRY(const bool many, search_newest(db, expression, all));
  if (!many) FOVEA_CHECK(rank_messages(db, expression, parts_->now(), all));
  std::vector<Candidate> ordered;
  for (const auto& [id, c] : all) ordered.push_back(c);
  std::ranges::sort(ordered, better);
  result.more = many || ordered.size() > static_cast<std::size_t>(limit);
  if (ordered.size() > static_cast<std::size_t>(limit)) ordered.resize(static_cast<std::size_t>(limit));
  for (const Candidate& c : ordered) {
    FOVEA_TRY(auto hit, hit_of(db, c, query));
    result.hits.push_back(std::move(hit));
  }
  return result;
}

}  // namespace fovea::app::history
