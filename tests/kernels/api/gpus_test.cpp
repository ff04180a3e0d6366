// Loading a module: what it finds, and each reason for finding nothing.
#include "kernels/api/gpus.h"

#include <QTemporaryDir>
#include <array>
#include <fstream>

#include "tests/support/test.h"

using namespace fovea::kernels;

namespace {

using Kind = Obstacle::Kind;

constexpr char some_library[] = "libc.so.6";  // stands for the driver's

ModuleDevices load(const std::filesystem::path& module, const std::string& driver = some_library) {
  return load_module(driver, std::array{module});
}

void refuses(const ModuleDevices& found, Obstacle::Kind why) {
  QVERIFY(found.devices.empty());
  QCOMPARE(found.obstacle.kind, why);
}

}  // namespace

class GpusTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void theModulesDevicesAreFound() {
    const std::array places{std::filesystem::path("/nowhere/fovea_cuda.so"),
                            std::filesystem::path(PLANTED_RIGHT)};
    const ModuleDevices found = load_module(some_library, places);
    QVERIFY(found.obstacle.empty());
    QCOMPARE(found.devices.size(), 2U);
    QCOMPARE(found.devices[0].device->name(), std::string("reference"));
    QVERIFY(found.devices[1].device == nullptr);
    QCOMPARE(found.devices[1].obstacle.kind, Kind::architecture);
  }

  void withoutADriverNothingIsLoaded() {
    const ModuleDevices found = load(PLANTED_RIGHT, "libno_such_driver.so.1");
    refuses(found, Kind::no_driver);
    QVERIFY(found.obstacle.said.contains("libno_such_driver.so.1"));
  }

  void aMissingModuleNamesWhereItWouldBe() {
    const ModuleDevices found = load("/nowhere/fovea_cuda.so");
    refuses(found, Kind::no_module);
    QCOMPARE(found.obstacle.names, std::vector<std::string>{"/nowhere/fovea_cuda.so"});
  }

  void aModuleOfAnotherBuildIsRefused() {
    const ModuleDevices found = load(PLANTED_WRONG);
    refuses(found, Kind::other_build);
    QCOMPARE(found.obstacle.names.size(), 3U);
    QCOMPARE(found.obstacle.names[0], std::string(PLANTED_WRONG));
    QCOMPARE(found.obstacle.names[1], std::string("other"));
  }

  void aDamagedModuleIsRefused() {
    const QTemporaryDir folder;
    const std::filesystem::path module = folder.filePath("fovea_cuda.so").toStdString();
    std::ofstream(module) << "no library";
    const ModuleDevices found = load(module);
    refuses(found, Kind::unloadable_module);
    QVERIFY(!found.obstacle.said.empty());
  }

  void anotherLibraryIsRefused() { refuses(load("/lib/x86_64-linux-gnu/libc.so.6"), Kind::foreign_module); }

  // The module itself is loaded without a driver, and says that there is none, or which devices there are.
  void theGpuModuleAnswers() {
    if (!std::filesystem::exists(CUDA_MODULE)) QSKIP("this build has no GPU module");
    const ModuleDevices found = load(CUDA_MODULE);
    QVERIFY(found.devices.empty() != found.obstacle.empty());
    QVERIFY(found.obstacle.kind != Kind::other_build && found.obstacle.kind != Kind::unloadable_module);
  }
};
FOVEA_TEST(GpusTest)

#include "gpus_test.moc"
