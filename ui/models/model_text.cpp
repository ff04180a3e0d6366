#include "ui/models/fit_style.h"

#include <QCoreApplication>
#include <QLocale>

#include "ui/theme/theme.h"
#include "ui/theme/tier_colours.h"

namespace fovea::ui {
namespace {

struct Words {
  Q_DECLARE_TR_FUNCTIONS(fovea::ui::ModelNumbers)
};

}  // namespace

std::optional<Glyph> fit_glyph(FitView fit) {
  switch (fit) {
    case FitView::fits:
      return Glyph::whole;
    case FitView::lower_precision:
      return Glyph::most;
    case FitView::experts_elsewhere:
      return Glyph::half;
    case FitView::does_not_fit:
      return Glyph::none;
    case FitView::unknown:
      break;
  }
  return {};
}

QColor fit_colour(FitView fit, const QPalette& palette) {
  switch (fit) {
    case FitView::fits:
      return good_colour(palette);
    case FitView::lower_precision:
      return palette.color(QPalette::Link);
    case FitView::experts_elsewhere:
      return warning_text(palette);
    case FitView::does_not_fit:
      return error_text(palette);
    case FitView::unknown:
      break;
  }
  return subtle_text(palette);
}

QString parameters_text(double count) {
  return count < 1e9 ? Words::tr("%1 M").arg(QLocale().toString(count / 1e6, 'f', 0))
                     : Words::tr("%1 B").arg(QLocale().toString(count / 1e9, 'f', 1));
}

QString breakable(const QString& name) {
  QString text;
  for (const QChar c : name) {
    text += c;
    if (c == QLatin1Char('_') || c == QLatin1Char('/') || c == QLatin1Char('.') || c == QLatin1Char('-'))
      text += QChar(0x200B);
  }
  return text;
}

}  // namespace fovea::ui
