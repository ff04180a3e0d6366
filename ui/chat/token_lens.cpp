#include "ui/chat/token_lens.h"

#include <QAccessible>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <algorithm>

#include "ui/chat/screen_reader.h"
#include "ui/chat/token_card.h"
#include "ui/chat/transcript_view.h"
#include "ui/theme/tokens.h"

namespace fovea::ui {
namespace {

constexpr double kLeastLowShare = 0.25;  // of the work: less is not worth a line

}  // namespace

TokenLens::TokenLens(TranscriptView& view)
    : QObject(&view), view_(view), card_(new TokenCard(view.viewport())) {
  view.installEventFilter(this);
  view.viewport()->installEventFilter(this);
  connect(view.verticalScrollBar(), &QScrollBar::valueChanged, this, &TokenLens::place_card);
  connect(&view, &TranscriptView::messagesChanged, this, [this] {
    if (current_ && view_.conversation().index_of(current_->message) < 0) set_current(std::nullopt);
    place_card();
  });
  connect(card_, &TokenCard::left, this, &TokenLens::leave_card);
  connect(card_, &TokenCard::choiceWanted, this, [this](int choice) {
    const std::optional<TokenRef> token = current_;
    leave_card();
    set_current(std::nullopt);
    if (token) Q_EMIT choiceWanted(*token, choice);
  });
}

void TokenLens::set_source(TokenSource* source) {
  if (source_) source_->disconnect(this);
  source_ = source;
  set_current(std::nullopt);
  if (!source) return;
  connect(source, &TokenSource::tokensChanged, this, [this] {
    if (marks_low_ || !marked_.empty()) view_.viewport()->update();
  });
}

void TokenLens::set_on(bool on) {
  if (on == on_) return;
  on_ = on;
  set_current(std::nullopt);
  if (on) view_.setFocus(Qt::OtherFocusReason);
  Q_EMIT switched(on);
}

void TokenLens::set_marks_low(bool on) {
  marks_low_ = on;
  view_.viewport()->update();
}

void TokenLens::set_marked(std::vector<TokenRef> marked) {
  std::ranges::sort(marked);
  if (marked == marked_) return;
  marked_ = std::move(marked);
  view_.viewport()->update();
}

// --- where tokens are

std::vector<TokenPlace> TokenLens::places_of(int message) const {
  if (!source_ || message < 0 || message >= view_.conversation().count()) return {};
  const MessageView& view = view_.conversation().at(message).view();
  return source_->tokens_of(view.id, view.text);
}

std::vector<QRectF> TokenLens::areas_of(TokenRef token) {
  const int message = view_.conversation().index_of(token.message);
  for (const TokenPlace& place : places_of(message)) {
    if (place.number != token.number) continue;
    MessageLayout& layout = view_.conversation().at(message);
    std::vector<QRectF> areas =
        layout.areas_of(view_.conversation().frame(), layout.range_of_source(place.begin, place.end));
    for (QRectF& area : areas) area.translate(view_.origin_of(message));
    return areas;
  }
  return {};
}

// `is_text`: there is text of an answer, of which nothing may be kept.
std::optional<TokenRef> TokenLens::token_at(const QPoint& point, bool& is_text) const {
  is_text = false;
  const TextPosition position = view_.position_at(point);
  if (position.message < 0) return std::nullopt;
  MessageLayout& layout = view_.conversation().at(position.message);
  if (layout.view().author != Author::assistant) return std::nullopt;
  const QPointF local = QPointF(point) - view_.origin_of(position.message);
  const Frame& frame = view_.conversation().frame();
  // The nearest place is before or behind the character.
  for (const int offset : {position.offset, position.offset - 1}) {
    if (offset < 0 || offset >= layout.text().size()) continue;
    const auto areas = layout.areas_of(frame, {offset, offset + 1});
    if (!std::ranges::any_of(areas, [&](const QRectF& area) { return area.contains(local); })) continue;
    is_text = true;
    const int source = layout.source_places()[static_cast<std::size_t>(offset)];
    for (const TokenPlace& place : places_of(position.message))
      if (place.begin <= source && source < place.end) return TokenRef{layout.view().id, place.number};
  }
  return std::nullopt;
}

// --- pointing

void TokenLens::set_current(std::optional<TokenRef> token) {
  if (!token) {
    pinned_ = false;
    card_->hide();
  }
  if (token == current_) return;
  current_ = token;
  view_.viewport()->update();
  Q_EMIT currentChanged();
}

void TokenLens::point_at(const QPoint& point) {
  bool is_text = false;
  const std::optional<TokenRef> token = token_at(point, is_text);
  if (token && token == current_ && card_->isVisible()) return;
  // On the way to the card.
  if (!token && current_ &&
      card_->geometry().adjusted(-space::hair, -space::tight, space::hair, space::tight).contains(point))
    return;
  set_current(token);
  if (token) {
    card_->set_token(source_->token(token->message, token->number), source_->most_kept());
    show_card(areas_of(*token));
  } else if (is_text && source_) {
    card_->set_token(std::nullopt, source_->most_kept());
    show_card({QRectF(QPointF(point) - QPointF(0, view_.fontMetrics().height() / 2.0),
                      QSizeF(1, view_.fontMetrics().height()))});
  }
}

// Right below the token, so that the way to it leads over no other; above where there is no room.
void TokenLens::show_card(const std::vector<QRectF>& areas) {
  if (areas.empty()) return card_->hide();
  const QRectF token = areas.front();
  const QRect room =
      view_.viewport()->rect().adjusted(space::tight, space::tight, -space::tight, -space::tight);
  QRect place(QPoint(static_cast<int>(token.left()), static_cast<int>(token.bottom()) + 2), card_->size());
  if (place.bottom() > room.bottom()) place.moveBottom(static_cast<int>(token.top()) - 2);
  place.moveTop(std::max(place.top(), room.top()));
  place.moveLeft(std::clamp(place.left(), room.left(), std::max(room.left(), room.right() - place.width())));
  card_->move(place.topLeft());
  card_->show();
  card_->raise();
}

void TokenLens::place_card() {
  if (!card_->isVisible()) return;
  if (!current_) return card_->hide();
  show_card(areas_of(*current_));
}

void TokenLens::leave_card() {
  pinned_ = false;
  view_.setFocus(Qt::OtherFocusReason);
}

bool TokenLens::eventFilter(QObject* object, QEvent* event) {
  if (!on_) return false;
  if (object == view_.viewport()) {
    const auto mouse = [&] { return static_cast<QMouseEvent*>(event); };
    if (event->type() == QEvent::MouseMove && !pinned_ && mouse()->buttons() == Qt::NoButton) {
      point_at(mouse()->pos());
    } else if (event->type() == QEvent::MouseButtonRelease && !view_.has_selection()) {
      pinned_ = false;
      point_at(mouse()->pos());
      pinned_ = current_.has_value();
    } else if (event->type() == QEvent::Leave && !pinned_) {
      set_current(std::nullopt);
    }
    return false;
  }
  if (event->type() == QEvent::ShortcutOverride && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
    event->accept();
    return true;
  }
  return event->type() == QEvent::KeyPress && take_key(*static_cast<QKeyEvent*>(event));
}

// --- keys

bool TokenLens::take_key(const QKeyEvent& event) {
  if (event.modifiers() & (Qt::ShiftModifier | Qt::ControlModifier | Qt::AltModifier)) return false;
  switch (event.key()) {
    case Qt::Key_Left:
      move(-1);
      return true;
    case Qt::Key_Right:
      move(1);
      return true;
    case Qt::Key_Up:
    case Qt::Key_Down:
      if (!current_) return false;
      move_line(event.key() == Qt::Key_Down);
      return true;
    case Qt::Key_Home:
    case Qt::Key_End:
      if (!current_) return false;
      move_to_end(event.key() == Qt::Key_End);
      return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (!current_ || !card_->isVisible() || !card_->has_choices()) return false;
      pinned_ = true;
      card_->focus_choices();
      return true;
    case Qt::Key_Escape:
      set_on(false);
      return true;
    default:
      return false;
  }
}

// The first token that is seen of the lowest answer in view that has any.
std::optional<TokenRef> TokenLens::first_to_go_to() const {
  for (int message = view_.conversation().count() - 1; message >= 0; --message) {
    if (view_.rect_of_message(message).top() >= view_.viewport()->height()) continue;
    const auto places = places_of(message);
    if (!places.empty()) return TokenRef{view_.conversation().at(message).view().id, places.front().number};
  }
  return std::nullopt;
}

// Tokens that are folded away or only marks have no place to go to.
void TokenLens::move(int delta) {
  if (!current_) {
    if (const auto first = first_to_go_to()) go_to(*first);
    return;
  }
  for (int message = view_.conversation().index_of(current_->message);
       message >= 0 && message < view_.conversation().count(); message += delta) {
    const MessageId id = view_.conversation().at(message).view().id;
    std::vector<TokenPlace> places = places_of(message);
    if (delta < 0) std::ranges::reverse(places);
    for (const TokenPlace& place : places) {
      if (id == current_->message && (place.number - current_->number) * delta <= 0) continue;
      MessageLayout& layout = view_.conversation().at(message);
      if (!layout.range_of_source(place.begin, place.end).empty()) return go_to({id, place.number});
    }
  }
}

void TokenLens::move_line(bool down) {
  const auto areas = areas_of(*current_);
  if (areas.empty()) return;
  const QRectF from = areas.front();
  for (double gap = from.height() * 0.75; gap < 8 * from.height(); gap += from.height() / 3) {
    bool is_text = false;
    const QPoint point(static_cast<int>(from.center().x()),
                       static_cast<int>(from.center().y() + (down ? gap : -gap)));
    const std::optional<TokenRef> token = token_at(point, is_text);
    if (token && *token != *current_) return go_to(*token);
  }
  move(down ? 1 : -1);
}

void TokenLens::move_to_end(bool last) {
  const auto places = places_of(view_.conversation().index_of(current_->message));
  if (!places.empty()) go_to({current_->message, last ? places.back().number : places.front().number});
}

void TokenLens::go_to(TokenRef token) {
  const int message = view_.conversation().index_of(token.message);
  if (message < 0 || !source_) return;
  pinned_ = true;  // where the mouse rests says nothing
  set_current(token);
  for (const TokenPlace& place : places_of(message)) {
    if (place.number != token.number) continue;
    const TextRange range = view_.conversation().at(message).range_of_source(place.begin, place.end);
    if (!range.empty()) view_.show_text({message, range.begin});
  }
  card_->set_token(source_->token(token.message, token.number), source_->most_kept());
  show_card(areas_of(token));
  if (!screen_reader_listens()) return;
  QAccessibleEvent event(card_, QAccessible::Alert);
  tell_screen_reader(event);
}

void TokenLens::show_marked() {
  const auto in_sight = [&](TokenRef token) {
    return std::ranges::any_of(areas_of(token), [&](const QRectF& area) {
      return area.intersects(QRectF(view_.viewport()->rect()));
    });
  };
  if (marked_.empty() || std::ranges::any_of(marked_, in_sight)) return;
  const int message = view_.conversation().index_of(marked_.front().message);
  if (message < 0) return;
  for (const TokenPlace& place : places_of(message)) {
    if (place.number != marked_.front().number) continue;
    const TextRange range = view_.conversation().at(message).range_of_source(place.begin, place.end);
    if (!range.empty()) view_.show_text({message, range.begin});
  }
}

// --- painting

void TokenLens::paint(QPainter& painter, int message) {
  const MessageLayout& layout = view_.conversation().at(message);
  const MessageId id = layout.view().id;
  const bool has_current = current_ && current_->message == id;
  const auto marked = std::ranges::equal_range(marked_, id, {}, &TokenRef::message);
  if (!has_current && marked.empty() && !marks_low_) return;
  const Tones& tone = tones(view_.palette());
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  MessageLayout& own = view_.conversation().at(message);
  const QPointF origin = view_.origin_of(message);
  for (const TokenPlace& place : places_of(message)) {
    const bool is_current = has_current && current_->number == place.number;
    const bool is_marked = std::ranges::binary_search(marked, TokenRef{id, place.number});
    const bool is_low = marks_low_ && place.low_share >= kLeastLowShare;
    if (!is_current && !is_marked && !is_low) continue;
    for (const QRectF& line :
         own.areas_of(view_.conversation().frame(), own.range_of_source(place.begin, place.end))) {
      const QRectF area = line.translated(origin);
      if (is_marked) {
        QColor ground = tone.brand;
        ground.setAlphaF(0.28F);
        painter.setPen(Qt::NoPen);
        painter.setBrush(ground);
        painter.drawRoundedRect(area, 3, 3);
      }
      if (is_low) {
        QColor ink = tone.accent;
        ink.setAlphaF(static_cast<float>(0.35 + 0.65 * place.low_share));
        painter.fillRect(QRectF(area.left(), area.bottom() - 1, area.width(), 2), ink);
      }
      if (is_current) {
        painter.setPen(QPen(tone.accent, focus_width));
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(area.adjusted(-1, -1, 1, 1), 4, 4);
      }
    }
  }
  painter.restore();
}

}  // namespace fovea::ui
