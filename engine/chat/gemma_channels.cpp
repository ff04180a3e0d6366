// Gemma 4's channels. Its thoughts stand in one whose name is a line; what stands in none is the answer. Real
// answers leave out the line's end, close what is not open, and think nothing in particular.
#include <utility>

#include "engine/chat/channel_formats.h"
#include "engine/chat/thoughts.h"

namespace fovea::chat {
namespace {

constexpr std::string_view thought = "thought";

class Gemma final : public Channels {
 public:
  Piece push(Mark mark) override {
    switch (mark) {
      case Mark::channel: {
        const Piece piece = close();
        name_.clear();
        in_ = In::name;
        return piece;
      }
      case Mark::start: {
        const Piece piece = close();
        name_.clear();
        in_ = In::role;
        ended_ = answers_;
        return piece;
      }
      default:
        // A call ends thoughts, too.
        return close();
    }
  }

  Piece push(std::string_view text) override {
    if (text.empty() || ended_) return {};
    switch (in_) {
      case In::text:
        text_before_ = true;
        return {std::string(text), true};
      case In::thoughts:
        return think(text);
      case In::role:
      case In::name:
        break;
    }
    name_ += text;
    const std::size_t end = name_.find('\n');
    if (end == std::string::npos) return {};
    const std::string rest = name_.substr(end + 1);
    name_.resize(end);
    if (in_ == In::name && name_ == thought) {
      in_ = In::thoughts;
      return think(rest);
    }
    in_ = In::text;
    return push(std::string_view(rest));
  }

  void begin_answer(bool continues) override {
    if (in_ == In::role) in_ = In::text;
    if (in_ == In::thoughts && continues) is_open_ = true;
    break_is_shown_ = line_break_;
    if (!continues) text_before_ = false;
    answers_ = true;
  }

  Piece finish(bool complete) override {
    if (complete) return close();
    // The line break may be the thoughts', which go on.
    Piece piece;
    if (in_ == In::thoughts && is_open_ && line_break_ && !break_is_shown_) piece.text = "\n";
    return piece;
  }

  bool ended() const override { return ended_; }

 private:
  enum class In : std::uint8_t { role, name, thoughts, text };

  // Thoughts appear with their first word. The line break before their end is held back.
  Piece think(std::string_view text) {
    Piece piece;
    if (text.empty()) return piece;
    if (!is_open_) piece.text = (text_before_ ? std::string(blank_line) : std::string()) + open_line;
    is_open_ = true;
    text_before_ = false;
    if (line_break_ && !break_is_shown_) piece.text += '\n';
    break_is_shown_ = false;
    line_break_ = text.ends_with('\n');
    piece.text += text.substr(0, text.size() - (line_break_ ? 1 : 0));
    return piece;
  }

  Piece close() {
    const bool was_open = in_ == In::thoughts && is_open_;
    if (in_ != In::role) in_ = In::text;
    const bool is_line = std::exchange(break_is_shown_, false);
    is_open_ = line_break_ = false;
    return was_open ? Piece{is_line ? close_line.substr(1) : close_line} : Piece{};
  }

  In in_ = In::text;
  std::string name_;
  bool is_open_ = false;         // thoughts have been shown
  bool line_break_ = false;      // that may be the last one …
  bool break_is_shown_ = false;  // … and stands in what the answer had already
  bool text_before_ = false;     // what comes next is another part of the answer
  bool answers_ = false;         // the prompt is over: another turn is somebody else's
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<Channels> read_gemma() {
  return std::make_unique<Gemma>();
}

std::vector<ChannelPart> in_gemma(std::string_view begun, bool opened) {
  std::vector<ChannelPart> parts;
  const std::vector<AnswerPart> all = answer_parts(begun, true);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].thoughts) {
      std::string text(without(all[i].text, "\n", all[i].closed ? "\n" : ""));
      if (!opened || i > 0) {
        parts.push_back({Channels::Mark::channel, {}});
        text.insert(0, std::string(thought) + "\n");
      }
      if (all[i].closed) text += "\n";
      if (!text.empty()) parts.push_back({{}, std::move(text)});
      if (all[i].closed) parts.push_back({Channels::Mark::end, {}});
    } else {
      const bool last = i + 1 == all.size();
      const std::string_view text = without(all[i].text, i > 0 ? blank_line : std::string_view(),
                                            last ? std::string_view() : blank_line);
      if (!text.empty()) parts.push_back({{}, std::string(text)});
    }
  }
  return parts;
}

}  // namespace fovea::chat
