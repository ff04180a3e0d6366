#include "engine/api/devices.h"

#include <algorithm>
#include <thread>

#include "engine/runtime/processor.h"
#include "tests/support/environment.h"
#include "tests/support/test.h"

using fovea::ErrorKind;

class DevicesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void theProcessorIsDescribed() {
    const auto found = fovea::devices();
    FOVEA_VERIFY(found);
    QCOMPARE(found->size(), 1U);
    const fovea::DeviceInfo& cpu = found->front();
    QCOMPARE(cpu.name, std::string("cpu"));
    QVERIFY(!cpu.description.empty());
    QVERIFY(std::ranges::count(cpu.instruction_sets, cpu.instruction_set) == 1);
    QVERIFY(std::ranges::count(cpu.instruction_sets, "scalar") == 1);
    QVERIFY(cpu.cores >= 1 &&
            cpu.cores <= static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
    QVERIFY(cpu.memory_free_bytes > 0 && cpu.memory_free_bytes <= cpu.memory_bytes);
  }

  void oneMayBeForced() {
    const fovea::tests::Environment scalar{{"FOVEA_CPU", "scalar"}};
    const auto found = fovea::devices();
    FOVEA_VERIFY(found);
    QCOMPARE(found->front().instruction_set, std::string("scalar"));
  }

  void anUnknownOneIsRefusedWithWhatThereIs() {
    const fovea::tests::Environment unknown{{"FOVEA_CPU", "abacus"}};
    const auto found = fovea::devices();
    QVERIFY(!found);
    QCOMPARE(found.error().kind, ErrorKind::not_found);
    QVERIFY(found.error().what_words().contains("abacus"));
    QVERIFY(found.error().advice_words().contains("scalar"));
  }
};
FOVEA_TEST(DevicesTest)

#include "devices_test.moc"
