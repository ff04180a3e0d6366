// Where the device's bytes are: the whole budget as one bar, or each of two cards' as one, and each pool of
// the arena.
#pragma once

#include <QWidget>

#include "ui/live/live_data.h"

namespace fovea::ui {

class PoolsView : public QWidget {
  Q_OBJECT

 public:
  explicit PoolsView(QWidget* parent = nullptr);

  // The bar alone, slim.
  void set_brief(bool brief);
  void set_memory(const MemoryParts& memory, const SnapshotNumbers& numbers);

  QSize sizeHint() const override;
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  // Draws, or with no painter only measures. Returns the height.
  double lay_out(QPainter* painter, double width) const;
  // Of the device, or of each of two cards.
  double budget_bars(QPainter* painter, double top, double width) const;
  struct Bar {
    QString name;
    const std::vector<BudgetPart>& parts;
    double budget_bytes;  // 0: none
    bool over_budget;
  };
  double budget_bar(QPainter* painter, double top, double width, const Bar& bar) const;
  double all_programs_bar(QPainter* painter, double top, double width, const QString& name, double used_bytes,
                          double total_bytes, bool is_full) const;
  double legend(QPainter* painter, double top, double width) const;
  double pool_bars(QPainter* painter, double top, double width) const;
  double bar(QPainter* painter, double top, double width, const QString& name, double used, double total,
             const QColor& colour, const QString& value) const;
  QString brief_words() const;
  QString part_name(const BudgetPart& part) const;
  QString part_value(const BudgetPart& part) const;
  QColor part_colour(const BudgetPart& part) const;
  QString host_value() const;
  void tell();

  bool brief_ = false;
  MemoryParts memory_;
  SnapshotNumbers numbers_;
};

}  // namespace fovea::ui
