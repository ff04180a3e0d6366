// The map's data as a table, for reading, sorting and screen readers.
#pragma once

#include <QAbstractTableModel>
#include <vector>

#include "ui/live/live_data.h"
#include "ui/live/data/map_frame.h"

namespace fovea::ui {

class ExpertTable : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { layer, expert, tier, target, hotness, tokens, last_change, why, columns };

  using QAbstractTableModel::QAbstractTableModel;

  void set_model(const ShownModel& model);
  // Copies what it shows; `changes`: each unit's last. The order of the rows stays until they are sorted
  // again.
  void show(const SnapshotNumbers& numbers, const MapFrame& frame, std::vector<UnitChange> changes);
  std::int64_t unit_at(int row) const;
  int row_of(std::int64_t unit) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  void sort(int column, Qt::SortOrder order) override;

 private:
  QString text(std::int64_t unit, int column) const;
  double key(std::int64_t unit, int column) const;
  void sort_rows();

  ShownModel model_;
  MapFrame frame_;
  SnapshotNumbers numbers_;
  std::vector<UnitChange> last_;  // [units]
  std::vector<std::int64_t> unit_of_row_;
  int sorted_by_ = layer;
  Qt::SortOrder order_ = Qt::AscendingOrder;
};

}  // namespace fovea::ui
