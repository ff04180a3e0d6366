#include <QCoreApplication>

#include "tests/support/application.h"
#include "tests/support/test.h"

int main(int argc, char** argv) {
  const fovea::tests::TestApplication<QCoreApplication> application(argc, argv);
  return fovea::tests::run(argc, argv);
}
