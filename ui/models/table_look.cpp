#include "ui/models/table_look.h"

#include <QHeaderView>
#include <QStyledItemDelegate>
#include <QTableView>
#include <utility>

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

int size_column_width(const QTableView& view) {
  QFontMetrics metrics = view.fontMetrics();
  return metrics.horizontalAdvance(QStringLiteral("888.8 MB")) + 4 * metrics.averageCharWidth();
}

}  // namespace fovea::ui
