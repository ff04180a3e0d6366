#include "ui/theme/style.h"

#include <QAbstractButton>
#include <QAbstractScrollArea>
#include <QApplication>
#include <QComboBox>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QSlider>
#include <QStyleOption>
#include <QTabBar>
#include <QToolButton>
#include <algorithm>
#include <utility>

#include "ui/theme/motion.h"
#include "ui/theme/style_paint.h"

namespace fovea::ui {
namespace {

using namespace style_paint;

constexpr const char *main_property = "foveaIsMain", *quiet_property = "foveaIsQuiet";
constexpr int scroll_extent = 10, shortest_thumb = 28, knob = 16, groove = 4;

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

bool is_main(const QStyleOption& option, const QWidget* widget) {
  if (widget && widget->property(main_property).toBool()) return true;
  const auto* button = qstyleoption_cast<const QStyleOptionButton*>(&option);
  return button && (button->features & QStyleOptionButton::DefaultButton);
}

// Rows of lists and menus: a ground of their own, and the text stays as it is.
void calm_selection(QPalette& palette) {
  const Tones& t = tones(palette);
  palette.setColor(QPalette::Highlight, t.hover);
  palette.setColor(QPalette::HighlightedText, t.text);
}

}  // namespace

void make_main(QAbstractButton& button, bool is_main) {
  button.setProperty(main_property, is_main);
  button.update();
}

void make_quiet(QSlider& slider) {
  slider.setProperty(quiet_property, true);
}

int inset_of_words(const QWidget& button) {
  return 2 * button.fontMetrics().averageCharWidth();
}

Style::Style() : QProxyStyle(QStringLiteral("Fusion")) {}

void Style::polish(QApplication* application) {
  QProxyStyle::polish(application);
  application->installEventFilter(this);
}

void Style::unpolish(QApplication* application) {
  application->removeEventFilter(this);
  QProxyStyle::unpolish(application);
}

// The letters that Alt needs are underlined while it is held.
bool Style::eventFilter(QObject* watched, QEvent* event) {
  const bool is_key = event->type() == QEvent::KeyPress || event->type() == QEvent::KeyRelease;
  const bool held = is_key && static_cast<const QKeyEvent*>(event)->key() == Qt::Key_Alt
                        ? event->type() == QEvent::KeyPress
                        : alt_ && event->type() != QEvent::ApplicationDeactivate;
  if (std::exchange(alt_, held) != held)
    for (QWidget* top : QApplication::topLevelWidgets()) top->update();
  return QProxyStyle::eventFilter(watched, event);
}

namespace {

// Where a text of several lines is written or shown within a frame.
bool is_text_field(const QWidget* widget) {
  const auto* frame = qobject_cast<const QFrame*>(widget);
  return frame && frame->frameShape() != QFrame::NoFrame &&
         (widget->inherits("QTextEdit") || widget->inherits("QPlainTextEdit"));
}

}  // namespace

// What changes its look under the pointer has to be told of it. A form centres a label beside its field only
// where the field is at most 7/4 as high.
void Style::polish(QWidget* widget) {
  QProxyStyle::polish(widget);
  if (auto* label = qobject_cast<QLabel*>(widget); label && label->buddy())
    label->setContentsMargins(0, space::hair / 2, 0, space::hair / 2);
  if (qobject_cast<QAbstractButton*>(widget) || qobject_cast<QComboBox*>(widget) ||
      qobject_cast<QSlider*>(widget) || qobject_cast<QTabBar*>(widget) || widget->inherits("QScrollBar") ||
      widget->inherits("QAbstractSpinBox"))
    widget->setAttribute(Qt::WA_Hover);
  // The frame has the ground: what scrolls would have corners.
  if (is_text_field(widget))
    static_cast<QAbstractScrollArea*>(widget)->viewport()->setAutoFillBackground(false);
}

int Style::pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const {
  switch (metric) {
    case PM_FocusFrameHMargin:
    case PM_HeaderMargin:
      // Of tables: a number at the right of its column stands apart from the words of the next.
      return QProxyStyle::pixelMetric(metric, option, widget) + 3;
    case PM_ScrollBarExtent:
      return scroll_extent;
    case PM_ScrollBarSliderMin:
      return shortest_thumb;
    case PM_ScrollView_ScrollBarSpacing:
    case PM_ButtonShiftHorizontal:
    case PM_ButtonShiftVertical:
    case PM_TabBarBaseOverlap:
      return 0;
    case PM_IndicatorWidth:
    case PM_IndicatorHeight:
    case PM_ExclusiveIndicatorWidth:
    case PM_ExclusiveIndicatorHeight:
    case PM_SliderThickness:
    case PM_SliderControlThickness:
    case PM_SliderLength:
      return knob;
    case PM_SplitterWidth:
      return 9;
    case PM_DockWidgetSeparatorExtent:
      return dock_grasp;
    case PM_MenuVMargin:
    case PM_MenuHMargin:
      return space::hair;
    default:
      return QProxyStyle::pixelMetric(metric, option, widget);
  }
}

int Style::styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                     QStyleHintReturn* more) const {
  switch (hint) {
    case SH_Slider_AbsoluteSetButtons:  // a click on a slider's groove means that place and not a step
                                        // towards it
      return Qt::LeftButton;
    case SH_Widget_Animation_Duration:
    case SH_Widget_Animate:
      return motion::less() ? 0 : QProxyStyle::styleHint(hint, option, widget, more);
    case SH_UnderlineShortcut:
      return alt_ ? 1 : 0;
    case SH_ComboBox_Popup:
    case SH_EtchDisabledText:
    case SH_DitherDisabledText:
    case SH_DialogButtonBox_ButtonsHaveIcons:
      return 0;
    default:
      return QProxyStyle::styleHint(hint, option, widget, more);
  }
}

