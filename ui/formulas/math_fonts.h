// The letters of formulas: measured for the layout, and drawn as they were measured.
#pragma once

#include <QFont>
#include <QGlyphRun>
#include <QHash>
#include <QList>
#include <QRawFont>
#include <memory>

#include "ui/mathematics/metrics.h"

namespace fovea::ui {

// A font for mathematics where the desktop has one, else the font of the text around. Sizes are pixels.
class MathFonts final : public MathMetrics {
 public:
  explicit MathFonts(const QFont& text);
  MathFonts(const QFont& text, const QString& family);  // empty: without a font for mathematics
  ~MathFonts() override;
  MathFonts(const MathFonts&) = delete;
  MathFonts& operator=(const MathFonts&) = delete;

  MathExtents measure(const QString& text, MathFace face, qreal size) const override;
  // With their origin at the left end of the baseline.
  const QList<QGlyphRun>& glyphs(const QString& text, MathFace face, qreal size) const;
  // Of a formula's letters, so that they are as high as those of the text.
  qreal size() const { return size_; }
  const QString& family() const { return family_; }  // of the font for mathematics; empty: there is none

 private:
  struct Shaped {
    QList<QGlyphRun> glyphs;
    MathExtents extents;
  };
  const Shaped& shaped(const QString& text, MathFace face, qreal size) const;
  QFont font_of(MathFace face, qreal size, bool mathematical) const;
  QString alphabet_of(const QString& text, MathFace face) const;
  bool has_all(const QString& text) const;

  QFont text_;
  QString family_;
  QRawFont raw_;
  qreal points_per_pixel_ = 0.75;
  qreal size_ = 15;
  mutable QHash<QString, Shaped> shaped_;
};

// Those for a text's font: made once. Belongs to the thread of the window.
std::shared_ptr<const MathFonts> math_fonts(const QFont& text);

}  // namespace fovea::ui
