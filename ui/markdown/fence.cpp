#include "ui/markdown/fence.h"

namespace fovea::ui {
namespace {

int indent_of(QStringView line) {
  int columns = 0;
  for (const QChar c : line) {
    if (c == QLatin1Char('\t')) {
      columns += 4 - columns % 4;
    } else if (c == QLatin1Char(' ')) {
      ++columns;
    } else {
      break;
    }
  }
  return columns;
}

// The line behind the markers of lists and quotes that it begins with.
QStringView behind_markers(QStringView line, bool& any) {
  for (;;) {
    line = line.trimmed();
    if (line.isEmpty()) return line;
    qsizetype marker = 0;
    if (line[0] == QLatin1Char('>')) {
      marker = 1;
    } else if ((line[0] == QLatin1Char('-') || line[0] == QLatin1Char('*') || line[0] == QLatin1Char('+')) &&
               (line.size() == 1 || line[1].isSpace())) {
      marker = 2;
    } else {
      qsizetype digits = 0;
      while (digits < line.size() && digits < 9 && line[digits].isDigit()) ++digits;
      if (digits > 0 && digits < line.size() &&
          (line[digits] == QLatin1Char('.') || line[digits] == QLatin1Char(')')) &&
          (digits + 1 == line.size() || line[digits + 1].isSpace())) {
        marker = digits + 1;
      }
    }
    if (marker == 0) return line;
    any = true;
    line = line.sliced(marker);
  }
}

// Length of the run of fence characters that the line begins with; 0 if it is no fence.
int fence_length(QStringView line, QChar& mark) {
  if (line.isEmpty() || (line[0] != QLatin1Char('`') && line[0] != QLatin1Char('~'))) return 0;
  mark = line[0];
  int length = 0;
  while (length < line.size() && line[length] == mark) ++length;
  return length >= 3 ? length : 0;
}

// Text at the margin that no list or quote above can hold, however its line goes on.
bool at_margin(QStringView line) {
  const QChar first = line[0];
  if (first.isSpace() || first.isDigit() || first == QLatin1Char('>')) return false;
  if (!QStringLiteral("-*+").contains(first)) return true;
  return line.size() > 1 && !line[1].isSpace();
}

}  // namespace

bool FenceTracker::feed(QStringView line) {
  const int indent = indent_of(line);
  const bool empty = line.trimmed().isEmpty();
  boundary_ = false;
  if (line.contains(u"]:")) {
    if (length_ > 0) suspected_label_ = suspected_label_ || fence_in_list_;
    if (!certain_) may_define_links_ = true;
  }
  if (length_ > 0) {
    after_empty_ = false;
    return feed_inside(line, indent);
  }
  if (empty) {
    after_empty_ = true;
    label_ = false;
    return false;
  }
  boundary_ = certain_ && after_empty_ && at_margin(line);
  after_empty_ = false;
  if (boundary_) in_list_ = false;
  bool marker = false;
  const QStringView text = behind_markers(line, marker);
  if (marker) in_list_ = true;
  if (text.startsWith(QLatin1Char('['))) label_ = true;
  if (label_ && line.contains(u"]:")) may_define_links_ = true;

  QChar mark;
  const int length = fence_length(text, mark);
  if (length == 0 || (indent > 3 && !in_list_)) return false;
  if (mark == QLatin1Char('`') && text.sliced(length).contains(QLatin1Char('`'))) return false;
  length_ = length;
  mark_ = mark;
  fence_indent_ = indent;
  fence_in_list_ = in_list_ && indent > 0;
  label_ = false;
  if (marker) lose_certainty();
  return true;
}

bool FenceTracker::feed_inside(QStringView line, int indent) {
  const QStringView trimmed = line.trimmed();
  // At the margin the code of a list has ended, but not code that only stands a little to the right.
  if (fence_in_list_ && indent == 0 && !trimmed.isEmpty()) lose_certainty();
  QChar mark;
  const int length = fence_length(trimmed, mark);
  if (length < length_ || mark != mark_ || trimmed.size() != length) return true;
  if (!fence_in_list_ && indent > 3) return true;
  if ((indent > 3) != (fence_indent_ > 3)) lose_certainty();
  length_ = 0;
  return true;
}

void FenceTracker::lose_certainty() {
  certain_ = false;
  may_define_links_ = may_define_links_ || suspected_label_;
}

}  // namespace fovea::ui
