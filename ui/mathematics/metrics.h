// What a layout asks of fonts. It knows none itself: the window answers with the desktop's, tests with
// made-up ones.
#pragma once

#include <QString>

#include "ui/mathematics/tree.h"

namespace fovea::ui {

// Of a text's ink, from its baseline; `width` is how far the pen moves.
struct MathExtents {
  qreal width = 0;
  qreal ascent = 0;
  qreal descent = 0;   // below the baseline; negative where the ink floats above it
  qreal overhang = 0;  // of the ink, at the right of `width`
};

class MathMetrics {
 public:
  virtual ~MathMetrics() = default;
  virtual MathExtents measure(const QString& text, MathFace face, qreal size) const = 0;
};

}  // namespace fovea::ui
