// What TeX's symbol macros mean as Unicode text.
#pragma once

#include <QChar>
#include <QString>
#include <QStringView>
#include <cstdint>

namespace fovea::ui {

enum class TexClass : std::uint8_t {
  ordinary,
  binary,       // spaces around it, unless it is a sign
  relation,     // spaces around it
  punctuation,  // a space after it
  opening,
  closing,
  function,  // upright name: sin, log; a space before its argument
  large,     // ∑, ∫: like a function, but its limits stand at it
  space,
};

struct TexSymbol {
  QString text;
  TexClass kind = TexClass::ordinary;
};

// The symbol of \name, or null.
const TexSymbol* tex_symbol(QStringView name);

// The combining mark of an accent macro (\hat, \vec …), or a null character.
QChar tex_accent(QStringView name);

// A letter in the alphabet of \mathbb, \mathcal or \mathfrak, or an empty string.
QString tex_alphabet(QStringView macro, QChar letter);

// The text in superscript or subscript characters; null if Unicode lacks one of them.
QString superscript(QStringView text);
QString subscript(QStringView text);

}  // namespace fovea::ui
