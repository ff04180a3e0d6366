// The budget as one bar with its parts, and their names and numbers below it.
#pragma once

#include <QWidget>

#include "ui/wizard/wizard_view.h"

namespace fovea::ui {

class BudgetBar : public QWidget {
  Q_OBJECT

 public:
  explicit BudgetBar(QWidget* parent = nullptr);

  void set_budget(const BudgetBarView& budget);
  // The parts in words, for those who do not see the bar.
  QString text() const;

  QSize sizeHint() const override;
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  struct Legend {
    int columns = 1;
    std::size_t rows = 0;
    qreal column_width = 0, row_height = 0, top = 0;
  };
  Legend legend(qreal width) const;
  qreal bar_height() const;
  QRectF bar(qreal width) const;
  // Bytes at the bar's right end.
  qreal full() const;
  QColor colour(const BudgetPartView& part) const;
  const BudgetPartView* part_at(const QPointF& position) const;
  void paint_bar(QPainter& painter) const;

  BudgetBarView budget_;
};

}  // namespace fovea::ui
