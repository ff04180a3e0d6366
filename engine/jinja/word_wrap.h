// Lines of at most some width, as Python's textwrap cuts them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/jinja/value.h"

namespace fovea::jinja {

class Interpreter;

struct Wrapping {
  Int width = 0;                 // in code points, > 0
  bool break_words = true;       // that are longer than a line
  bool split_at_hyphens = true;  // a compound word may go on in the next line
  bool break_at_hyphens = true;  // a word that is broken is broken behind its last hyphen that fits
};

// One paragraph; its white space stays as it is, except around the cuts.
std::vector<std::string> wrapped_lines(Interpreter&, std::string_view paragraph, const Wrapping&);

bool is_word_character(char32_t);

}  // namespace fovea::jinja
