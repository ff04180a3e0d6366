// Formulas as legible text: Greek letters, scripts, fractions, roots and operators in Unicode. What is not
// known stays visible as its source.
#pragma once

#include <QStringView>

#include "ui/markdown/document.h"

namespace fovea::ui {

// The inside of $…$ or \[…\]. Variables are italic runs; rows of an environment are separated by
// QChar::LineSeparator.
StyledText render_tex(QStringView tex);

}  // namespace fovea::ui
