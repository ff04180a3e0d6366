// What people read of a device's failures and obstacles.
#include "engine/core/device_words.h"

#include "tests/support/test.h"

using namespace fovea;
using kernels::Action;
using kernels::Failure;
using kernels::Obstacle;
using Kind = kernels::Obstacle::Kind;

class DeviceWordsTest : public QObject {
  Q_OBJECT

  static void compare(const Phrase& phrase, const char* expected) {
    QCOMPARE(english(phrase), std::string(expected));
  }

 private Q_SLOTS:
  void failuresQuoteTheDriver() {
    compare(phrase_of(Failure{}), "");
    compare(phrase_of(Failure{.action = Action::asking_for_free_memory,
                              .said = "out of memory (cudaErrorMemoryAllocation)"}),
            "asking for free memory failed: out of memory (cudaErrorMemoryAllocation)");
    compare(
        phrase_of(Failure{
            .action = Action::multiplying, .said = "CUBLAS_STATUS", .library = "cuBLAS 13.1.2, /lib/x.so"}),
        "multiplying with cuBLAS failed: CUBLAS_STATUS (cuBLAS 13.1.2, /lib/x.so; FOVEA_CUBLAS=off does "
        "without it)");
    compare(phrase_of(Failure{.action = Action::waiting, .waited_s = 60, .last_kernel = "norm_kernel<3>"}),
            "the device did not finish within 60 s; the last kernel that it was given was norm_kernel<3>");
    compare(phrase_of(Failure{.action = Action::emulating, .said = "a race"}), "a race");
  }

  void everyActionHasWords() {
    for (auto i = static_cast<int>(Action::choosing_the_device); i < static_cast<int>(Action::waiting); ++i) {
      const Phrase phrase = phrase_of(Failure{.action = static_cast<Action>(i), .said = "x"});
      QVERIFY2(!english(phrase).starts_with(" failed"), std::to_string(i).c_str());
    }
  }

  void everyObstacleHasWords() {
    compare(phrase_of(Obstacle{}), "");
    const Failure failure{.action = Action::running_kernels, .said = "x"};
    for (auto i = static_cast<int>(Kind::none) + 1; i <= static_cast<int>(Kind::failed); ++i) {
      const Phrase phrase = phrase_of(Obstacle{.kind = static_cast<Kind>(i), .failure = failure});
      QVERIFY2(!english(phrase).empty(), std::to_string(i).c_str());
    }
  }

  void obstaclesNameWhatTheyAreAbout() {
    compare(phrase_of(Obstacle{.kind = Kind::no_driver}), "there is no NVIDIA driver here");
    compare(phrase_of(Obstacle{.kind = Kind::no_driver, .said = "no file"}),
            "there is no NVIDIA driver here (no file)");
    compare(
        phrase_of(Obstacle{.kind = Kind::old_driver, .names = {"12.2", "13.0", "580"}}),
        "the NVIDIA driver is too old: it knows CUDA 12.2, this program needs 13.0, which comes with driver "
        "580");
    compare(phrase_of(Obstacle{.kind = Kind::no_module, .names = {"/a.so", "/b.so"}}),
            "this program was built without its GPU module (it would be one of /a.so, /b.so); build it again "
            "on a machine with nvcc, see README.md");
    compare(phrase_of(Obstacle{.kind = Kind::other_build, .names = {"/a.so", "other", "this"}}),
            "/a.so is from another build (other, expected this); build or install both together");
    compare(phrase_of(Obstacle{.kind = Kind::unknown_switch, .names = {"speed"}}),
            "FOVEA_CUDA_OFF names \"speed\", which is none of pdl, graph and prefetch");
    compare(phrase_of(Obstacle{
                .kind = Kind::unloadable_library, .names = {"x.so", "libcublas.so.13"}, .said = "no file"}),
            "FOVEA_CUBLAS names x.so, which cannot be used (no file): name libcublas.so.13, or set it to "
            "\"off\"");
    compare(phrase_of(Obstacle{.kind = Kind::architecture, .names = {"sm_70", "sm_86", "sm_90"}}),
            "its architecture is sm_70, this build has sm_86, sm_90 and later ones");
  }

  void productsAreALibrarysOrOurOwn() {
    compare(phrase_of(kernels::Bf16Products{}), "");
    compare(phrase_of(kernels::Bf16Products{.library = "cuBLAS 13.1.2, /x.so"}), "cuBLAS 13.1.2, /x.so");
    compare(phrase_of(
                kernels::Bf16Products{.obstacle = {.kind = Kind::no_library, .names = {"libcublas.so.13"}}}),
            "Fovea's own kernels, since libcublas.so.13 is not installed");
  }
};
FOVEA_TEST(DeviceWordsTest)

#include "device_words_test.moc"
