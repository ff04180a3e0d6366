#include "ui/theme/theme.h"

#include <QApplication>

#include "ui/theme/style.h"
#include "ui/theme/tier_colours.h"
#include "ui/theme/tokens.h"

namespace fovea::ui {
namespace {

QPalette make_palette(const Tones& c) {
  QPalette palette;
  palette.setColor(QPalette::Window, c.window);
  palette.setColor(QPalette::WindowText, c.text);
  palette.setColor(QPalette::Base, c.window);
  palette.setColor(QPalette::AlternateBase, c.card);
  palette.setColor(QPalette::Text, c.text);
  palette.setColor(QPalette::Button, c.card);
  palette.setColor(QPalette::ButtonText, c.text);
  palette.setColor(QPalette::BrightText, c.text);
  palette.setColor(QPalette::ToolTipBase, c.card);
  palette.setColor(QPalette::ToolTipText, c.text);
  palette.setColor(QPalette::Highlight, c.accent);
  palette.setColor(QPalette::HighlightedText, c.on_accent);
  palette.setColor(QPalette::Link, c.accent);
  palette.setColor(QPalette::LinkVisited, c.accent);
  palette.setColor(QPalette::PlaceholderText, c.second);
  for (const QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
    palette.setColor(QPalette::Disabled, role, c.third);
  palette.setColor(QPalette::Disabled, QPalette::Light, c.window);  // menus draw it behind their text
  palette.setColor(QPalette::Disabled, QPalette::Highlight, c.line);
  palette.setColor(QPalette::Disabled, QPalette::HighlightedText, c.third);
  return palette;
}

QColor mix(const QColor& a, const QColor& b, double share_of_b) {
  const double keep = 1 - share_of_b;
  return QColor::fromRgbF(static_cast<float>(a.redF() * keep + b.redF() * share_of_b),
                          static_cast<float>(a.greenF() * keep + b.greenF() * share_of_b),
                          static_cast<float>(a.blueF() * keep + b.blueF() * share_of_b));
}

const Tones& light_and_dark(Scheme scheme) {
  QPalette ground;
  ground.setColor(QPalette::Window, scheme == Scheme::dark ? Qt::black : Qt::white);
  ground.setColor(QPalette::WindowText, scheme == Scheme::dark ? Qt::white : Qt::black);
  return tones(ground);
}

}  // namespace

Scheme preferred_scheme() {
  return is_dark(QGuiApplication::palette()) ? Scheme::dark : Scheme::light;
}

void apply_theme(QApplication& application, Scheme scheme) {
  application.setStyle(new Style);
  application.setPalette(make_palette(light_and_dark(scheme)));
}

QFont interface_font(QFont desktop, const QStringList& families) {
  const QString inter = QStringLiteral("Inter");
  if (families.contains(inter)) desktop.setFamily(inter);
  return desktop;
}

QColor code_background(const QPalette& palette) {
  return tones(palette).code;
}

QColor user_bubble(const QPalette& palette) {
  return tones(palette).bubble;
}

QColor subtle_text(const QPalette& palette) {
  return tones(palette).second;
}

QColor quiet_text(const QPalette& palette) {
  return mix(tones(palette).text, tones(palette).second, 0.5);
}

QColor found_background(const QPalette& palette, bool current) {
  if (is_dark(palette)) return current ? QColor(0xf0, 0xb4, 0x3c) : QColor(0x6b, 0x56, 0x22);
  return current ? QColor(0xf5, 0xb0, 0x2e) : QColor(0xfb, 0xe9, 0xb0);
}

QColor found_text(const QPalette& palette, bool current) {
  return is_dark(palette) && !current ? QColor(0xff, 0xf4, 0xd6) : QColor(0x1c, 0x1d, 0x1f);
}

QColor hairline(const QPalette& palette) {
  return tones(palette).line;
}

QColor field_edge(const QPalette& palette) {
  return mix(tones(palette).window, tones(palette).text, 0.38);
}

QColor hover_background(const QPalette& palette) {
  return tones(palette).hover;
}

QColor warning_text(const QPalette& palette) {
  return tones(palette).warning;
}

QColor error_text(const QPalette& palette) {
  return tones(palette).error;
}

QColor error_background(const QPalette& palette) {
  return tones(palette).error_ground;
}

}  // namespace fovea::ui
