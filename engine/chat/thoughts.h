// Thoughts in an answer's text: <think>…</think>, before what it says.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::chat {

inline constexpr std::string_view thoughts_open = "<think>";
inline constexpr std::string_view thoughts_close = "</think>";

struct AnswerPart {
  std::string_view text;  // without tags
  bool thoughts = false;
  bool closed = true;  // of thoughts: not cut
};

// An answer's parts in order. Thoughts stand at its beginning; where a prompt began them, only their end is
// in the text. `later`: they may come behind a blank line, too, as those of models with channels do.
std::vector<AnswerPart> answer_parts(std::string_view text, bool later);

// The same as chat templates take it: line breaks next to the tags belong to neither.
struct SplitAnswer {
  std::string thoughts;
  std::string text;
};
SplitAnswer split_answer(const std::vector<AnswerPart>& parts);

// Where in its answer a model goes on.
enum class AnswerPlace : std::uint8_t { beginning, thoughts, text };

// Divides an answer that comes in pieces.
class ThoughtTracker {
 public:
  explicit ThoughtTracker(AnswerPlace place) : place_(place) {}

  struct Pieces {
    std::string thoughts, text;  // in this order
  };
  Pieces push(std::string_view more);
  Pieces finish();
  AnswerPlace place() const { return place_; }
  std::size_t held() const { return held_.size(); }  // bytes

 private:
  AnswerPlace place_;
  std::string held_;  // what may become a tag
};

}  // namespace fovea::chat
