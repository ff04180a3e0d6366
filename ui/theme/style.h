// How controls look: flat, with the tokens' lines, radii and colours (ui/theme/tokens.h). What is not drawn
// here is Fusion's.
#pragma once

#include <QProxyStyle>
#include <QStyleOption>

class QAbstractButton;
class QSlider;

namespace fovea::ui {

// The one button of a page that it is for: filled. A dialog's default button is so without.
void make_main(QAbstractButton& button, bool is_main = true);

// A slider that is seldom what the eye shall meet first: without the accent's colour.
void make_quiet(QSlider& slider);

// From the edge of a flat button to its words.
int inset_of_words(const QWidget& button);

class Style : public QProxyStyle {
  Q_OBJECT

 public:
  Style();

  int pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const override;
  QSize sizeFromContents(ContentsType type, const QStyleOption* option, const QSize& size,
                         const QWidget* widget) const override;
  int styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                QStyleHintReturn* more) const override;
  void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                     const QWidget* widget) const override;
  void drawControl(ControlElement element, const QStyleOption* option, QPainter* painter,
                   const QWidget* widget) const override;
  void drawComplexControl(ComplexControl control, const QStyleOptionComplex* option, QPainter* painter,
                          const QWidget* widget) const override;
  QRect subElementRect(SubElement element, const QStyleOption* option, const QWidget* widget) const override;
  QRect subControlRect(ComplexControl control, const QStyleOptionComplex* option, SubControl part,
                       const QWidget* widget) const override;
  using QProxyStyle::polish;
  void polish(QApplication* application) override;
  void polish(QWidget* widget) override;
  using QProxyStyle::unpolish;
  void unpolish(QApplication* application) override;

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void draw_combo_box(const QStyleOptionComboBox& option, QPainter& painter) const;
  void draw_spin_box(const QStyleOptionSpinBox& option, QPainter& painter, const QWidget* widget) const;
  void draw_slider(const QStyleOptionSlider& option, QPainter& painter, const QWidget* widget) const;
  void draw_tool_button(const QStyleOptionToolButton& option, QPainter& painter, const QWidget* widget) const;

  bool alt_ = false;  // held: keys of controls are underlined
};

}  // namespace fovea::ui
