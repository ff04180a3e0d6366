// A regular expression of a tokeniser, compiled once and safe to share.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/api/error.h"

namespace fovea::text {

struct Match {
  std::size_t begin, end;  // bytes
};

class Regex {
 public:
  static Result<Regex> compile(std::string_view expression, const Phrase& where);

  // One thread's searches, one after the other. What they need is set up once, which costs more than to
  // search a word.
  class Search {
   public:
    explicit Search(const Regex&);
    ~Search();
    Search(Search&&) noexcept;

    // All matches of valid UTF-8, from left to right; an empty one does not follow another match directly.
    // Where the expression exceeds its limits (steps, memory) the search ends: the rest of the text counts as
    // not matched.
    void find_all(std::string_view text, std::vector<Match>& matches);

   private:
    struct Space;
    std::unique_ptr<Space> space_;
  };
  void find_all(std::string_view text, std::vector<Match>& matches) const {
    Search(*this).find_all(text, matches);
  }

 private:
  struct Code;
  std::shared_ptr<const Code> code_;
};

}  // namespace fovea::text
