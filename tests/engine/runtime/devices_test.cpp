#include "engine/api/devices.h"

#include <algorithm>
#include <thread>

#include "engine/runtime/processor.h"
#include "tests/support/test.h"

using fovea::ErrorKind;

namespace {

class Environment {
 public:
  explicit Environment(const char* value)
      : old_(qgetenv("FOVEA_CPU")), had_(qEnvironmentVariableIsSet("FOVEA_CPU")) {
    qputenv("FOVEA_CPU", value);
  }
  ~Environment() { had_ ? qputenv("FOVEA_CPU", old_) : qunsetenv("FOVEA_CPU"); }

 private:
  QByteArray old_;
  bool had_;
};

}  // namespace

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
    const Environment scalar("scalar");
    const auto found = fovea::devices();
    FOVEA_VERIFY(found);
    QCOMPARE(found->front().instruction_set, std::string("scalar"));
  }

  void anUnknownOneIsRefusedWithWhatThereIs() {
    const Environment unknown("abacus");
    const auto found = fovea::devices();
    QVERIFY(!found);
    QCOMPARE(found.error().kind, ErrorKind::not_found);
    QVERIFY(found.error().what.contains("abacus"));
    QVERIFY(found.error().advice.contains("scalar"));
  }
};
FOVEA_TEST(DevicesTest)

#include "devices_test.moc"
