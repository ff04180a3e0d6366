// What the programs that take pictures of synthetic widgets have in common:
//   QT_QPA_PLATFORM=offscreen PROGRAM FOLDER [light|dark]          scripts/screenshot --all calls them.
// QT_SCALE_FACTOR=2 gives them at 200 %.
#pragma once

#include <QString>

class QApplication;
class QWidget;

namespace fovea::tests {

class Pictures {
 public:
  // False where there is no folder among the arguments, which is said.
  bool begin(QApplication& application, int argc, char** argv);
  void save(QWidget& widget, const QString& name) const;

 private:
  QString folder_, suffix_;
};

}  // namespace fovea::tests