QSize Style::sizeFromContents(ContentsType type, const QStyleOption* option, const QSize& size,
                              const QWidget* widget) const {
  QSize room = QProxyStyle::sizeFromContents(type, option, size, widget);
  if (!option) return room;
  const int line = option->fontMetrics.height();
  switch (type) {
    case CT_PushButton:
      room.rwidth() += 3 * air(*option);
      room.setHeight(std::max({room.height(), control_height, line + 2 * space::tight}));
      break;
    case CT_SpinBox:  // its frame takes no more room than theirs
      room.setHeight(0);
      [[fallthrough]];
    case CT_ComboBox:
    case CT_LineEdit:
      room.setHeight(std::max({room.height(), control_height, line + 2 * space::tight - 2}));
      if (type == CT_ComboBox) room.rwidth() += 2 * air(*option);
      break;
    case CT_ToolButton:
      if (const auto* tool = qstyleoption_cast<const QStyleOptionToolButton*>(option);
          tool && shows_words(*tool)) {
        room.rwidth() += (opens_menu(*tool) ? 3 : 2) * air(*option);
        room.setHeight(std::max(room.height(), line + space::close));
      }
      break;
    case CT_MenuItem:
      if (const auto* item = qstyleoption_cast<const QStyleOptionMenuItem*>(option);
          item && item->menuItemType != QStyleOptionMenuItem::Separator)
        room.setHeight(std::max(room.height(), line + space::tight + 2));
      break;
    case CT_TabBarTab:
      room.setHeight(std::max(room.height(), line + space::usual));
      break;
    default:
      break;
  }
  return room;
}

