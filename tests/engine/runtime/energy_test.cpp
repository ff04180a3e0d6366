// Energy, from counters as Linux shows them in folders that the test makes.
#include "engine/runtime/energy.h"

#include <QTemporaryDir>
#include <filesystem>
#include <fstream>

#include "tests/support/test.h"

using namespace fovea;
using namespace fovea::tests;
using runtime::EnergyMeter;

class EnergyTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() { folder_ = std::make_unique<QTemporaryDir>(); }

  void sumsPackagesAndTheirMemory() {
    put("intel-rapl:0", "package-0", 1'000'000);
    put("intel-rapl:0:0", "core", 500'000);
    put("intel-rapl:0:1", "dram", 100'000);
    put("intel-rapl:1", "psys", 9'000'000);
    EnergyMeter meter(false, root());
    QCOMPARE(meter.joules().value_or(-1), 0.0);
    put("intel-rapl:0", "package-0", 3'500'000);
    put("intel-rapl:0:0", "core", 2'500'000);
    put("intel-rapl:0:1", "dram", 600'000);
    put("intel-rapl:1", "psys", 29'000'000);
    QCOMPARE(meter.joules().value_or(-1), 3.0);
  }

  void goesOnWhereACounterBeginsAgain() {
    put("intel-rapl:0", "package-0", 9'000'000, 10'000'000);
    EnergyMeter meter(false, root());
    put("intel-rapl:0", "package-0", 1'000'000, 10'000'000);
    QCOMPARE(meter.joules().value_or(-1), 2.0);
    put("intel-rapl:0", "package-0", 4'000'000, 10'000'000);
    QCOMPARE(meter.joules().value_or(-1), 5.0);
  }

  void saysNothingWhereNothingIsTold() {
    QVERIFY(!EnergyMeter(false, root()).joules());
    put("intel-rapl:0", "package-0", 1);
    // A GPU computes, and nobody tells of it: the processor's share alone would mislead.
    if (!std::filesystem::exists("/proc/driver/nvidia")) QVERIFY(!EnergyMeter(true, root()).joules());
    EnergyMeter meter(false, root());
    QVERIFY(meter.joules());
    std::filesystem::remove_all(root() / "sys");
    QVERIFY(!meter.joules());
  }

 private:
  std::filesystem::path root() const { return folder_->path().toStdString(); }
  void put(const char* zone, const char* name, std::int64_t microjoules, std::int64_t range = 1LL << 40) {
    const std::filesystem::path folder = root() / "sys/class/powercap" / zone;
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "name") << name << '\n';
    std::ofstream(folder / "energy_uj") << microjoules << '\n';
    std::ofstream(folder / "max_energy_range_uj") << range << '\n';
  }

  std::unique_ptr<QTemporaryDir> folder_;
};

FOVEA_TEST(EnergyTest)
#include "energy_test.moc"
