// Trees as boxes, by the rules of TeX (The TeXbook, appendix G) as far as they show on a screen.
#pragma once

#include "ui/mathematics/box.h"
#include "ui/mathematics/metrics.h"
#include "ui/mathematics/tree.h"

namespace fovea::ui {

// `size` is that of the letters, in the unit of the metrics.
MathBox lay_out_math(const MathNode& formula, const MathMetrics& metrics, qreal size, bool display);

}  // namespace fovea::ui
