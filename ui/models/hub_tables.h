// What the hub has, as tables: the repositories that a search found, and the versions in one of them.
#pragma once

#include <QAbstractTableModel>
#include <vector>

#include "ui/models/model_rows.h"

namespace fovea::ui {

class RepositoryTable : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { name, downloads, likes, columns };
  using QAbstractTableModel::QAbstractTableModel;

  void set_rows(const std::vector<RepositoryRow>& rows);
  const RepositoryRow& row(int index) const { return rows_[static_cast<std::size_t>(index)]; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  std::vector<RepositoryRow> rows_;
};

class VersionTable : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { name, size, fit, columns };
  using QAbstractTableModel::QAbstractTableModel;

  void set_rows(const std::vector<VersionRow>& rows);
  const VersionRow& row(int index) const { return rows_[static_cast<std::size_t>(index)]; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  QString text(const VersionRow& row, int column) const;
  std::vector<VersionRow> rows_;
};

}  // namespace fovea::ui
