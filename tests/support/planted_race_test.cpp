// Races planted for the thread sanitizer, which must report them although Qt calls the code and Qt's own
// reports are suppressed (tsan.supp).
#include <QThread>
#include <atomic>
#include <thread>

#include "tests/support/test.h"

namespace {

class Counter : public QObject {
  Q_OBJECT

 public:
  int value = 0;
  std::atomic<bool> added = false;

 public Q_SLOTS:
  void add() {
    ++value;
    added.store(true, std::memory_order_relaxed);
  }
};

}  // namespace

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

  void inSlotOfAnotherThread() { use_slot(true); }
  void noneInSlotOfAnotherThread() { use_slot(false); }

 private:
  static void use_slot(bool races) {
    QThread thread;
    Counter counter;
    counter.moveToThread(&thread);
    thread.start();
    QMetaObject::invokeMethod(&counter, &Counter::add, Qt::QueuedConnection);
    if (races) ++counter.value;
    while (!counter.added.load(std::memory_order_relaxed)) std::this_thread::yield();
    thread.quit();
    thread.wait();
    QVERIFY(counter.value > 0);
  }
};

FOVEA_TEST(PlantedRaceTest)
#include "planted_race_test.moc"
