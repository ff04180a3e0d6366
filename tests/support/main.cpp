#include <QCoreApplication>

#include "tests/support/test.h"

int main(int argc, char** argv) {
  const QCoreApplication application(argc, argv);
  return fovea::tests::run(argc, argv);
}
