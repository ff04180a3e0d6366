#include "engine/jinja/word_wrap.h"

#include <algorithm>

#include "engine/jinja/interpreter.h"
#include "engine/jinja/unicode.h"

namespace fovea::jinja {
namespace {

// Only ASCII's white space parts words: others are meant to hold them together.
bool parts_words(char32_t p) {
  return p == ' ' || (p >= '\t' && p <= '\r');
}

bool is_word_letter(char32_t p) {
  return is_word_character(p) && !is_decimal(p);
}

bool may_precede_dash(char32_t p) {
  return is_word_character(p) ||
         (p < 128 && std::string_view("!\"'&.,?").find(static_cast<char>(p)) != std::string_view::npos);
}

// White space, a dash between words, or a word with its punctuation, up to a hyphen that it may be cut at.
class Chunks {
 public:
  explicit Chunks(std::string_view text) : text_(text) {
    for (std::size_t at = 0; at < text.size();) {
      begins_.push_back(at);
      points_.push_back(next_point(text, at));
    }
    begins_.push_back(text.size());
  }

  std::size_t size() const { return points_.size(); }
  std::string_view text(std::size_t begin, std::size_t end) const {
    return text_.substr(begins_[begin], begins_[end] - begins_[begin]);
  }
  char32_t point(std::size_t i) const { return points_[i]; }

  std::size_t end_of(std::size_t begin, bool at_hyphens) const {
    std::size_t end = begin;
    const bool blank = parts_words(points_[begin]);
    if (blank || !at_hyphens) {
      while (end < size() && parts_words(points_[end]) == blank) ++end;
      return end;
    }
    if (is_dash(begin)) return end_of_hyphens(begin);
    for (end = begin + 1; end < size() && !parts_words(points_[end]); ++end) {
      if (is_compound(end)) return end + 1;
      if (is_dash(end)) return end;
    }
    return end;
  }

 private:
  bool has(std::size_t i, bool (*in_class)(char32_t)) const { return i < size() && in_class(points_[i]); }
  bool hyphen(std::size_t i) const { return i < size() && points_[i] == '-'; }
  std::size_t end_of_hyphens(std::size_t i) const {
    while (hyphen(i)) ++i;
    return i;
  }

  // Two hyphens or more, right between words.
  bool is_dash(std::size_t i) const {
    if (i == 0 || !hyphen(i) || !hyphen(i + 1) || !may_precede_dash(points_[i - 1])) return false;
    return has(end_of_hyphens(i), is_word_character);
  }

  // A hyphen behind two letters (or letters with a hyphen between) and before two.
  bool is_compound(std::size_t i) const {
    if (!hyphen(i) || i < 2 || !is_word_letter(points_[i - 1])) return false;
    const bool before =
        is_word_letter(points_[i - 2]) || (i >= 3 && hyphen(i - 2) && is_word_letter(points_[i - 3]));
    if (!before || !has(i + 1, is_word_letter)) return false;
    return has(i + 2, is_word_letter) || (hyphen(i + 2) && has(i + 3, is_word_letter));
  }

  std::string_view text_;
  std::vector<char32_t> points_;
  std::vector<std::size_t> begins_;
};

struct Piece {
  std::size_t begin;
  std::size_t end;
};

class Wrapper {
 public:
  Wrapper(Interpreter& in, const Chunks& chunks, const Wrapping& wrapping, std::size_t width)
      : in_(in), chunks_(chunks), wrapping_(wrapping), width_(width) {
    take_next();
  }

  std::vector<std::string> lines() {
    while (more()) {
      if (!lines_.empty() && is_blank(next_)) take_next();
      line();
      in_.run.step();
    }
    return std::move(lines_);
  }

 private:
  bool more() const { return next_.begin < next_.end; }
  void take_next() {
    const std::size_t begin = next_.end;
    next_ = {begin, begin < chunks_.size() ? chunks_.end_of(begin, wrapping_.split_at_hyphens) : begin};
  }
  bool is_blank(const Piece& piece) const { return strip_left(chunks_.text(piece.begin, piece.end)).empty(); }

  void line() {
    const std::size_t begin = next_.begin;
    Piece last{begin, begin};
    int pieces = 0;
    const auto add = [&](const Piece& piece) {
      last = piece;
      ++pieces;
    };
    for (; more() && next_.end - begin <= width_; take_next()) add(next_);
    if (more() && next_.end - next_.begin > width_) {
      if (wrapping_.break_words) {
        const std::size_t end = next_.begin + length_to_break(width_ - (last.end - begin));
        add({next_.begin, end});
        next_.begin = end;
      } else if (pieces == 0) {
        add(next_);
        take_next();
      }
    }
    const bool drop_last = pieces > 0 && is_blank(last);
    if (pieces > (drop_last ? 1 : 0))
      lines_.emplace_back(chunks_.text(begin, drop_last ? last.begin : last.end));
  }

  // Of the next piece, which is longer: all that fits, or up to its last hyphen that does.
  std::size_t length_to_break(std::size_t room) const {
    if (!wrapping_.break_at_hyphens || next_.end - next_.begin <= room) return room;
    bool word_before = false;  // hyphens alone are no word to break behind
    std::size_t length = room;
    for (std::size_t i = 0; i < room; ++i) {
      const bool hyphen = chunks_.point(next_.begin + i) == '-';
      if (hyphen && word_before) length = i + 1;
      word_before = word_before || !hyphen;
    }
    return length;
  }

  Interpreter& in_;
  const Chunks& chunks_;
  const Wrapping& wrapping_;
  const std::size_t width_;
  Piece next_{0, 0};
  std::vector<std::string> lines_;
};

}  // namespace

bool is_word_character(char32_t p) {
  return p == '_' || is_letter(p) || is_numeric(p);
}

std::vector<std::string> wrapped_lines(Interpreter& in, std::string_view paragraph,
                                       const Wrapping& wrapping) {
  if (wrapping.width <= 0) in.run.fail("wordwrap needs a width of at least 1");
  in.run.work(paragraph.size() * 8);
  const Chunks chunks(paragraph);
  const Int width = std::min<Int>(wrapping.width, static_cast<Int>(paragraph.size()) + 1);
  return Wrapper(in, chunks, wrapping, static_cast<std::size_t>(width)).lines();
}

}  // namespace fovea::jinja
