// A race planted for the thread sanitizer, which must report it although Qt calls the code and Qt's own
// reports are suppressed (tsan.supp).
#include <thread>

#include "tests/support/test.h"

class PlantedRaceTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void betweenThreads() {
    int value = 0;
    std::thread other([&value] { ++value; });
    ++value;
    other.join();
    QVERIFY(value > 0);
  }
};

FOVEA_TEST(PlantedRaceTest)
#include "planted_race_test.moc"
