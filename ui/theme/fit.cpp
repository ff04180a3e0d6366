#include "ui/theme/fit.h"

#include "ui/theme/theme.h"
#include "ui/theme/tier_colours.h"

namespace fovea::ui {

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

}  // namespace fovea::ui
