// Selecting, copying and searching in the transcript.
#include <QClipboard>
#include <QGuiApplication>
#include <QScrollBar>
#include <algorithm>

#include "ui/chat/find_bar.h"
#include "ui/chat/transcript_view.h"

namespace fovea::ui {
namespace {

constexpr std::size_t kMaxMatches = 10'000;

}  // namespace

TextRange TranscriptView::selection_in(int message) const {
  if (!has_selection()) return {};
  const TextPosition begin = selection_begin();
  const TextPosition end = selection_end();
  if (message < begin.message || message > end.message) return {};
  const int length = static_cast<int>(conversation_.at(message).text().size());
  return {message == begin.message ? begin.offset : 0,
          message == end.message ? std::min(end.offset, length) : length};
}

QString TranscriptView::selected_text() const {
  QStringList parts;
  if (!has_selection()) return {};
  for (int m = selection_begin().message; m <= selection_end().message; ++m) {
    const TextRange range = selection_in(m);
    if (!range.empty()) parts += conversation_.at(m).text().mid(range.begin, range.end - range.begin);
  }
  return parts.join(QStringLiteral("\n\n"));
}

QString TranscriptView::selected_markdown() const {
  QStringList parts;
  if (!has_selection()) return {};
  for (int m = selection_begin().message; m <= selection_end().message; ++m) {
    const TextRange range = selection_in(m);
    if (!range.empty()) parts += conversation_.at(m).markdown(range).trimmed();
  }
  return parts.join(QStringLiteral("\n\n"));
}

void TranscriptView::copy_selection() {
  if (has_selection()) QGuiApplication::clipboard()->setText(selected_text());
}

void TranscriptView::copy_selection_as_markdown() {
  if (has_selection()) QGuiApplication::clipboard()->setText(selected_markdown());
}

void TranscriptView::select(TextPosition from, TextPosition to) {
  anchor_ = from;
  cursor_ = to;
  if (has_selection() && QGuiApplication::clipboard()->supportsSelection()) {
    QGuiApplication::clipboard()->setText(selected_text(), QClipboard::Selection);
  }
  viewport()->update();
}

void TranscriptView::select_all() {
  const int last = conversation_.count() - 1;
  if (last < 0) return;
  select({0, 0}, {last, static_cast<int>(conversation_.at(last).text().size())});
}

void TranscriptView::clear_selection() {
  anchor_ = cursor_ = {};
  viewport()->update();
}

// After messages came or went, their numbers mean others.
void TranscriptView::drop_positions() {
  clear_selection();
  hovered_ = pressed_ = focused_ = -1;
  hovered_control_.reset();
  pressed_control_.reset();
  focused_control_.reset();
  selecting_ = false;
  found_.clear();
  found_current_ = -1;
  if (find_bar_->isVisible()) search_timer_.start();
}

// --- search

void TranscriptView::open_find() {
  place_find_bar();
  const QString selected = selected_text();
  find_bar_->start(selected.contains(QLatin1Char('\n')) || selected.size() > 100 ? QString() : selected);
}

void TranscriptView::place_find_bar() {
  const int gap = fontMetrics().height() / 2;
  const int width = std::min(find_bar_->sizeHint().width(), viewport()->width() - 2 * gap);
  find_bar_->setGeometry(viewport()->width() - width - gap, gap, width, find_bar_->sizeHint().height());
}

void TranscriptView::find_in(int message, const QString& wanted) {
  const QString& text = conversation_.at(message).text();
  for (qsizetype at = text.indexOf(wanted, 0, Qt::CaseInsensitive); at >= 0;
       at = text.indexOf(wanted, at + wanted.size(), Qt::CaseInsensitive)) {
    found_.push_back({message, {static_cast<int>(at), static_cast<int>(at + wanted.size())}});
  }
}

void TranscriptView::show_found(MessageId id, const QStringList& words) {
  const int index = conversation_.index_of(id);
  if (index < 0) return;
  found_.clear();
  for (const QString& word : words) find_in(index, word);
  std::ranges::sort(found_, {},
                    [](const Found& found) { return std::pair(found.range.begin, -found.range.end); });
  const auto [overlapping, end] =
      std::ranges::unique(found_, [](const Found& a, const Found& b) { return b.range.begin < a.range.end; });
  found_.erase(overlapping, end);
  if (found_.empty()) {
    found_current_ = -1;
    scroll_to_message(id);
  } else {
    show_match(0);
  }
}

void TranscriptView::search() {
  const QString wanted = find_bar_->isVisible() ? find_bar_->text() : QString();
  const TextPosition before = found_current_ >= 0 && found_current_ < static_cast<int>(found_.size())
                                  ? TextPosition{found_[static_cast<std::size_t>(found_current_)].message,
                                                 found_[static_cast<std::size_t>(found_current_)].range.begin}
                                  : position_at({0, 0});
  found_.clear();
  found_current_ = -1;
  for (int m = 0; !wanted.isEmpty() && m < conversation_.count() && found_.size() < kMaxMatches; ++m) {
    const bool kept = conversation_.at(m).has_blocks();
    find_in(m, wanted);
    if (!kept) conversation_.at(m).forget_all();
  }
  if (found_.empty()) {
    find_bar_->show_count(-1, 0);
    viewport()->update();
    return;
  }
  show_match(first_match_from(before));
}

QStringList TranscriptView::found_text() const {
  QStringList texts;
  for (const auto& [message, range] : found_)
    texts += conversation_.at(message).text().mid(range.begin, range.end - range.begin);
  return texts;
}

int TranscriptView::first_match_from(TextPosition position) const {
  const auto next = std::ranges::lower_bound(found_, position, {}, [](const Found& found) {
    return TextPosition{found.message, found.range.begin};
  });
  return next == found_.end() ? 0 : static_cast<int>(next - found_.begin());
}

void TranscriptView::show_match(int index) {
  found_current_ = index;
  find_bar_->show_count(index, static_cast<int>(found_.size()));
  const Found& found = found_[static_cast<std::size_t>(index)];
  show_text({found.message, found.range.begin});
  viewport()->update();
}

void TranscriptView::show_text(TextPosition place) {
  const int covered = find_bar_->isVisible() ? find_bar_->geometry().bottom() : 0;
  // The first look may be at an estimate; when the place is laid out it is known exactly.
  for (int look = 0; look < 3; ++look) {
    const QRect rect = rect_of_text(place);
    const int third = viewport()->height() / 3;
    if (rect.top() >= covered && rect.bottom() < viewport()->height() - third / 4) break;
    verticalScrollBar()->setValue(verticalScrollBar()->value() + rect.top() - third);
  }
}

void TranscriptView::find_next() {
  if (search_timer_.isActive()) {
    search_timer_.stop();
    search();
  } else if (!found_.empty()) {
    show_match((found_current_ + 1) % static_cast<int>(found_.size()));
  }
}

void TranscriptView::find_previous() {
  if (search_timer_.isActive()) {
    search_timer_.stop();
    search();
  } else if (!found_.empty()) {
    const int total = static_cast<int>(found_.size());
    show_match((found_current_ + total - 1) % total);
  }
}

}  // namespace fovea::ui
