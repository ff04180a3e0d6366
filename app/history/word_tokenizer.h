// How texts are cut into words for the search, so that every script can be found as one types.
//
// A word is a run of letters, digits and the marks on them, decomposed (NFKD), without case, without the
// accents of Latin, Greek and Cyrillic and the vowel points of Hebrew and Arabic. Scripts that are written
// without spaces (Han, kana, Thai, Lao, Khmer, Burmese) give a word for each character: a longer search text
// is then a phrase, and any part of a sentence is found. Hangul is decomposed, so that a syllable is found
// while it is being typed. Emoji are words.
#pragma once

#include <cstddef>
#include <string_view>

struct sqlite3;

namespace fovea::app::history {

// Called with the folded word and its bytes in the text. False ends the walk.
class WordSink {
 public:
  virtual ~WordSink() = default;
  virtual bool word(std::string_view folded, std::size_t start, std::size_t end) = 0;
};

void walk_words(std::string_view text, WordSink& sink);

// What the index was built with; another value means that it must be built again.
std::string_view tokenizer_version();

// Makes it known to FTS5 as "fovea_words". Returns SQLite's code.
int register_word_tokenizer(sqlite3* database);

}  // namespace fovea::app::history
