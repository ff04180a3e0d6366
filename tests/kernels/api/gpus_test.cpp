// Loading a module: what it finds, and each reason for finding nothing.
#include "kernels/api/gpus.h"

#include <QTemporaryDir>
#include <array>
#include <fstream>

#include "tests/support/test.h"

using namespace fovea::kernels;

namespace {

constexpr char some_library[] = "libc.so.6";  // stands for the driver's

ModuleDevices load(const std::filesystem::path& module, const std::string& driver = some_library) {
  return load_module(driver, std::array{module});
}

void refuses(const ModuleDevices& found, const char* words) {
  QVERIFY(found.devices.empty());
  QVERIFY2(found.reason.contains(words), found.reason.c_str());
}

}  // namespace

class GpusTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void theModulesDevicesAreFound() {
    const std::array places{std::filesystem::path("/nowhere/fovea_cuda.so"),
                            std::filesystem::path(PLANTED_RIGHT)};
    const ModuleDevices found = load_module(some_library, places);
    QVERIFY2(found.reason.empty(), found.reason.c_str());
    QCOMPARE(found.devices.size(), 2U);
    QCOMPARE(found.devices[0].device->name(), std::string("reference"));
    QVERIFY(found.devices[1].device == nullptr);
    QCOMPARE(found.devices[1].reason, std::string("it is too old"));
  }

  void withoutADriverNothingIsLoaded() {
    refuses(load(PLANTED_RIGHT, "libno_such_driver.so.1"), "there is no NVIDIA driver here");
  }

  void aMissingModuleNamesWhereItWouldBe() {
    const ModuleDevices found = load("/nowhere/fovea_cuda.so");
    refuses(found, "built without its GPU module");
    refuses(found, "/nowhere/fovea_cuda.so");
  }

  void aModuleOfAnotherBuildIsRefused() {
    refuses(load(PLANTED_WRONG), "is of another build (other, expected ");
  }

  void aDamagedModuleIsRefused() {
    const QTemporaryDir folder;
    const std::filesystem::path module = folder.filePath("fovea_cuda.so").toStdString();
    std::ofstream(module) << "no library";
    refuses(load(module), "the GPU module cannot be loaded");
  }

  void anotherLibraryIsRefused() {
    refuses(load("/lib/x86_64-linux-gnu/libc.so.6"), "is no module of Fovea");
  }

  // The module itself is loaded without a driver, and says that there is none, or which devices there are.
  void theGpuModuleAnswers() {
    if (!std::filesystem::exists(CUDA_MODULE)) QSKIP("this build has no GPU module");
    const ModuleDevices found = load(CUDA_MODULE);
    QVERIFY(found.devices.empty() != found.reason.empty());
    QVERIFY2(!found.reason.contains("another build"), found.reason.c_str());
    QVERIFY2(!found.reason.contains("cannot be loaded"), found.reason.c_str());
  }
};
FOVEA_TEST(GpusTest)

#include "gpus_test.moc"
