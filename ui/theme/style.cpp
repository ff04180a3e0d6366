#include "ui/theme/style.h"

#include <QPainter>
#include <QStyleOption>

#include "ui/theme/theme.h"
#include "ui/theme/tier_colours.h"

namespace fovea::ui {
namespace {

int air(const QStyleOption& option) {
  return option.fontMetrics.averageCharWidth();
}

bool shows_words(const QStyleOptionToolButton& button) {
  return button.text.size() > 1 && button.toolButtonStyle != Qt::ToolButtonIconOnly;
}

bool opens_menu(const QStyleOptionToolButton& button) {
  return (button.features & QStyleOptionToolButton::HasMenu) &&
         !(button.features & QStyleOptionToolButton::MenuButtonPopup);
}

// Fusion's outlines are darker than what is around them, which nobody sees where that is dark already; and at
// 150 % its frames lose a side.
void draw_edge(const QStyleOption& option, QPainter& painter, bool is_round = false) {
  const QRectF edge = QRectF(option.rect).adjusted(0.5, 0.5, -0.5, -0.5);
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  const bool has_focus = option.state & QStyle::State_HasFocus;
  painter.setPen(has_focus ? option.palette.color(QPalette::Highlight) : field_edge(option.palette));
  painter.setBrush(Qt::NoBrush);
  is_round ? painter.drawEllipse(edge) : painter.drawRoundedRect(edge, 2, 2);
  painter.restore();
}

}  // namespace

Style::Style() : QProxyStyle(QStringLiteral("Fusion")) {}

int Style::pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const {
  const int usual = QProxyStyle::pixelMetric(metric, option, widget);
  // Of tables: a number at the right of its column stands apart from the words of the next.
  return metric == PM_FocusFrameHMargin || metric == PM_HeaderMargin ? usual + 3 : usual;
}

// A click on a slider's groove means that place and not a step towards it.
int Style::styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                     QStyleHintReturn* more) const {
  if (hint == SH_Slider_AbsoluteSetButtons) return Qt::LeftButton;
  return QProxyStyle::styleHint(hint, option, widget, more);
}

QSize Style::sizeFromContents(ContentsType type, const QStyleOption* option, const QSize& size,
                              const QWidget* widget) const {
  QSize room = QProxyStyle::sizeFromContents(type, option, size, widget);
  if (!option) return room;
  const auto* tool = qstyleoption_cast<const QStyleOptionToolButton*>(option);
  if (type == CT_PushButton || (type == CT_ToolButton && tool && shows_words(*tool)))
    room.rwidth() += air(*option);
  if (type == CT_ToolButton && tool && shows_words(*tool) && opens_menu(*tool))
    room.rwidth() += 3 * air(*option);
  return room;
}

void Style::drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                          const QWidget* widget) const {
  QProxyStyle::drawPrimitive(element, option, painter, widget);
  if (!option) return;
  const bool is_radio = element == PE_IndicatorRadioButton;
  const bool is_field = element == PE_FrameLineEdit || element == PE_IndicatorCheckBox || is_radio;
  if (element == PE_Frame || (is_field && is_dark(option->palette))) draw_edge(*option, *painter, is_radio);
}

// A menu's arrow stands behind the words and not in a corner; a sign, as "⋯", says enough without.
void Style::drawComplexControl(ComplexControl control, const QStyleOptionComplex* option, QPainter* painter,
                               const QWidget* widget) const {
  const auto* tool = qstyleoption_cast<const QStyleOptionToolButton*>(option);
  if (control != CC_ToolButton || !tool || !opens_menu(*tool)) {
    QProxyStyle::drawComplexControl(control, option, painter, widget);
    if (control == CC_SpinBox && is_dark(option->palette)) draw_edge(*option, *painter);
    return;
  }
  QStyleOptionToolButton plain(*tool);
  plain.features &= ~QStyleOptionToolButton::HasMenu;
  QProxyStyle::drawComplexControl(control, &plain, painter, widget);
  if (!shows_words(*tool)) return;
  const int side = air(*option);
  QStyleOption arrow(*option);
  arrow.rect =
      visualRect(option->direction, option->rect,
                 QRect(option->rect.right() - 2 * side, option->rect.center().y() - side / 2, side, side));
  proxy()->drawPrimitive(PE_IndicatorArrowDown, &arrow, painter, widget);
}

QRect Style::subElementRect(SubElement element, const QStyleOption* option, const QWidget* widget) const {
  const QRect area = QProxyStyle::subElementRect(element, option, widget);
  if (!option || element != SE_LineEditContents) return area;
  const auto* frame = qstyleoption_cast<const QStyleOptionFrame*>(option);
  if (!frame || frame->lineWidth == 0) return area;  // of a spin box, which has its own
  const int gap = air(*option) / 2;
  return area.adjusted(gap, 0, -gap, 0);
}

}  // namespace fovea::ui
