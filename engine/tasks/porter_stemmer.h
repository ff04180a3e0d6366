// M. F. Porter, "An algorithm for suffix stripping" (1980), with the changes that NLTK's stemmer makes by
// default, which rouge-score uses.
#pragma once

#include <string>
#include <string_view>

namespace fovea::tasks {

// Of a word in lower-case ASCII.
std::string stem(std::string_view word);

}  // namespace fovea::tasks