void Style::drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                          const QWidget* widget) const {
  if (!option) return QProxyStyle::drawPrimitive(element, option, painter, widget);
  const Tones& t = tones(option->palette);
  switch (element) {
    case PE_PanelButtonCommand:
      return button(*painter, *option, is_main(*option, widget));
    case PE_FrameDefaultButton:
      return;
    case PE_PanelButtonTool: {
      const auto* tool = qobject_cast<const QAbstractButton*>(widget);
      const bool flat = (option->state & State_AutoRaise) ||
                        (tool && tool->inherits("QToolButton") && tool->text().isEmpty());
      if (!flat) return button(*painter, *option, is_main(*option, widget));
      QStyleOption calm(*option);
      // An icon that is on has the accent's colour, which says enough.
      const auto* button = qobject_cast<const QToolButton*>(widget);
      if (button && button->toolButtonStyle() == Qt::ToolButtonIconOnly && !button->icon().isNull())
        calm.state &= ~State_On;
      return flat_button(*painter, calm);
    }
    case PE_PanelLineEdit: {
      const auto* frame = qstyleoption_cast<const QStyleOptionFrame*>(option);
      if (frame && frame->lineWidth > 0) return field(*painter, *option, option->rect);
      const QWidget* holder = widget ? widget->parentWidget() : nullptr;
      if (holder && (holder->inherits("QAbstractSpinBox") || holder->inherits("QComboBox")))
        return;  // it has the ground
      return QProxyStyle::drawPrimitive(element, option, painter, widget);
    }
    case PE_FrameLineEdit:
      return;       // the panel has it
    case PE_Frame:  // what scrolls in it has corners
      if (is_text_field(widget)) return field(*painter, *option, option->rect);
      [[fallthrough]];
    case PE_FrameGroupBox:
    case PE_FrameTabWidget:
      return rounded(*painter, option->rect, element == PE_Frame ? 2 : radius::card, Qt::NoBrush,
                     (option->state & State_HasFocus) ? t.accent : t.line);
    case PE_FrameMenu:
      return rounded(*painter, option->rect, 0, Qt::NoBrush, t.line);
    case PE_PanelMenu:
      return painter->fillRect(option->rect, t.card);
    case PE_PanelTipLabel:
      painter->fillRect(option->rect, t.card);
      return rounded(*painter, option->rect, 0, Qt::NoBrush, t.line);
    case PE_IndicatorCheckBox:
      return check_box(*painter, *option);
    case PE_IndicatorItemViewItemCheck:
      return check_box(*painter, *option);
    case PE_IndicatorRadioButton:
      return radio_button(*painter, *option);
    case PE_FrameFocusRect:
      if (option->state & State_KeyboardFocusChange)
        rounded(*painter, option->rect, radius::row, Qt::NoBrush, t.accent, focus_width);
      return;
    case PE_IndicatorArrowDown:
      return chevron(*painter, option->rect, Direction::down, is_enabled(*option) ? t.second : t.third);
    case PE_IndicatorArrowUp:
      return chevron(*painter, option->rect, Direction::up, is_enabled(*option) ? t.second : t.third);
    case PE_IndicatorArrowLeft:
      return chevron(*painter, option->rect, Direction::left, is_enabled(*option) ? t.second : t.third);
    case PE_IndicatorArrowRight:
      return chevron(*painter, option->rect, Direction::right, is_enabled(*option) ? t.second : t.third);
    case PE_IndicatorDockWidgetResizeHandle: {
      const QRect area = option->rect;
      const bool upright = area.height() > area.width();
      if (!upright) return painter->fillRect(QRect(area.left(), area.center().y(), area.width(), 1), t.line);
      // Beside the dock, wherever it is grasped.
      const bool is_left = !widget || area.center().x() < widget->width() / 2;
      return painter->fillRect(QRect(is_left ? area.left() : area.right(), area.top(), 1, area.height()),
                               t.line);
    }
    case PE_FrameTabBarBase:  // the line that tabs stand on, beside them, too
      return painter->fillRect(QRect(option->rect.left(), option->rect.bottom(), option->rect.width(), 1),
                               t.line);
    default:
      return QProxyStyle::drawPrimitive(element, option, painter, widget);
  }
}

