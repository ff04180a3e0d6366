// A regular expression of a tokeniser, compiled once and safe to share.
#pragma once

#include <cstddef>
#include <functional>
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
  static Result<Regex> compile(std::string_view expression, const std::string& where);

  // All matches of valid UTF-8, from left to right; an empty one does not follow another match
  // directly. Where the expression exceeds its limits (steps, memory) the search ends: the rest of the text
  // counts as not matched.
  void find_all(std::string_view text, std::vector<Match>& matches) const;

 private:
  struct Code;
  std::shared_ptr<const Code> code_;
};

}  // namespace fovea::text
