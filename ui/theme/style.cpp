#include "ui/theme/style.h"

#include <QStyleOption>

namespace fovea::ui {
namespace {

int air(const QStyleOption& option) {
  return option.fontMetrics.averageCharWidth();
}

bool shows_words(const QStyleOptionToolButton& button) {
  return button.text.size() > 1 && button.toolButtonStyle != Qt::ToolButtonIconOnly;
}

bool shows_menu(const QStyleOptionToolButton& button) {
  return shows_words(button) && (button.features & QStyleOptionToolButton::HasMenu) &&
         !(button.features & QStyleOptionToolButton::MenuButtonPopup);
}

}  // namespace

Style::Style() : QProxyStyle(QStringLiteral("Fusion")) {}

int Style::pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const {
  const int usual = QProxyStyle::pixelMetric(metric, option, widget);
  // Of tables: a number at the right of its column stands apart from the words of the next.
  return metric == PM_FocusFrameHMargin || metric == PM_HeaderMargin ? usual + 3 : usual;
}

QSize Style::sizeFromContents(ContentsType type, const QStyleOption* option, const QSize& size,
                              const QWidget* widget) const {
  QSize room = QProxyStyle::sizeFromContents(type, option, size, widget);
  if (!option) return room;
  const auto* tool = qstyleoption_cast<const QStyleOptionToolButton*>(option);
  if (type == CT_PushButton || (type == CT_ToolButton && tool && shows_words(*tool)))
    room.rwidth() += air(*option);
  if (type == CT_ToolButton && tool && shows_menu(*tool)) room.rwidth() += 3 * air(*option);
  return room;
}

// A menu's arrow stands behind the words and not in a corner.
void Style::drawComplexControl(ComplexControl control, const QStyleOptionComplex* option, QPainter* painter,
                               const QWidget* widget) const {
  const auto* tool = qstyleoption_cast<const QStyleOptionToolButton*>(option);
  if (control != CC_ToolButton || !tool || !shows_menu(*tool))
    return QProxyStyle::drawComplexControl(control, option, painter, widget);
  QStyleOptionToolButton plain(*tool);
  plain.features &= ~QStyleOptionToolButton::HasMenu;
  QProxyStyle::drawComplexControl(control, &plain, painter, widget);
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