void Style::drawControl(ControlElement element, const QStyleOption* option, QPainter* painter,
                        const QWidget* widget) const {
  if (!option) return QProxyStyle::drawControl(element, option, painter, widget);
  const Tones& t = tones(option->palette);
  switch (element) {
    case CE_PushButtonLabel:
      if (const auto* button = qstyleoption_cast<const QStyleOptionButton*>(option);
          button && is_main(*option, widget) && is_enabled(*option)) {
        QStyleOptionButton filled(*button);
        filled.palette.setColor(QPalette::ButtonText, t.on_brand);
        painter->save();
        QFont font = painter->font();
        font.setWeight(QFont::DemiBold);
        painter->setFont(font);
        QProxyStyle::drawControl(element, &filled, painter, widget);
        painter->restore();
        return;
      }
      break;
    case CE_MenuItem:
    case CE_MenuBarItem:
      if (const auto* item = qstyleoption_cast<const QStyleOptionMenuItem*>(option)) {
        QStyleOptionMenuItem calm(*item);
        calm_selection(calm.palette);
        calm.palette.setColor(QPalette::Window, element == CE_MenuItem ? t.card : t.window);
        return QProxyStyle::drawControl(element, &calm, painter, widget);
      }
      break;
    case CE_ItemViewItem:
      if (const auto* item = qstyleoption_cast<const QStyleOptionViewItem*>(option)) {
        QStyleOptionViewItem calm(*item);
        calm_selection(calm.palette);
        return QProxyStyle::drawControl(element, &calm, painter, widget);
      }
      break;
    case CE_ProgressBarGroove:  // the contents have it
      return;
    case CE_ProgressBarContents:
      if (const auto* bar = qstyleoption_cast<const QStyleOptionProgressBar*>(option))
        return progress(*painter, *bar);
      break;
    case CE_TabBarTabShape:
      if (const auto* shape = qstyleoption_cast<const QStyleOptionTab*>(option)) return tab(*painter, *shape);
      break;
    case CE_HeaderSection:
      painter->fillRect(option->rect, t.window);
      painter->fillRect(QRect(option->rect.left(), option->rect.bottom(), option->rect.width(), 1), t.line);
      return;
    case CE_HeaderEmptyArea:
      painter->fillRect(option->rect, t.window);
      return;
    case CE_Splitter: {
      const QRect area = option->rect;
      const bool upright = area.height() > area.width();
      painter->fillRect(upright ? QRect(area.center().x(), area.top(), 1, area.height())
                                : QRect(area.left(), area.center().y(), area.width(), 1),
                        t.line);
      return;
    }
    default:
      break;
  }
  QProxyStyle::drawControl(element, option, painter, widget);
}

void Style::drawComplexControl(ComplexControl control, const QStyleOptionComplex* option, QPainter* painter,
                               const QWidget* widget) const {
  if (control == CC_ComboBox) {
    if (const auto* box = qstyleoption_cast<const QStyleOptionComboBox*>(option))
      return draw_combo_box(*box, *painter);
  } else if (control == CC_SpinBox) {
    if (const auto* box = qstyleoption_cast<const QStyleOptionSpinBox*>(option))
      return draw_spin_box(*box, *painter, widget);
  } else if (control == CC_Slider) {
    if (const auto* slider = qstyleoption_cast<const QStyleOptionSlider*>(option))
      return draw_slider(*slider, *painter, widget);
  } else if (control == CC_ScrollBar) {
    const auto* bar = qstyleoption_cast<const QStyleOptionSlider*>(option);
    if (!bar) return;
    const bool active = is_hovered(*bar) || is_pressed(*bar);
    if (bar->maximum > bar->minimum)
      scroll_thumb(*painter, *bar, subControlRect(control, bar, SC_ScrollBarSlider, widget),
                   bar->orientation == Qt::Vertical, active);
    return;
  } else if (control == CC_ToolButton) {
    if (const auto* tool = qstyleoption_cast<const QStyleOptionToolButton*>(option))
      return draw_tool_button(*tool, *painter, widget);
  }
  QProxyStyle::drawComplexControl(control, option, painter, widget);
}

void Style::draw_combo_box(const QStyleOptionComboBox& option, QPainter& painter) const {
  if (option.frame) field(painter, option, option.rect);
  const int side = icon_size;
  const QRect place(option.rect.right() - side - space::tight, option.rect.center().y() - side / 2 + 1, side,
                    side);
  const Tones& t = tones(option.palette);
  chevron(painter, visualRect(option.direction, option.rect, place), Direction::down,
          is_enabled(option) ? t.second : t.third);
}

