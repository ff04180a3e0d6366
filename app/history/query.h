// What somebody typed into the search field, and where it stands in a text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/history/types.h"

namespace fovea::app::history {

// Phrases that must all occur. The last one may go on: its last word is a beginning.
struct Query {
  std::vector<std::vector<std::string>> phrases;  // of folded words
  bool open_end = true;

  bool empty() const { return phrases.empty(); }
  std::string match_expression() const;  // for FTS5; nothing of what was typed has a meaning of its own in it
};

// Any text is a valid query. At most 32 words count.
Query parse_query(std::string_view typed);

struct Snippet {
  std::string text;  // on one line, "…" where something is left out
  std::vector<TextRange> matches;
};

// The part of the text that has the most of the query close together, about 160 bytes.
Snippet make_snippet(std::string_view text, const Query& query);

// All places of the query in a short text.
std::vector<TextRange> find_matches(std::string_view text, const Query& query);

}  // namespace fovea::app::history
