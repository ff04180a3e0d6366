#include "ui/models/table_look.h"

#include <QEvent>
#include <QHeaderView>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QTableView>
#include <utility>

#include "ui/theme/tint.h"
#include "ui/theme/tokens.h"

namespace fovea::ui {
namespace {

// Room at both sides of a cell's text, so that a number does not touch the words beside it.
class Cell : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    QStyleOptionViewItem cell = option;
    initStyleOption(&cell, index);
    const QString text = std::exchange(cell.text, QString());
    const QStyle* style = cell.widget->style();
    style->drawControl(QStyle::CE_ItemViewItem, &cell, painter, cell.widget);  // the whole background
    cell.text = text;
    const int room = cell.fontMetrics.averageCharWidth() / 2;
    cell.rect.adjust(room, 0, -room, 0);
    style->drawControl(QStyle::CE_ItemViewItem, &cell, painter, cell.widget);
  }
};

// A row's part of its card, with up to two lines.
class CardCell : public QStyledItemDelegate {
 public:
  explicit CardCell(QTableView& view) : QStyledItemDelegate(&view), view_(view) {}

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    QStyleOptionViewItem cell = option;
    initStyleOption(&cell, index);
    const QPalette& palette = view_.palette();
    const Tones& t = tones(palette);
    const bool is_chosen = option.state.testFlag(QStyle::State_Selected);
    painter->save();
    painter->setClipRect(option.rect);
    painter->setRenderHint(QPainter::Antialiasing);
    const bool has_focus = is_chosen && view_.hasFocus();
    const qreal line = has_focus ? focus_width : 1;
    painter->setPen(QPen(has_focus ? t.accent : t.line, line));
    painter->setBrush(is_chosen || option.state.testFlag(QStyle::State_MouseOver) ? t.hover : t.card);
    const QRectF card(0.5 * line, option.rect.top() + card_gap / 2.0, view_.viewport()->width() - line,
                      option.rect.height() - card_gap);
    painter->drawRoundedRect(card, radius::card, radius::card);
    const bool is_number = cell.displayAlignment.testFlag(Qt::AlignRight);
    QRect text = option.rect.adjusted(space::usual, card_gap / 2, is_number ? -space::usual : -space::tight,
                                      -card_gap / 2);
    const QString below = index.data(second_line_role).toString();
    QFont strong = cell.font;
    if (!below.isEmpty()) strong.setWeight(QFont::DemiBold);
    const QFontMetrics metrics(strong);
    const QFont small = type_of(cell.font, Type::label);
    const QFontMetrics below_metrics(small);
    if (!below.isEmpty()) {
      const int both = metrics.height() + 2 + below_metrics.height();
      text.setTop(text.center().y() - both / 2);
      text.setHeight(both);
    }
    const auto write = [&](const QFont& font, const QColor& colour, const QString& words,
                           Qt::Alignment where) {
      painter->setFont(font);
      painter->setPen(colour);
      painter->drawText(text, static_cast<int>(where) | Qt::TextSingleLine,
                        QFontMetrics(font).elidedText(words, view_.textElideMode(), text.width()));
    };
    const auto colour = index.data(Qt::ForegroundRole);
    const Qt::Alignment side = cell.displayAlignment & Qt::AlignHorizontal_Mask;
    write(strong, colour.isValid() ? colour.value<QBrush>().color() : t.text, cell.text,
          side | (below.isEmpty() ? Qt::AlignVCenter : Qt::AlignTop));
    if (!below.isEmpty()) write(small, t.second, below, side | Qt::AlignBottom);
    painter->restore();
  }
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    QSize size = QStyledItemDelegate::sizeHint(option, index);
    return size.grownBy({space::usual, 0, space::usual, 0});
  }

  static constexpr int card_gap = space::tight;

 private:
  QTableView& view_;
};

class RestGiver : public QObject {
 public:
  RestGiver(QTableView& view, int column, int least)
      : QObject(&view), view_(view), column_(column), least_(least) {
    view.viewport()->installEventFilter(this);
  }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override {
    if (event->type() == QEvent::Resize) {
      QHeaderView* header = view_.horizontalHeader();
      const int others = header->length() - header->sectionSize(column_);
      header->resizeSection(column_, qMax(least_, view_.viewport()->width() - others));
    }
    return QObject::eventFilter(watched, event);
  }

 private:
  QTableView& view_;
  int column_, least_;
};

}  // namespace

void apply_table_look(QTableView& view) {
  view.setItemDelegate(new Cell(&view));
  view.setSelectionBehavior(QAbstractItemView::SelectRows);
  view.setSelectionMode(QAbstractItemView::SingleSelection);
  view.setEditTriggers(QAbstractItemView::NoEditTriggers);
  view.setShowGrid(false);
  view.setWordWrap(false);
  view.setTextElideMode(Qt::ElideMiddle);  // names differ at their ends
  view.setTabKeyNavigation(false);         // Tab leaves the table
  view.setCornerButtonEnabled(false);
  view.setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  view.setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  view.verticalHeader()->hide();
  view.verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  view.verticalHeader()->setDefaultSectionSize(view.fontMetrics().height() * 9 / 5);
  view.horizontalHeader()->setHighlightSections(false);
  view.horizontalHeader()->setSectionsMovable(false);
}

void apply_card_look(QTableView& view) {
  apply_table_look(view);
  view.setItemDelegate(new CardCell(view));
  view.setMouseTracking(true);
  tint(view, QPalette::Highlight, [](const QPalette&) { return QColor(Qt::transparent); });
  view.setFrameShape(QFrame::NoFrame);
  view.viewport()->setAutoFillBackground(false);
  const QFontMetrics small(type_of(view.font(), Type::label));
  view.verticalHeader()->setDefaultSectionSize(view.fontMetrics().height() + small.height() + 2 +
                                               2 * space::close + CardCell::card_gap);
}

int size_column_width(const QTableView& view) {
  QFontMetrics metrics = view.fontMetrics();
  return metrics.horizontalAdvance(QStringLiteral("888.8 MB")) + 4 * metrics.averageCharWidth();
}

void give_rest_to(QTableView& view, int column, int least) {
  new RestGiver(view, column, least);
}

}  // namespace fovea::ui
