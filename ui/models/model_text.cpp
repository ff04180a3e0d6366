#include "ui/models/model_text.h"

#include <QCoreApplication>
#include <QLocale>

namespace fovea::ui {
namespace {

struct Words {
  Q_DECLARE_TR_FUNCTIONS(fovea::ui::ModelNumbers)
};

}  // namespace

QString parameters_text(double count) {
  return count < 1e9 ? Words::tr("%1 M").arg(QLocale().toString(count / 1e6, 'f', 0))
                     : Words::tr("%1 B").arg(QLocale().toString(count / 1e9, 'f', 1));
}

QString breakable(const QString& name) {
  QString text;
  for (const QChar c : name) {
    text += c;
    if (c == QLatin1Char('_') || c == QLatin1Char('/') || c == QLatin1Char('.') || c == QLatin1Char('-'))
      text += QChar(0x200B);
  }
  return text;
}

}  // namespace fovea::ui
