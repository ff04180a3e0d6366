// The wizard's steps, one below the other, with the one that is shown.
#pragma once

#include <QStringList>
#include <QWidget>

namespace fovea::ui {

class StepRail : public QWidget {
  Q_OBJECT

 public:
  explicit StepRail(const QStringList& steps, QWidget* parent = nullptr);

  void set_current(int step);

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  qreal row_height() const;

  QStringList steps_;
  int current_ = 0;
};

}  // namespace fovea::ui
