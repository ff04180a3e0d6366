#include "tests/ui/pictures/pictures.h"

#include <QApplication>
#include <QDir>
#include <QWidget>
#include <cstdio>

#include "ui/language/language.h"
#include "ui/theme/theme.h"

namespace fovea::tests {

bool Pictures::begin(QApplication& application, int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s FOLDER [light|dark]\n", argv[0]);
    return false;
  }
  folder_ = QString::fromLocal8Bit(argv[1]);
  QDir().mkpath(folder_);
  const bool dark = argc > 2 && QByteArray(argv[2]) == "dark";
  ui::use_language(QStringLiteral("en"));
  ui::apply_theme(application, dark ? ui::Scheme::dark : ui::Scheme::light);
  suffix_ = dark ? QStringLiteral("-dark") : QStringLiteral("-light");
  if (const QString scale = qEnvironmentVariable("QT_SCALE_FACTOR"); !scale.isEmpty())
    suffix_ += QStringLiteral("@%1x").arg(scale);
  return true;
}

void Pictures::save(QWidget& widget, const QString& name) const {
  const QString path = QDir(folder_).filePath(name + suffix_ + QStringLiteral(".png"));
  if (!widget.grab().save(path)) std::fprintf(stderr, "cannot write %s\n", qPrintable(path));
}

}  // namespace fovea::tests
