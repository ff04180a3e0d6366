// How a fit looks: a mark that needs no colour vision, and a colour.
#pragma once

#include <QColor>
#include <QPalette>
#include <QString>
#include <optional>

#include "ui/models/model_rows.h"
#include "ui/theme/icons.h"

namespace fovea::ui {

std::optional<Glyph> fit_glyph(FitView fit);  // none: not known
QColor fit_colour(FitView fit, const QPalette& palette);

QString parameters_text(double count);  // "30.5 B"
// The name with places to break at, so that a narrow column can show all of it.
QString breakable(const QString& name);

}  // namespace fovea::ui
