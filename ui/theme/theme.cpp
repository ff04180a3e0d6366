#include "ui/theme/theme.h"

#include <QApplication>

#include "ui/theme/style.h"
#include "ui/theme/tier_colours.h"

namespace fovea::ui {
namespace {

struct Colours {
  const char *window, *base, *alternate, *text, *button, *highlight, *highlighted_text, *link, *placeholder;
};

// Contrast of text on window and base is above 7 : 1 in both, of placeholder and link above 4.5 : 1.
constexpr Colours kLight{"#f6f6f4", "#ffffff", "#efefec", "#1c1d1f", "#ececea",
                         "#2f6f6a", "#ffffff", "#1f6a64", "#6a6d72"};
constexpr Colours kDark{"#1b1d20", "#212427", "#282b2f", "#e7e8ea", "#2b2e33",
                        "#4fa39b", "#0f1213", "#6fc4bb", "#969aa1"};

QPalette make_palette(const Colours& c) {
  QPalette palette;
  palette.setColor(QPalette::Window, QColor(c.window));
  palette.setColor(QPalette::WindowText, QColor(c.text));
  palette.setColor(QPalette::Base, QColor(c.base));
  palette.setColor(QPalette::AlternateBase, QColor(c.alternate));
  palette.setColor(QPalette::Text, QColor(c.text));
  palette.setColor(QPalette::Button, QColor(c.button));
  palette.setColor(QPalette::ButtonText, QColor(c.text));
  palette.setColor(QPalette::BrightText, QColor(c.text));
  palette.setColor(QPalette::ToolTipBase, QColor(c.alternate));
  palette.setColor(QPalette::ToolTipText, QColor(c.text));
  palette.setColor(QPalette::Highlight, QColor(c.highlight));
  palette.setColor(QPalette::HighlightedText, QColor(c.highlighted_text));
  palette.setColor(QPalette::Link, QColor(c.link));
  palette.setColor(QPalette::LinkVisited, QColor(c.link));
  palette.setColor(QPalette::PlaceholderText, QColor(c.placeholder));
  for (const QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
    palette.setColor(QPalette::Disabled, role, QColor(c.placeholder));
  }
  palette.setColor(QPalette::Disabled, QPalette::Light, QColor(c.base));  // menus draw it behind their text
  return palette;
}

QColor mix(const QColor& a, const QColor& b, double share_of_b) {
  const double keep = 1 - share_of_b;
  return QColor::fromRgbF(static_cast<float>(a.redF() * keep + b.redF() * share_of_b),
                          static_cast<float>(a.greenF() * keep + b.greenF() * share_of_b),
                          static_cast<float>(a.blueF() * keep + b.blueF() * share_of_b));
}

}  // namespace

Scheme preferred_scheme() {
  return is_dark(QGuiApplication::palette()) ? Scheme::dark : Scheme::light;
}

void apply_theme(QApplication& application, Scheme scheme) {
  application.setStyle(new Style);
  application.setPalette(make_palette(scheme == Scheme::dark ? kDark : kLight));
}

QColor code_background(const QPalette& palette) {
  return mix(palette.color(QPalette::Base), palette.color(QPalette::Text), is_dark(palette) ? 0.09 : 0.05);
}

QColor user_bubble(const QPalette& palette) {
  return mix(palette.color(QPalette::Base), palette.color(QPalette::Highlight),
             is_dark(palette) ? 0.22 : 0.12);
}

QColor subtle_text(const QPalette& palette) {
  return palette.color(QPalette::PlaceholderText);
}

QColor quiet_text(const QPalette& palette) {
  return mix(palette.color(QPalette::Text), palette.color(QPalette::PlaceholderText), 0.5);
}

QColor found_background(const QPalette& palette, bool current) {
  if (is_dark(palette)) return current ? QColor(0xf0, 0xb4, 0x3c) : QColor(0x6b, 0x56, 0x22);
  return current ? QColor(0xf5, 0xb0, 0x2e) : QColor(0xfb, 0xe9, 0xb0);
}

QColor found_text(const QPalette& palette, bool current) {
  return is_dark(palette) && !current ? QColor(0xff, 0xf4, 0xd6) : QColor(0x1c, 0x1d, 0x1f);
}

QColor hairline(const QPalette& palette) {
  return mix(palette.color(QPalette::Window), palette.color(QPalette::WindowText), 0.16);
}

QColor field_edge(const QPalette& palette) {
  return mix(palette.color(QPalette::Window), palette.color(QPalette::WindowText), 0.38);
}

QColor hover_background(const QPalette& palette) {
  return mix(palette.color(QPalette::Base), palette.color(QPalette::Text), 0.09);
}

QColor warning_text(const QPalette& palette) {
  return is_dark(palette) ? QColor(0xe8, 0xbd, 0x6a) : QColor(0x80, 0x55, 0x06);
}

QColor error_text(const QPalette& palette) {
  return is_dark(palette) ? QColor(0xf2, 0x9b, 0x94) : QColor(0xa3, 0x2a, 0x22);
}

QColor error_background(const QPalette& palette) {
  return is_dark(palette) ? QColor(0x4a, 0x25, 0x25) : QColor(0xfb, 0xe3, 0xdf);
}

}  // namespace fovea::ui
