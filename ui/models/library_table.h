// The models on this computer as a table. Sorting and filtering are a proxy's.
#pragma once

#include <QAbstractTableModel>
#include <vector>

#include "ui/models/model_rows.h"

namespace fovea::ui {

class LibraryTable : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { name, fit, size, quantization, experts, context, columns };
  enum Role { sort_role = Qt::UserRole, filter_role };

  using QAbstractTableModel::QAbstractTableModel;

  // Rows that stay keep their place and their selection.
  void set_rows(const std::vector<LibraryRow>& rows);
  void set_row(const LibraryRow& row);  // by its path; an unknown one is left out
  const LibraryRow& row(int index) const { return rows_[static_cast<std::size_t>(index)]; }
  int index_of(const QString& path) const;  // -1: not there

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  QString text(const LibraryRow& row, int column) const;
  static QString about(const LibraryRow& row);  // its shape, in a line
  QVariant sort_value(const LibraryRow& row, int column) const;

  std::vector<LibraryRow> rows_;
};

}  // namespace fovea::ui