void Style::draw_spin_box(const QStyleOptionSpinBox& option, QPainter& painter, const QWidget* widget) const {
  if (option.frame) field(painter, option, option.rect);
  if (option.buttonSymbols == QAbstractSpinBox::NoButtons) return;
  const Tones& t = tones(option.palette);
  const auto arrow = [&](SubControl part, QAbstractSpinBox::StepEnabledFlag step, Direction direction) {
    const bool can = is_enabled(option) && (option.stepEnabled & step);
    const bool lit = can && (option.activeSubControls & part) && is_hovered(option);
    QRect place = subControlRect(CC_SpinBox, &option, part, widget);
    const int side = std::min(12, place.height());
    place = QRect(place.center().x() - side / 2, place.center().y() - side / 2, side, side);
    chevron(painter, place, direction, !can ? t.line : lit ? t.text : t.second);
  };
  arrow(SC_SpinBoxUp, QAbstractSpinBox::StepUpEnabled, Direction::up);
  arrow(SC_SpinBoxDown, QAbstractSpinBox::StepDownEnabled, Direction::down);
}

void Style::draw_slider(const QStyleOptionSlider& option, QPainter& painter, const QWidget* widget) const {
  const Tones& t = tones(option.palette);
  const bool upright = option.orientation == Qt::Vertical;
  const QRectF handle(subControlRect(CC_Slider, &option, SC_SliderHandle, widget));
  QRectF track(option.rect);
  upright ? track.setWidth(groove) : track.setHeight(groove);
  track.moveCenter(QRectF(option.rect).center());
  if (upright) {
    track.moveLeft(handle.center().x() - groove / 2.0);
  } else {
    track.moveTop(handle.center().y() - groove / 2.0);
  }
  rounded(painter, track, groove / 2.0, t.line, {}, 0);
  // What is below the handle's value.
  QRectF below = track;
  if (upright) {
    option.upsideDown ? below.setTop(handle.center().y()) : below.setBottom(handle.center().y());
  } else {
    option.upsideDown ? below.setLeft(handle.center().x()) : below.setRight(handle.center().x());
  }
  const bool quiet = widget && widget->property(quiet_property).toBool();
  const QColor colour = !is_enabled(option) ? t.third : quiet ? t.second : t.accent;
  rounded(painter, below, groove / 2.0, colour, {}, 0);
  if (option.tickPosition != QSlider::NoTicks) {
    QStyleOptionSlider ticks(option);
    ticks.subControls = SC_SliderTickmarks;
    QProxyStyle::drawComplexControl(CC_Slider, &ticks, &painter, widget);
  }
  QRectF ball(0, 0, knob - 2, knob - 2);
  ball.moveCenter(handle.center());
  if (has_focus(option) && (option.state & State_KeyboardFocusChange)) {
    rounded(painter, ball.adjusted(-1, -1, 1, 1), knob, t.window, colour, focus_width);
    ball.adjust(3, 3, -3, -3);
  }
  rounded(painter, ball, knob, is_pressed(option) || is_hovered(option) ? colour.lighter(108) : colour, {},
          0);
}

