// Models that Fovea knows, each on a card: what it is good at, its size, whether it fits, and a button.
#pragma once

#include <QWidget>
#include <vector>

#include "ui/models/model_rows.h"

class QLabel;
class QVBoxLayout;

namespace fovea::ui {

class CatalogueCard;

class CatalogueList : public QWidget {
  Q_OBJECT

 public:
  explicit CatalogueList(QWidget* parent = nullptr);
  // In this order, with a heading where those that do not fit begin.
  void set_rows(const std::vector<CatalogueRow>& rows);
  void set_filter(const QString& text);
  void set_offline(bool offline);  // nothing can be downloaded
  void set_main(bool is_main);     // the first that fits has the page's filled button
  bool has_rows() const { return !rows_.empty(); }
  int shown_count() const;  // after the filter

 Q_SIGNALS:
  void downloadRequested(const QString& id);
  void openRequested(const QString& path);

 private:
  void build();
  void filter();

  std::vector<CatalogueRow> rows_;
  std::vector<CatalogueCard*> cards_;
  QString filter_;
  bool offline_ = false, is_main_ = true;
  QVBoxLayout* layout_;
  QLabel* fitting_;  // the headings
  QLabel* too_large_;
};

}  // namespace fovea::ui
