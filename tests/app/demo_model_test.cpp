#include "app/demo/demo_model.h"

#include <fstream>
#include <set>

#include "app/demo/checksum.h"
#include "app/demo/recipe.h"
#include "tests/support/test.h"

namespace fs = std::filesystem;
using namespace fovea::app;

namespace {

// Of the file that holds the tensors and metadata of the recipe's own Python program, compared one by one.
constexpr const char* model_sha256 = "59f0d66d3e5677903d7385b2fb48a46cd425ad75d2590191010f9dad49782529";

}  // namespace

class DemoModelTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void checksums_data() {
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<QByteArray>("expected");
    QTest::newRow("empty") << QByteArray()
                           << QByteArray("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    QTest::newRow("abc") << QByteArray("abc")  // FIPS 180-2, appendix B.1
                         << QByteArray("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  }
  void checksums() {
    QFETCH(QByteArray, content);
    const fovea::tests::TemporaryFolder folder;
    std::ofstream(folder.path() / "f") << content.toStdString();
    QTEST(QByteArray::fromStdString(sha256(folder.path() / "f").value()), "expected");
    QVERIFY(!sha256(folder.path() / "none"));
  }

  // Every neuron of the dense feed-forward is in exactly one place.
  void theRecipeSharesOutAllNeurons() {
    const auto recipe = Recipe::open();
    FOVEA_VERIFY(recipe);
    for (int layer = 0; layer < 30; ++layer) {
      std::set<std::int64_t> neurons;
      for (const char* part : {"shared.", "experts."}) {
        const auto indices = recipe->integers(part + std::to_string(layer));
        QCOMPARE(indices.size(), 768U);
        neurons.insert(indices.begin(), indices.end());
      }
      QCOMPARE(neurons.size(), 1536U);
      QCOMPARE(*neurons.begin(), 0);
      QCOMPARE(*neurons.rbegin(), 1535);
    }
    QCOMPARE(recipe->integers("active"), std::vector<std::int64_t>{10});
    QVERIFY(recipe->floats("shared.0").empty());  // of another kind
    QVERIFY(recipe->integers("nothing").empty());
  }

  void anotherSourceIsRefused() {
    const fovea::tests::TemporaryFolder folder;
    const fs::path source = fovea::tests::golden("checkpoint/small.gguf");
    const auto error = install_demo_model(source, folder.path() / "models").error();
    QCOMPARE(error.kind, fovea::ErrorKind::format);
    QVERIFY(error.message().contains("b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"));
    QVERIFY(!fs::exists(folder.path() / "models"));
    const auto unfit = build_demo_model(source, folder.path() / "x.gguf").error();
    QVERIFY(unfit.message().contains("shape"));
    QVERIFY(!fs::exists(folder.path() / "x.gguf"));
  }

  void theModelIsTheRecipes() {
    const fs::path source = fovea::tests::demo_dense_model();
    if (source.empty()) QSKIP("the demo model is not there; ./scripts/demo builds it");
    const fovea::tests::TemporaryFolder folder;
    FOVEA_VERIFY(build_demo_model(source, folder.path() / "demo.gguf"));
    QCOMPARE(sha256(folder.path() / "demo.gguf").value(), std::string(model_sha256));
  }

  void aStopLeavesNothingBehind() {
    const fs::path source = fovea::tests::demo_dense_model();
    if (source.empty()) QSKIP("the demo model is not there; ./scripts/demo builds it");
    const fovea::tests::TemporaryFolder folder;
    std::stop_source stop;
    const auto progress = [&](const fovea::Progress& at) {
      if (at.stage == "building" && at.done > at.total / 2) stop.request_stop();
    };
    const auto stopped = install_demo_model(source, folder.path(), progress, stop.get_token());
    QCOMPARE(stopped.error().kind, fovea::ErrorKind::cancelled);
    std::set<std::string> left;
    for (const auto& entry : fs::directory_iterator(folder.path())) left.insert(entry.path().filename());
    QCOMPARE(left, std::set<std::string>{"demo-dense.gguf"});
  }
};
FOVEA_TEST(DemoModelTest)

#include "demo_model_test.moc"
