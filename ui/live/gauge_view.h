// The panel's first answer: how much of the model's quality is kept, as one number, and with what.
#pragma once

#include <QStringList>
#include <QWidget>

#include "ui/live/live_data.h"

namespace fovea::ui {

class GaugeView : public QWidget {
  Q_OBJECT

 public:
  explicit GaugeView(QWidget* parent = nullptr);
  // Bits of a weight at the lowest tier and at the highest.
  void set(const PolicyGain& gain, double lowest_bits, double highest_bits);
  QString text() const;  // all of it, as it is read aloud
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QString number() const, what() const, with() const;

  PolicyGain gain_;
  double lowest_bits_ = 0, highest_bits_ = 0;
};

// What was kept over the session's tokens, beside a fixed mix of the same size and everything at the lowest
// precision.
class QualityLineView : public QWidget {
  Q_OBJECT

 public:
  explicit QualityLineView(QWidget* parent = nullptr);
  // `whole`: of all of the session's tokens.
  void set_line(const QualityLine& line, const PolicyGain& whole);
  QSize sizeHint() const override;

  // The words of the question whose mark is near this place; empty: there is none.
  QString question_at(double x) const;

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  QFont small_font() const;
  QRectF chart_area() const;
  double range() const;
  double x_of(std::size_t point) const;
  void paint_scale(QPainter& painter) const;
  void paint_questions(QPainter& painter) const;
  void paint_lines(QPainter& painter) const;
  void paint_legend(QPainter& painter, double top) const;

  QStringList legend() const;

  QualityLine line_;
  PolicyGain whole_;
};

}  // namespace fovea::ui
