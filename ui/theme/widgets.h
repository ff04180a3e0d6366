// Small widgets that several pages are made of.
#pragma once

#include <QLineEdit>
#include <QToolButton>
#include <QWidget>

#include "ui/theme/icons.h"

class QBoxLayout;

namespace fovea::ui {

// Whether it has the focus, and by the keyboard: a click needs no ring.
bool shows_focus(const QWidget& widget);

// A ground with a line around it.
class Card : public QWidget {
  Q_OBJECT

 public:
  explicit Card(int corner, QWidget* parent = nullptr);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  int corner_;
};

// Round and filled: the one thing that a page is for. Its text is said and not shown.
class RoundButton : public QToolButton {
  Q_OBJECT

 public:
  explicit RoundButton(QWidget* parent = nullptr);
  void set_glyph(Glyph glyph);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  Glyph glyph_ = Glyph::send;
};

// A row of the sidebar: an icon, words, and at the right the keys that do the same.
class NavigationRow : public QToolButton {
  Q_OBJECT

 public:
  NavigationRow(Glyph glyph, const QString& text, const QKeySequence& keys, QWidget* parent = nullptr);
  void set_first() { is_first_ = true; }  // what the eye meets before the others
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  Glyph glyph_;
  QString keys_;
  bool is_first_ = false;
};

// A field that looks like such a row until it is used.
class SearchField : public QLineEdit {
  Q_OBJECT

 public:
  SearchField(const QString& placeholder, const QKeySequence& keys, QWidget* parent = nullptr);
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QString keys_;
};

// The mark, and a name beside it where there is one.
class MarkLabel : public QWidget {
  Q_OBJECT

 public:
  MarkLabel(int size, const QString& name, QWidget* parent = nullptr);
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  int size_;
  QString name_;
};

// How much of something is full, as a ring.
class RingGauge : public QWidget {
  Q_OBJECT

 public:
  explicit RingGauge(QWidget* parent = nullptr);
  void set_share(double share);  // 0 … 1
  QSize sizeHint() const override { return {20, 20}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  double share_ = 0;
};

// A flat button with an icon alone; `words` are said and shown as its tooltip.
QToolButton* icon_button(Glyph glyph, const QString& words, QWidget* parent);

// Puts `widget` into the middle of `layout`, at most so wide, with that much room beside it at least.
void add_centred(QBoxLayout& layout, QWidget& widget, int widest, int margin, int stretch = 0);

}  // namespace fovea::ui
