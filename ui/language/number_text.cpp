#include "ui/language/number_text.h"

#include <QLocale>
#include <array>
#include <cmath>

namespace fovea::ui {
namespace {

// Three digits that matter.
QString scaled(double value) {
  return QLocale().toString(value, 'f', value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2);
}

}  // namespace

QString bytes_text(double bytes) {
  static constexpr std::array<const char*, 5> units = {"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (std::abs(bytes) >= 999.5 && unit + 1 < units.size()) {
    bytes /= 1000;
    ++unit;
  }
  const QString number = unit == 0 ? QLocale().toString(bytes, 'f', 0) : scaled(bytes);
  return number + QChar(QChar::Nbsp) + QLatin1String(units[unit]);
}

QString rate_text(double bytes_per_second) {
  return bytes_text(bytes_per_second) + QStringLiteral("/s");
}

QString percent_text(double share, int decimals) {
  return QLocale().toString(100 * share, 'f', decimals) + QChar(QChar::Nbsp) + QLatin1Char('%');
}

QString number_text(double value, int decimals) {
  return QLocale().toString(value, 'f', decimals);
}

QString count_text(std::int64_t count) {
  return QLocale().toString(static_cast<qlonglong>(count));
}

QString duration_text(double seconds) {
  const int whole = static_cast<int>(std::lround(std::max(0.0, seconds)));
  return QStringLiteral("%1:%2").arg(whole / 60).arg(whole % 60, 2, 10, QLatin1Char('0'));
}

QString milliseconds_text(double seconds) {
  return scaled(1000 * seconds) + QChar(QChar::Nbsp) + QStringLiteral("ms");
}

}  // namespace fovea::ui
