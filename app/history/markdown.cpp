#include <algorithm>
#include <ctime>

#include "app/history/exchange.h"

namespace fovea::app::history {
namespace {

std::string date_of(Time time) {
  const std::time_t seconds = time / 1000;
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", &utc);
  return text;
}

std::string one_line(std::string_view text) {
  std::string line(text);
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return line;
}

void quote(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    out += end == 0 ? ">" : "> ";
    out += text.substr(0, end);
    out += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

// Reasoning at the beginning of an answer would vanish as an unknown HTML tag: it becomes a quotation.
void add_text(std::string& out, std::string_view text) {
  constexpr std::string_view open = "<think>", close = "</think>";
  text = trimmed(text);
  if (text.starts_with(open)) {
    const auto end = text.find(close);
    out += "*Reasoning*\n\n";
    quote(out, trimmed(text.substr(open.size(), std::min(end, text.size()) - open.size())));
    out += '\n';
    text = end == std::string_view::npos ? std::string_view() : trimmed(text.substr(end + close.size()));
  }
  out += text;
  out += '\n';
}

std::string heading_of(const Message& m) {
  switch (m.role) {
    case Role::system:
      return "System";
    case Role::user:
      return "You";
    case Role::tool:
      return "Tool";
    case Role::assistant:
      break;
  }
  return m.origin.model.empty() ? "Answer" : "Answer (" + one_line(m.origin.model) + ")";
}

}  // namespace

std::string to_markdown(const Branch& branch) {
  const Conversation& c = branch.conversation;
  std::string out = "# " + (c.title.empty() ? "Conversation" : one_line(c.title)) + "\n\n";
  if (c.created_at > 0) out += "*" + date_of(c.created_at) + "*\n\n";
  if (!c.system_prompt.empty()) {
    out += "## System\n\n";
    add_text(out, c.system_prompt);
    out += '\n';
  }
  for (const Message& m : branch.messages) {
    out += "## " + heading_of(m) + "\n\n";
    for (const Attachment& a : m.attachments) out += "Attached: " + one_line(a.name) + "\n\n";
    add_text(out, m.text);
    if (m.state == MessageState::stopped || m.state == MessageState::partial) out += "\n*(not finished)*\n";
    if (m.state == MessageState::failed)
      out += "\n*(failed" + (m.note.empty() ? "" : ": " + one_line(m.note)) + ")*\n";
    out += '\n';
  }
  out.pop_back();
  return out;
}

}  // namespace fovea::app::history
