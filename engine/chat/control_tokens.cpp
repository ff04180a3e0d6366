#include "engine/chat/control_tokens.h"

#include <algorithm>

namespace fovea::chat {
namespace {

std::vector<std::string> control_names(const text::Tokenizer& tokenizer) {
  std::vector<std::string> names;
  for (TokenId id = 0; id < static_cast<TokenId>(tokenizer.vocabulary()); ++id) {
    if (tokenizer.is_control(id)) names.emplace_back(tokenizer.name(id));
  }
  return names;
}

std::size_t character_length(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

std::string without(std::string_view text, std::string_view mark) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = std::min(text.find(mark, at), text.size());
    result += text.substr(at, next - at);
    at = next + mark.size();
  }
  return result;
}

}  // namespace

ControlTokens::ControlTokens(const text::Tokenizer& tokenizer) : ControlTokens(control_names(tokenizer)) {}

ControlTokens::ControlTokens(std::vector<std::string> names) {
  for (std::string& name : names) {
    if (name.empty()) continue;
    auto& same_first = names_[static_cast<unsigned char>(name.front())];
    if (same_first.empty()) first_bytes_ += name.front();
    same_first.push_back(std::move(name));
  }
  for (auto& same_first : names_)
    std::ranges::sort(same_first, std::greater{}, [](const std::string& name) { return name.size(); });
}

ControlTokens::Span ControlTokens::find(std::string_view text, std::size_t from) const {
  for (std::size_t at = text.find_first_of(first_bytes_, from); at != std::string_view::npos;
       at = text.find_first_of(first_bytes_, at + 1)) {
    for (const std::string& name : names_[static_cast<unsigned char>(text[at])]) {
      if (text.substr(at).starts_with(name)) return {at, name.size()};
    }
  }
  return {};
}

// The mark goes behind the first character; a name of one character gets it there too.
std::string ControlTokens::protect(std::string_view text, std::string_view mark) const {
  std::string result;
  std::size_t done = 0;
  for (Span span = find(text, 0); span.begin != std::string_view::npos; span = find(text, done)) {
    const std::size_t cut = span.begin + std::min(character_length(text[span.begin]), span.length);
    result += text.substr(done, cut - done);
    result += mark;
    done = cut;
  }
  return result += text.substr(done);
}

std::string unused_mark(const std::vector<Message>& messages, std::string_view more) {
  // U+E000 … U+F8FF, three bytes each.
  for (unsigned code = 0xE000; code <= 0xF8FF; ++code) {
    const std::string mark{static_cast<char>(0xE0 | (code >> 12)),
                           static_cast<char>(0x80 | ((code >> 6) & 0x3F)),
                           static_cast<char>(0x80 | (code & 0x3F))};
    if (!more.contains(mark) &&
        std::ranges::none_of(messages, [&mark](const Message& m) { return m.content.contains(mark); }))
      return mark;
  }
  return "\xF4\x8F\xBF\xBD";  // U+10FFFD: somebody used all the others
}

std::vector<TokenId> encode_protected(const text::Tokenizer& tokenizer, const ControlTokens& control,
                                      std::string_view rendered, std::string_view mark) {
  std::vector<TokenId> tokens;
  const auto append = [&](std::string_view text, bool parse_special) {
    const auto more = tokenizer.encode(text, {.add_special = false, .parse_special = parse_special});
    tokens.insert(tokens.end(), more.begin(), more.end());
  };
  // Marks divide the text into what is encoded as it is, in one piece, and the stretches between control
  // tokens that have marks in them.
  std::size_t done = 0;
  std::size_t stretch = 0;  // begins behind the last control token before the mark
  for (std::size_t at = rendered.find(mark); at != std::string_view::npos; at = rendered.find(mark, done)) {
    for (auto span = control.find(rendered, stretch); span.begin < at; span = control.find(rendered, stretch))
      stretch = span.begin + span.length;
    const std::size_t end = std::min(control.find(rendered, at).begin, rendered.size());
    if (stretch > done) append(rendered.substr(done, stretch - done), true);
    append(without(rendered.substr(stretch, end - stretch), mark), false);
    done = stretch = end;
  }
  if (done < rendered.size()) append(rendered.substr(done), true);
  return tokens;
}

}  // namespace fovea::chat
