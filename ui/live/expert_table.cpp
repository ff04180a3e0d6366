#include "ui/live/expert_table.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "ui/language/number_text.h"
#include "ui/live/expert_text.h"

namespace fovea::ui {

void ExpertTable::set_model(const ShownModel& model) {
  model_ = model;
  if (rowCount() > 0) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columns - 1));
}

void ExpertTable::show(const SnapshotNumbers& numbers, const MapFrame& frame,
                       std::vector<UnitChange> changes) {
  const bool other_shape = frame.layers != frame_.layers || frame.units_per_layer != frame_.units_per_layer;
  if (other_shape) beginResetModel();
  frame_ = frame;
  numbers_ = numbers;
  last_ = std::move(changes);
  if (other_shape) {
    unit_of_row_.resize(frame.size());
    std::iota(unit_of_row_.begin(), unit_of_row_.end(), 0);
    sort_rows();
    endResetModel();
  } else if (!unit_of_row_.empty()) {
    Q_EMIT dataChanged(index(0, tier), index(rowCount() - 1, columns - 1));
  }
}

std::int64_t ExpertTable::unit_at(int row) const {
  return row >= 0 && row < rowCount() ? unit_of_row_[static_cast<std::size_t>(row)] : -1;
}

int ExpertTable::row_of(std::int64_t unit) const {
  const auto found = std::ranges::find(unit_of_row_, unit);
  return found == unit_of_row_.end() ? -1 : static_cast<int>(found - unit_of_row_.begin());
}

int ExpertTable::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(unit_of_row_.size());
}

int ExpertTable::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : columns;
}

QString ExpertTable::text(std::int64_t unit, int column) const {
  const auto at = static_cast<std::size_t>(unit);
  const UnitChange& change = last_[at];
  switch (column) {
    case layer:
      return layer_text(model_, unit / frame_.units_per_layer);
    case expert:
      return QString::number(unit % frame_.units_per_layer);
    case tier:
      return tier_text(numbers_, frame_.tier[at]);
    case target:
      return frame_.target[at] == no_tier ? QString() : tier_text(numbers_, frame_.target[at]);
    case hotness:
      return frame_.hot_is_recent_use ? QString() : hotness_text(hotness_of(frame_.hot[at]));
    case tokens:
      return count_text(frame_.uses[at]);
    case last_change:
      return change.decision.unit < 0 ? QString() : ago_text(change.seconds_ago);
    case why:
      return change.decision.unit < 0 ? QString() : reason_text(model_, numbers_, change);
    default:
      return {};
  }
}

QVariant ExpertTable::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount() || index.column() >= columns) return {};
  if (role == Qt::DisplayRole || (role == Qt::ToolTipRole && index.column() == why))
    return text(unit_of_row_[static_cast<std::size_t>(index.row())], index.column());
  if (role == Qt::TextAlignmentRole && (index.column() == hotness || index.column() == tokens))
    return QVariant(Qt::AlignRight | Qt::AlignVCenter);
  return {};
}

QVariant ExpertTable::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole && (section == hotness || section == tokens))
    return QVariant(Qt::AlignRight | Qt::AlignVCenter);  // as the numbers below
  if (role != Qt::DisplayRole) return {};
  switch (section) {
    case layer:
      return tr("Layer");
    case expert:
      return tr("Expert");
    case tier:
      return tr("Precision");
    case target:
      return tr("On its way");
    case hotness:
      return tr("Hotness");
    case tokens:
      return tr("Tokens");
    case last_change:
      return tr("Last change");
    case why:
      return tr("Why");
    default:
      return {};
  }
}

double ExpertTable::key(std::int64_t unit, int column) const {
  const auto at = static_cast<std::size_t>(unit);
  switch (column) {
    case expert:
      return static_cast<double>(unit % frame_.units_per_layer);
    case tier:
      return frame_.tier[at];
    case target:
      return frame_.target[at];
    case hotness:
      return frame_.hot[at];
    case tokens:
      return frame_.uses[at];
    case last_change:
      return last_[at].decision.unit < 0 ? -std::numeric_limits<double>::infinity() : -last_[at].seconds_ago;
    case why:
      return last_[at].decision.unit < 0 ? -1 : static_cast<double>(last_[at].decision.reason);
    default:
      return static_cast<double>(unit);
  }
}

void ExpertTable::sort_rows() {
  std::vector<double> keys(frame_.size());
  for (std::size_t unit = 0; unit < keys.size(); ++unit)
    keys[unit] = key(static_cast<std::int64_t>(unit), sorted_by_);
  const bool rising = order_ == Qt::AscendingOrder;
  std::ranges::sort(unit_of_row_);
  std::ranges::stable_sort(unit_of_row_, [&](std::int64_t a, std::int64_t b) {
    const double x = keys[static_cast<std::size_t>(a)], y = keys[static_cast<std::size_t>(b)];
    return rising ? x < y : y < x;
  });
}

void ExpertTable::sort(int column, Qt::SortOrder order) {
  sorted_by_ = column;
  order_ = order;
  if (unit_of_row_.empty()) return;
  Q_EMIT layoutAboutToBeChanged({}, QAbstractItemModel::VerticalSortHint);
  const QModelIndexList old = persistentIndexList();
  std::vector<std::int64_t> units;
  for (const QModelIndex& each : old) units.push_back(unit_at(each.row()));
  sort_rows();
  std::vector<int> row_of_unit(unit_of_row_.size());
  for (int row = 0; row < rowCount(); ++row) row_of_unit[static_cast<std::size_t>(unit_at(row))] = row;
  QModelIndexList fresh;
  for (qsizetype i = 0; i < old.size(); ++i)
    fresh << index(row_of_unit[static_cast<std::size_t>(units[static_cast<std::size_t>(i)])],
                   old[i].column());
  changePersistentIndexList(old, fresh);
  Q_EMIT layoutChanged({}, QAbstractItemModel::VerticalSortHint);
}

}  // namespace fovea::ui
