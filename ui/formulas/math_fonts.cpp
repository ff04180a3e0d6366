#include "ui/formulas/math_fonts.h"

#include <QFontDatabase>
#include <QFontInfo>
#include <QFontMetricsF>
#include <QTextLayout>
#include <algorithm>
#include <cmath>

namespace fovea::ui {
namespace {

constexpr qsizetype kMostShaped = 20'000;
constexpr qsizetype kMostFonts = 8;
constexpr char32_t kNone = 0;

// The best first.
QString family_for_mathematics() {
  for (const char* family :
       {"STIX Two Math", "Latin Modern Math", "Cambria Math", "TeX Gyre Termes Math", "TeX Gyre Pagella Math",
        "DejaVu Math TeX Gyre", "Asana Math", "Noto Sans Math"}) {
    if (QFontDatabase::hasFamily(QLatin1String(family))) return QLatin1String(family);
  }
  return {};
}

// Letters whose styled form was in Unicode before the mathematical alphabets, which have gaps there.
char32_t early_letter(char32_t c, MathFace face) {
  struct Early {
    MathFace face;
    char32_t from, to;
  };
  static constexpr Early kEarly[] = {
      {MathFace::italic, U'h', 0x210e},       {MathFace::blackboard, U'C', 0x2102},
      {MathFace::blackboard, U'H', 0x210d},   {MathFace::blackboard, U'N', 0x2115},
      {MathFace::blackboard, U'P', 0x2119},   {MathFace::blackboard, U'Q', 0x211a},
      {MathFace::blackboard, U'R', 0x211d},   {MathFace::blackboard, U'Z', 0x2124},
      {MathFace::calligraphic, U'B', 0x212c}, {MathFace::calligraphic, U'E', 0x2130},
      {MathFace::calligraphic, U'F', 0x2131}, {MathFace::calligraphic, U'H', 0x210b},
      {MathFace::calligraphic, U'I', 0x2110}, {MathFace::calligraphic, U'L', 0x2112},
      {MathFace::calligraphic, U'M', 0x2133}, {MathFace::calligraphic, U'R', 0x211b},
      {MathFace::calligraphic, U'e', 0x212f}, {MathFace::calligraphic, U'g', 0x210a},
      {MathFace::calligraphic, U'o', 0x2134}, {MathFace::fraktur, U'C', 0x212d},
      {MathFace::fraktur, U'H', 0x210c},      {MathFace::fraktur, U'I', 0x2111},
      {MathFace::fraktur, U'R', 0x211c},      {MathFace::fraktur, U'Z', 0x2128}};
  for (const Early& early : kEarly) {
    if (early.face == face && early.from == c) return early.to;
  }
  return kNone;
}

// Where each face's alphabets begin: Latin capitals (the small ones follow), Greek ones, digits.
struct Alphabet {
  MathFace face;
  char32_t latin, greek, digits;
};
constexpr Alphabet kAlphabets[] = {
    {MathFace::italic, 0x1d434, 0x1d6e2, kNone},        {MathFace::bold, 0x1d400, 0x1d6a8, 0x1d7ce},
    {MathFace::bold_italic, 0x1d468, 0x1d71c, 0x1d7ce}, {MathFace::blackboard, 0x1d538, kNone, 0x1d7d8},
    {MathFace::calligraphic, 0x1d49c, kNone, kNone},    {MathFace::fraktur, 0x1d504, kNone, kNone},
    {MathFace::sans, 0x1d5a0, kNone, 0x1d7e2},          {MathFace::mono, 0x1d670, kNone, 0x1d7f6}};

char32_t styled_letter(char32_t c, MathFace face) {
  if (const char32_t early = early_letter(c, face)) return early;
  const Alphabet* alphabet = std::ranges::find(kAlphabets, face, &Alphabet::face);
  if (alphabet == std::end(kAlphabets)) return kNone;
  if (c >= U'A' && c <= U'Z') return alphabet->latin + (c - U'A');
  if (c >= U'a' && c <= U'z') return alphabet->latin + 26 + (c - U'a');
  if (c >= U'0' && c <= U'9') return alphabet->digits == kNone ? kNone : alphabet->digits + (c - U'0');
  if (alphabet->greek == kNone) return kNone;
  if (c >= 0x391 && c <= 0x3a9) return alphabet->greek + (c - 0x391);
  if (c >= 0x3b1 && c <= 0x3c9) return alphabet->greek + 26 + (c - 0x3b1);
  // ∂ ϵ ϑ ϰ ϕ ϱ ϖ stand behind the small letters, in this order.
  static constexpr char32_t kVariants[] = {0x2202, 0x3f5, 0x3d1, 0x3f0, 0x3d5, 0x3f1, 0x3d6};
  const char32_t* variant = std::ranges::find(kVariants, c);
  if (variant == std::end(kVariants)) return kNone;
  return alphabet->greek + 51 + static_cast<char32_t>(variant - kVariants);
}

}  // namespace

MathFonts::MathFonts(const QFont& text) : MathFonts(text, family_for_mathematics()) {}

MathFonts::MathFonts(const QFont& text, const QString& family) : text_(text), family_(family) {
  text_.setBold(false);
  const QFontInfo info(text_);
  const qreal pixels = std::max(1, info.pixelSize());
  points_per_pixel_ = info.pointSizeF() > 0 ? info.pointSizeF() / pixels : 0.75;
  size_ = pixels;
  if (family_.isEmpty()) return;
  raw_ = QRawFont::fromFont(font_of(MathFace::upright, pixels, true));
  const qreal own = measure(QStringLiteral("x"), MathFace::upright, pixels).ascent;
  const qreal around = QFontMetricsF(text_).tightBoundingRect(QStringLiteral("x")).height();
  if (own > 0) size_ = pixels * std::clamp(around / own, 1.0, 1.2);
}

MathFonts::~MathFonts() = default;

QFont MathFonts::font_of(MathFace face, qreal size, bool mathematical) const {
  QFont font = text_;
  const bool mono = face == MathFace::mono && !mathematical;
  if (mono) font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
  if (mathematical) {
    QStringList families{family_};
    families += text_.families().isEmpty() ? QStringList(text_.family()) : text_.families();
    font.setFamilies(families);
    font.setWeight(QFont::Normal);
    font.setItalic(false);
  } else {
    font.setItalic(face == MathFace::italic || face == MathFace::bold_italic);
    font.setBold(face == MathFace::bold || face == MathFace::bold_italic);
  }
  font.setPointSizeF(std::max(0.5, size * points_per_pixel_));
  font.setHintingPreference(QFont::PreferNoHinting);
  return font;
}

bool MathFonts::has_all(const QString& text) const {
  const auto characters = text.toUcs4();
  return std::ranges::all_of(characters,
                             [this](char32_t c) { return c == U' ' || raw_.supportsCharacter(c); });
}

// The text in the font's own alphabet for the face, as far as it has one.
QString MathFonts::alphabet_of(const QString& text, MathFace face) const {
  QString out;
  for (const char32_t c : text.toUcs4()) {
    const char32_t styled = styled_letter(c, face);
    const bool has = styled != kNone && (family_.isEmpty() || raw_.supportsCharacter(styled));
    out += QString::fromUcs4(has ? &styled : &c, 1);
  }
  return out;
}

const MathFonts::Shaped& MathFonts::shaped(const QString& text, MathFace face, qreal size) const {
  const auto step = static_cast<char16_t>(std::clamp(std::lround(size * 16), 1L, 60'000L));
  const QString key = text + QChar(static_cast<char16_t>(face)) + QChar(step);
  if (const auto known = shaped_.constFind(key); known != shaped_.cend()) return *known;
  if (shaped_.size() >= kMostShaped) shaped_.clear();
  // Without a font for mathematics only the alphabets that are no styles of a font are Unicode's.
  const bool drawn =
      face == MathFace::blackboard || face == MathFace::calligraphic || face == MathFace::fraktur;
  const QString styled = !family_.isEmpty() || drawn ? alphabet_of(text, face) : text;
  const bool words = face == MathFace::text || face == MathFace::mono;
  const bool mathematical = !family_.isEmpty() && (!words || (face == MathFace::text && has_all(text)));
  QTextLayout layout(words ? text : styled, font_of(face, step / 16.0, mathematical));
  layout.beginLayout();
  QTextLine line = layout.createLine();
  line.setLineWidth(1e6);
  layout.endLayout();
  Shaped out;
  out.extents.width = line.cursorToX(static_cast<int>(layout.text().size()));
  QRectF ink;
  for (QGlyphRun run : layout.glyphRuns()) {
    QList<QPointF> positions = run.positions();
    const QList<quint32> indexes = run.glyphIndexes();
    for (qsizetype i = 0; i < positions.size(); ++i) {
      positions[i].ry() -= line.ascent();
      const QRectF box = run.rawFont().boundingRect(indexes[i]);
      if (!box.isEmpty()) ink |= box.translated(positions[i]);
    }
    run.setPositions(positions);
    out.glyphs.append(run);
  }
  out.extents.ascent = -ink.top();
  out.extents.descent = ink.bottom();
  out.extents.overhang = std::max(0.0, ink.right() - out.extents.width);
  return *shaped_.insert(key, std::move(out));
}

MathExtents MathFonts::measure(const QString& text, MathFace face, qreal size) const {
  return shaped(text, face, size).extents;
}

const QList<QGlyphRun>& MathFonts::glyphs(const QString& text, MathFace face, qreal size) const {
  return shaped(text, face, size).glyphs;
}

std::shared_ptr<const MathFonts> math_fonts(const QFont& text) {
  static QHash<QString, std::shared_ptr<const MathFonts>> made;
  const QString key = text.key();
  if (const auto known = made.constFind(key); known != made.cend()) return *known;
  if (made.size() >= kMostFonts) made.clear();
  return *made.insert(key, std::make_shared<const MathFonts>(text));
}

}  // namespace fovea::ui
