#include "ui/wizard/model_list.h"

#include <QPainter>

#include "ui/theme/icons.h"
#include "ui/theme/theme.h"
#include "ui/theme/tokens.h"

namespace fovea::ui {
namespace {

qreal margin_of(const QFontMetrics& metrics) {
  return metrics.height() * 0.6;
}

}  // namespace

void ModelListModel::set_rows(std::vector<ModelRow> rows) {
  beginResetModel();
  rows_ = std::move(rows);
  endResetModel();
}

int ModelListModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

QVariant ModelListModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const ModelRow& model = row(index.row());
  switch (role) {
    case Qt::DisplayRole:
      return model.name;
    case Qt::ToolTipRole:
      return model.name + QLatin1Char('\n') + model.holds;
    case Qt::AccessibleTextRole:
      return QStringList{model.name, model.fit_text, model.place, model.good_at, model.holds}.join(
          QStringLiteral(". "));
    default:
      return {};
  }
}

Qt::ItemFlags ModelListModel::flags(const QModelIndex& index) const {
  if (!index.isValid()) return {};
  return Qt::ItemIsSelectable | Qt::ItemIsEnabled | Qt::ItemNeverHasChildren;
}

QSize ModelRowDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const {
  const QFontMetrics metrics(option.font);
  return {metrics.averageCharWidth() * 50, static_cast<int>(metrics.height() * 3.5 + 2 * margin_of(metrics))};
}

void ModelRowDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                             const QModelIndex& index) const {
  const auto* list = qobject_cast<const ModelListModel*>(index.model());
  if (!list) return;
  const ModelRow& model = list->row(index.row());
  const QPalette& palette = option.palette;
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing);
  const bool selected = option.state.testFlag(QStyle::State_Selected);
  if (selected || option.state.testFlag(QStyle::State_MouseOver))
    painter->fillRect(option.rect, selected ? user_bubble(palette) : hover_background(palette));
  if (selected)
    painter->fillRect(QRectF(option.rect.left(), option.rect.top(), 3, option.rect.height()),
                      palette.color(QPalette::Highlight));
  painter->setPen(hairline(palette));
  painter->drawLine(option.rect.bottomLeft(), option.rect.bottomRight());

  const QFontMetrics metrics(option.font);
  const qreal margin = margin_of(metrics), line = metrics.height() * 1.17;
  QRectF row(option.rect.left() + margin * 1.6, option.rect.top() + margin,
             option.rect.width() - margin * 3.2, line);
  const QColor text = model.usable ? palette.color(QPalette::Text) : subtle_text(palette);

  // A mark before the words, so that the kind of fit is not told by its colour alone.
  const QColor colour = fit_colour(model.fit, palette);
  const qreal words_width = metrics.horizontalAdvance(model.fit_text);
  const qreal fit_width = words_width + space::hair + icon_size;
  painter->setFont(option.font);
  painter->setPen(colour);
  painter->drawText(row, Qt::AlignRight | Qt::AlignVCenter, model.fit_text);
  if (const auto mark = fit_glyph(model.fit)) {
    paint_icon(*painter, *mark,
               QRectF(row.right() - fit_width, row.center().y() - icon_size / 2.0, icon_size, icon_size),
               colour);
  }
  QFont bold = option.font;
  bold.setBold(true);
  painter->setFont(bold);
  painter->setPen(text);
  painter->drawText(row, Qt::AlignLeft | Qt::AlignVCenter,
                    QFontMetrics(bold).elidedText(model.name, Qt::ElideMiddle,
                                                  static_cast<int>(row.width() - fit_width - 2 * margin)));
  painter->setFont(option.font);
  row.translate(0, line);
  const auto write = [&](const QString& words, const QColor& colour) {
    painter->setPen(colour);
    painter->drawText(row, Qt::AlignLeft | Qt::AlignVCenter,
                      metrics.elidedText(words, Qt::ElideRight, static_cast<int>(row.width())));
  };
  write(model.good_at, quiet_text(palette));
  row.translate(0, line);
  // What of it is cut where there is no room for both, the page behind shows.
  write(model.holds.isEmpty() ? model.place : model.place + QStringLiteral(" · ") + model.holds,
        subtle_text(palette));
  if (option.state.testFlag(QStyle::State_HasFocus)) {
    painter->setPen(QPen(palette.color(QPalette::Highlight), 1));
    painter->setBrush(Qt::NoBrush);
    painter->drawRect(QRectF(option.rect).adjusted(0.5, 0.5, -0.5, -0.5));
  }
  painter->restore();
}

}  // namespace fovea::ui
