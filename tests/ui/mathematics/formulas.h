// The formulas of formulas.txt.
#pragma once

#include <QFile>
#include <QStringList>

namespace fovea::tests {

inline QStringList sample_formulas() {
  QFile file(QStringLiteral(FOVEA_SOURCE_DIR "/tests/ui/mathematics/formulas.txt"));
  QStringList out;
  if (!file.open(QIODevice::ReadOnly)) return out;
  for (const QString& line : QString::fromUtf8(file.readAll()).split(QLatin1Char('\n'))) {
    if (!line.isEmpty() && !line.startsWith(QLatin1Char('#'))) out += line;
  }
  return out;
}

}  // namespace fovea::tests
