#include "ui/models/library_table.h"

#include <QApplication>
#include <algorithm>

#include "ui/language/number_text.h"
#include "ui/models/fit_style.h"
#include "ui/models/table_look.h"
#include "ui/theme/theme.h"

namespace fovea::ui {

void LibraryTable::set_rows(const std::vector<LibraryRow>& rows) {
  const auto is_there = [](const std::vector<LibraryRow>& list, const QString& path) {
    return std::ranges::find(list, path, &LibraryRow::path) != list.end();
  };
  for (int i = rowCount() - 1; i >= 0; --i) {
    if (is_there(rows, row(i).path)) continue;
    beginRemoveRows({}, i, i);
    rows_.erase(rows_.begin() + i);
    endRemoveRows();
  }
  for (const LibraryRow& fresh : rows) {
    if (is_there(rows_, fresh.path)) {
      set_row(fresh);
      continue;
    }
    beginInsertRows({}, rowCount(), rowCount());
    rows_.push_back(fresh);
    endInsertRows();
  }
}

void LibraryTable::set_row(const LibraryRow& fresh) {
  const int at = index_of(fresh.path);
  if (at < 0 || row(at) == fresh) return;
  rows_[static_cast<std::size_t>(at)] = fresh;
  Q_EMIT dataChanged(index(at, 0), index(at, columns - 1));
}

int LibraryTable::index_of(const QString& path) const {
  const auto found = std::ranges::find(rows_, path, &LibraryRow::path);
  return found == rows_.end() ? -1 : static_cast<int>(found - rows_.begin());
}

int LibraryTable::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int LibraryTable::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(columns);
}

QString LibraryTable::text(const LibraryRow& row, int column) const {
  if (column == name) return row.is_open ? tr("%1 (open)").arg(row.name) : row.name;
  if (column == size) return bytes_text(row.bytes);
  if (column == fit) {
    if (!row.error.isEmpty()) return tr("Cannot be opened");
    if (row.fit == FitView::unknown) return row.is_read ? tr("Not known") : tr("Looking…");
    return QStringLiteral("%1  %2").arg(fit_mark(row.fit), row.fit_text);
  }
  if (!row.is_read || !row.error.isEmpty()) return {};
  switch (column) {
    case quantization:
      return row.quantization;
    case experts:
      return row.experts > 0 ? tr("%1 of %2").arg(row.experts_used).arg(row.experts) : tr("none");
    case context:
      return count_text(row.context);
    default:
      return {};
  }
}

QString LibraryTable::about(const LibraryRow& row) {
  if (!row.is_read || !row.error.isEmpty()) return {};
  if (row.experts == 0) return tr("Each token uses all of it");
  return tr("%1 experts in %n layer(s), %2 for each token", nullptr, row.layers)
      .arg(row.experts)
      .arg(row.experts_used);
}

QVariant LibraryTable::sort_value(const LibraryRow& row, int column) const {
  switch (column) {
    case size:
      return row.bytes;
    case experts:
      return row.experts;
    case context:
      return row.context;
    case fit:
      return row.error.isEmpty() ? static_cast<int>(row.fit) : static_cast<int>(FitView::does_not_fit) + 1;
    default:
      return text(row, column);
  }
}

QVariant LibraryTable::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount() || index.column() >= columns) return {};
  const LibraryRow& row = this->row(index.row());
  const int column = index.column();
  switch (role) {
    case Qt::DisplayRole:
      return text(row, column);
    case sort_role:
      return sort_value(row, column);
    case filter_role:
      return QString(row.name + QLatin1Char(' ') + row.architecture + QLatin1Char(' ') + row.quantization);
    case second_line_role:
      return column == name ? about(row) : QString();
    case Qt::ToolTipRole:
      if (!row.error.isEmpty()) return row.error;
      if (column == fit) return row.fit_why;
      return column == name ? row.path : QVariant();
    case Qt::TextAlignmentRole:
      if (column == size || column == context) return QVariant(Qt::AlignRight | Qt::AlignVCenter);
      return {};
    case Qt::ForegroundRole:
      if (!row.error.isEmpty()) {
        return column == fit ? error_text(qApp->palette()) : subtle_text(qApp->palette());
      }
      if (column == fit) return fit_colour(row.fit, qApp->palette());
      return {};
    case Qt::AccessibleTextRole:
      return tr("%1: %2").arg(headerData(column, Qt::Horizontal, Qt::DisplayRole).toString(),
                              column == fit && row.error.isEmpty() ? row.fit_text : text(row, column));
    default:
      return {};
  }
}

QVariant LibraryTable::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columns) return {};
  if (role == Qt::TextAlignmentRole) {
    const bool is_number = section == size || section == context;
    return QVariant((is_number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  }
  if (role == Qt::ToolTipRole) {
    if (section == fit) return tr("Whether it fits into the memory that is free for a model now");
    if (section == experts) return tr("Experts used by each token, out of those in each layer");
    if (section == context) return tr("The longest conversation that the model was trained for, in tokens");
    if (section == quantization) return tr("The formats in which most of its weights are stored");
    return {};
  }
  if (role != Qt::DisplayRole) return {};
  const QString names[] = {tr("Name"), tr("Fit"), tr("Size"), tr("Format"), tr("Experts"), tr("Context")};
  return names[section];
}

}  // namespace fovea::ui
