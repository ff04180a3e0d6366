#include <QApplication>

#include "tests/support/application.h"
#include "tests/support/test.h"

int main(int argc, char** argv) {
  const fovea::tests::TestApplication<QApplication> application(argc, argv);
  return fovea::tests::run(argc, argv);
}
