#include "ui/theme/icons.h"

#include <QApplication>
#include <QFile>
#include <QIconEngine>
#include <QPainter>
#include <QPalette>
#include <QSvgRenderer>
#include <array>
#include <map>
#include <memory>
#include <utility>

#include "ui/theme/tokens.h"

// Of a static library, in the global namespace.
static void load_drawings() {
  Q_INIT_RESOURCE(line_icons);
}

namespace fovea::ui {
namespace {

constexpr std::array names = {"add",        "search", "models",   "settings", "panel",    "more",  "copy",
                              "regenerate", "edit",   "go_on",    "remove",   "previous", "next",  "open",
                              "attach",     "tune",   "send",     "stop",     "sidebar",  "close", "check",
                              "server",     "help",   "download", "folder",   "info",     "play",  "pause",
                              "up",         "down",   "latest",   "whole",    "most",     "half",  "none"};
static_assert(names.size() == static_cast<std::size_t>(last_glyph) + 1);

// The drawings say "currentColor", which Qt's renderer does not take from outside.
QSvgRenderer& drawing(Glyph glyph, const QColor& colour) {
  static std::map<std::pair<Glyph, QRgb>, std::unique_ptr<QSvgRenderer>> drawn;
  std::unique_ptr<QSvgRenderer>& known = drawn[{glyph, colour.rgb()}];
  if (known) return *known;
  load_drawings();
  QFile file(QStringLiteral(":/line/%1.svg").arg(QLatin1String(names[static_cast<std::size_t>(glyph)])));
  QByteArray text = file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
  text.replace("currentColor", colour.name().toLatin1());
  known = std::make_unique<QSvgRenderer>(text);
  return *known;
}

class GlyphEngine : public QIconEngine {
 public:
  GlyphEngine(Glyph glyph, bool is_main, IconColour own = {})
      : glyph_(glyph), is_main_(is_main), own_(std::move(own)) {}

  void paint(QPainter* painter, const QRect& area, QIcon::Mode mode, QIcon::State state) override {
    const Tones& t = tones(QApplication::palette());
    const QColor colour = own_                                               ? own_(QApplication::palette())
                          : mode == QIcon::Disabled                          ? t.third
                          : is_main_                                         ? t.on_brand
                          : state == QIcon::On                               ? t.accent
                          : mode == QIcon::Active || mode == QIcon::Selected ? t.text
                                                                             : t.second;
    paint_icon(*painter, glyph_, area, colour);
  }
  QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override {
    QPixmap drawn(size);
    drawn.fill(Qt::transparent);
    QPainter painter(&drawn);
    paint(&painter, QRect(QPoint(), size), mode, state);
    return drawn;
  }
  QIconEngine* clone() const override { return new GlyphEngine(*this); }

 private:
  Glyph glyph_;
  bool is_main_;
  IconColour own_;
};

}  // namespace

void paint_icon(QPainter& painter, Glyph glyph, const QRectF& area, const QColor& colour) {
  const qreal side = std::min(area.width(), area.height());
  QRectF square(0, 0, side, side);
  square.moveCenter(area.center());
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setOpacity(painter.opacity() * colour.alphaF());
  drawing(glyph, colour).render(&painter, square);
  painter.restore();
}

QIcon icon_of(Glyph glyph, bool is_main) {
  return QIcon(new GlyphEngine(glyph, is_main));
}

QIcon icon_in(Glyph glyph, IconColour colour) {
  return QIcon(new GlyphEngine(glyph, false, std::move(colour)));
}

void paint_mark(QPainter& painter, const QRectF& area, const QColor& brand) {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  const qreal outer = std::min(area.width(), area.height()) / 2;
  const auto ring = [&](qreal share, float opacity) {
    QColor colour = brand;
    colour.setAlphaF(opacity);
    painter.setBrush(colour);
    painter.drawEllipse(area.center(), outer * share, outer * share);
  };
  ring(1, 0.18F);
  ring(0.72, 0.38F);
  ring(0.46, 1);
  painter.restore();
}

}  // namespace fovea::ui
