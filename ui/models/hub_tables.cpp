#include "ui/models/hub_tables.h"

#include <QApplication>
#include <QLocale>

#include "ui/language/number_text.h"
#include "ui/theme/fit.h"
#include "ui/theme/theme.h"

namespace fovea::ui {
namespace {

// "1.2 M" of downloads: only the order of magnitude matters.
QString short_count(qint64 count) {
  const QLocale locale;
  if (count >= 1'000'000)
    return RepositoryTable::tr("%1 M").arg(locale.toString(double(count) / 1e6, 'f', 1));
  if (count >= 1000) return RepositoryTable::tr("%1 k").arg(locale.toString(double(count) / 1e3, 'f', 0));
  return locale.toString(count);
}

}  // namespace

// --- repositories

void RepositoryTable::set_rows(const std::vector<RepositoryRow>& rows) {
  beginResetModel();
  rows_ = rows;
  endResetModel();
}

int RepositoryTable::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int RepositoryTable::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(columns);
}

QVariant RepositoryTable::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount() || index.column() >= columns) return {};
  const RepositoryRow& row = this->row(index.row());
  const int column = index.column();
  switch (role) {
    case Qt::DisplayRole:
      if (column == downloads) return short_count(row.downloads);
      if (column == likes) return short_count(row.likes);
      return row.gated ? tr("%1 (terms)").arg(row.id) : row.id;
    case Qt::ToolTipRole:
      if (column != name) return {};
      return row.gated ? tr("%1\nIts terms must be accepted on the hub's page first, and a token is needed.")
                             .arg(row.id)
                       : row.id;
    case Qt::TextAlignmentRole:
      return column == name ? QVariant() : QVariant(Qt::AlignRight | Qt::AlignVCenter);
    case Qt::AccessibleTextRole:
      if (column == downloads) return tr("%1 downloads").arg(row.downloads);
      if (column == likes) return tr("%1 likes").arg(row.likes);
      return row.gated ? tr("%1, terms must be accepted").arg(row.id) : row.id;
    default:
      return {};
  }
}

QVariant RepositoryTable::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columns) return {};
  if (role == Qt::TextAlignmentRole)
    return QVariant((section == name ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
  if (role != Qt::DisplayRole) return {};
  const QString names[] = {tr("Repository"), tr("Downloads"), tr("Likes")};
  return names[section];
}

// --- versions

void VersionTable::set_rows(const std::vector<VersionRow>& rows) {
  beginResetModel();
  rows_ = rows;
  endResetModel();
}

int VersionTable::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int VersionTable::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(columns);
}

QString VersionTable::text(const VersionRow& row, int column) const {
  switch (column) {
    case name:
      return row.quantization.isEmpty() ? row.name : row.quantization;
    case size:
      return bytes_text(row.bytes);
    case fit:
      if (!row.is_complete) return tr("A part is missing on the hub");
      return row.fit_text;
    default:
      return {};
  }
}

QVariant VersionTable::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount() || index.column() >= columns) return {};
  const VersionRow& row = this->row(index.row());
  const int column = index.column();
  switch (role) {
    case Qt::DisplayRole:
      return text(row, column);
    case Qt::ToolTipRole:
      if (column == fit) return row.fit_why;
      return row.files > 1 ? tr("%1, %n file(s)", nullptr, row.files).arg(row.name) : row.name;
    case Qt::TextAlignmentRole:
      return column == size ? QVariant(Qt::AlignRight | Qt::AlignVCenter) : QVariant();
    case Qt::ForegroundRole:
      if (column != fit) return {};
      return row.is_complete ? fit_colour(row.fit, qApp->palette()) : error_text(qApp->palette());
    case Qt::DecorationRole:
      if (const auto mark = fit_glyph(row.fit); column == fit && row.is_complete && mark)
        return icon_in(*mark,
                       [kind = row.fit](const QPalette& palette) { return fit_colour(kind, palette); });
      return {};
    case Qt::AccessibleTextRole:
      return text(row, column);
    default:
      return {};
  }
}

QVariant VersionTable::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columns) return {};
  if (role == Qt::TextAlignmentRole)
    return QVariant((section == size ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  if (role == Qt::ToolTipRole && section == name)
    return tr("How the weights are stored: fewer bits take less room and are less exact");
  if (role != Qt::DisplayRole) return {};
  const QString names[] = {tr("Version"), tr("Size"), tr("Fit")};
  return names[section];
}

}  // namespace fovea::ui
