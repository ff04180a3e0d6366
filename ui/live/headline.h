// The line over the map: the state in bold, then numbers. It changes every second, so it is no label, whose
// every change lays the whole panel out again.
#pragma once

#include <QStringList>
#include <QWidget>

namespace fovea::ui {

class Headline : public QWidget {
  Q_OBJECT

 public:
  explicit Headline(QWidget* parent = nullptr);
  // A part stays on one line; the first is bold.
  void set_parts(const QStringList& parts);
  QString text() const;

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  // Draws, or with no painter only measures. Returns the number of lines.
  int lay_out(QPainter* painter, double width) const;

  QStringList parts_;
};

}  // namespace fovea::ui