// A menu's arrow stands behind the words and not in a corner; a sign, as "⋯", says enough without.
void Style::draw_tool_button(const QStyleOptionToolButton& option, QPainter& painter,
                             const QWidget* widget) const {
  QStyleOptionToolButton plain(option);
  plain.state &= ~State_HasFocus;  // the panel shows it
  const bool marks_menu = opens_menu(option);
  if (marks_menu) plain.features &= ~QStyleOptionToolButton::HasMenu;
  QStyleOption panel(option);
  panel.state = option.state;
  drawPrimitive(PE_PanelButtonTool, &panel, &painter, widget);
  plain.state |= State_AutoRaise;
  plain.state &= ~(State_MouseOver | State_Sunken | State_Raised);
  if (is_main(option, widget) && is_enabled(option))
    plain.palette.setColor(QPalette::ButtonText, tones(option.palette).on_brand);
  if (marks_menu && shows_words(option))
    plain.rect = visualRect(option.direction, option.rect, option.rect.adjusted(0, 0, -2 * air(option), 0));
  if (shows_words(option) &&
      option.toolButtonStyle == Qt::ToolButtonTextBesideIcon)  // as much room as behind
    plain.rect = visualRect(option.direction, plain.rect, plain.rect.adjusted(3 * air(option) / 2, 0, 0, 0));
  QStyleOptionToolButton label(plain);
  drawControl(CE_ToolButtonLabel, &label, &painter, widget);
  if (!marks_menu || !shows_words(option)) return;
  const QRect place(option.rect.right() - icon_size - space::close,
                    option.rect.center().y() - icon_size / 2 + 1, icon_size, icon_size);
  chevron(painter, visualRect(option.direction, option.rect, place), Direction::down,
          tones(option.palette).second);
}

QRect Style::subElementRect(SubElement element, const QStyleOption* option, const QWidget* widget) const {
  const QRect area = QProxyStyle::subElementRect(element, option, widget);
  if (!option || element != SE_LineEditContents) return area;
  const auto* frame = qstyleoption_cast<const QStyleOptionFrame*>(option);
  if (!frame || frame->lineWidth == 0) return area;  // of a spin box, which has its own
  const int gap = air(*option) / 2 + 2;
  return area.adjusted(gap, 0, -gap, 0);
}

QRect Style::subControlRect(ComplexControl control, const QStyleOptionComplex* option, SubControl part,
                            const QWidget* widget) const {
  const auto* bar = control == CC_ScrollBar ? qstyleoption_cast<const QStyleOptionSlider*>(option) : nullptr;
  if (!bar) {
    QRect area = QProxyStyle::subControlRect(control, option, part, widget);
    if (control == CC_ComboBox && part == SC_ComboBoxEditField && option)
      area.adjust(option->direction == Qt::RightToLeft ? 0 : 4, 0,
                  option->direction == Qt::RightToLeft ? -4 : 0, 0);
    if (control == CC_SpinBox && part == SC_SpinBoxEditField && option)
      area.adjust(option->direction == Qt::RightToLeft ? 0 : 4, 0,
                  option->direction == Qt::RightToLeft ? -4 : 0, 0);
    // Within its card, above what stands in it.
    if (control == CC_GroupBox && (part == SC_GroupBoxLabel || part == SC_GroupBoxCheckBox) && option)
      area.translate(option->direction == Qt::RightToLeft ? -space::close : space::close, space::tight);
    return area;
  }
  // No arrows: the thumb has all of the length.
  const bool upright = bar->orientation == Qt::Vertical;
  const int length = upright ? bar->rect.height() : bar->rect.width();
  const std::int64_t range = std::int64_t{bar->maximum} - bar->minimum;
  int thumb = length;
  if (range > 0) {
    const double share = static_cast<double>(bar->pageStep) / static_cast<double>(range + bar->pageStep);
    thumb = std::clamp(static_cast<int>(share * length), std::min(shortest_thumb, length), length);
  }
  const int begin = sliderPositionFromValue(bar->minimum, bar->maximum, bar->sliderPosition, length - thumb,
                                            bar->upsideDown);
  const auto piece = [&](int from, int to) {
    const QRect area = upright
                           ? QRect(bar->rect.left(), bar->rect.top() + from, bar->rect.width(), to - from)
                           : QRect(bar->rect.left() + from, bar->rect.top(), to - from, bar->rect.height());
    return visualRect(bar->direction, bar->rect, area);
  };
  switch (part) {
    case SC_ScrollBarGroove:
      return piece(0, length);
    case SC_ScrollBarSlider:
      return piece(begin, begin + thumb);
    case SC_ScrollBarSubPage:
      return piece(0, begin);
    case SC_ScrollBarAddPage:
      return piece(begin + thumb, length);
    default:
      return {};
  }
}

}  // namespace fovea::ui
