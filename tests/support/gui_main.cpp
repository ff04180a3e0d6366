#include <QApplication>

#include "tests/support/test.h"

int main(int argc, char** argv) {
  const QApplication application(argc, argv);
  return fovea::tests::run(argc, argv);
}
