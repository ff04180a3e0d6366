#include "app/demo/demo_model.h"

#include <QCryptographicHash>
#include <fstream>
#include <set>

#include "app/demo/checksum.h"
#include "app/demo/errors.h"
#include "app/demo/recipe.h"
#include "engine/api/prepare.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/gguf_writer.h"
#include "kernels/api/types.h"
#include "tests/support/test.h"

namespace fs = std::filesystem;
using namespace fovea::app;

namespace {

// "name type shape SHA-256" of each tensor, by name, as tests/golden/make_demo_tensors.py writes them.
QStringList tensor_lines(const fs::path& model) {
  const auto opened = fovea::checkpoint::Checkpoint::open(model);
  if (!opened) qFatal("%s", opened.error().message().c_str());
  QStringList lines;
  for (const auto& tensor : opened->tensors()) {
    QStringList shape;
    for (const std::int64_t extent : tensor.shape) shape += QString::number(extent);
    const auto bytes = opened->bytes(tensor);
    const QByteArrayView view(bytes.data(), static_cast<qsizetype>(bytes.size()));
    lines += QStringLiteral("%1 %2 %3 %4")
                 .arg(QString::fromStdString(tensor.name),
                      QString::fromUtf8(fovea::kernels::type_name(tensor.type)), shape.join(QLatin1Char('x')),
                      QString::fromLatin1(
                          QCryptographicHash::hash(view, QCryptographicHash::Sha256).toHex().left(16)));
  }
  lines.sort();
  return lines;
}

// A small model that calls itself the demo, as one of an earlier recipe did.
void write_earlier_demo(const fs::path& path) {
  const auto other = fovea::checkpoint::Checkpoint::open(fovea::tests::golden("models/experts.gguf"));
  auto metadata = other->metadata();
  metadata.set("general.name", std::string_view(demo_model_name), fovea::checkpoint::StoredType::string);
  auto writer = fovea::checkpoint::GgufWriter::create(path, metadata, other->tensors());
  for (const auto& tensor : other->tensors()) FOVEA_VERIFY(writer->append(other->bytes(tensor)));
  FOVEA_VERIFY(writer->finish());
}

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
      for (const auto& [part, count] : {std::pair{"shared.", 1024U}, {"experts.", 512U}}) {
        const auto indices = recipe->integers(part + std::to_string(layer));
        QCOMPARE(indices.size(), count);
        neurons.insert(indices.begin(), indices.end());
      }
      QCOMPARE(neurons.size(), 1536U);
      QCOMPARE(*neurons.begin(), 0);
      QCOMPARE(*neurons.rbegin(), 1535);
    }
    QCOMPARE(recipe->integers("active"), std::vector<std::int64_t>{2});
    QVERIFY(recipe->floats("shared.0").empty());  // of another kind
    QVERIFY(recipe->integers("nothing").empty());
  }

  void theModelNamesItsRecipe() {
    const auto recipe = sha256(fs::path(FOVEA_SOURCE_DIR) / "resources/demo/recipe.safetensors");
    FOVEA_VERIFY(recipe);
    QCOMPARE(recipe->substr(0, 16), std::string(demo_recipe_id));
  }

  void anotherSourceIsRefused() {
    const fovea::tests::TemporaryFolder folder;
    const fs::path source = fovea::tests::golden("checkpoint/small.gguf");
    const auto error = install_demo_model(source, folder.path() / "models", folder.path()).error();
    QCOMPARE(error.kind, fovea::ErrorKind::format);
    QVERIFY2(error.is(fovea::errors::demo_wrong_checksum.code), error.message().c_str());
    QVERIFY(error.message().contains("b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"));
    QVERIFY(!fs::exists(folder.path() / "models"));
    const auto unfit = build_demo_model(source, folder.path() / "x.gguf").error();
    QVERIFY2(unfit.is(fovea::errors::demo_other_shape.code), unfit.message().c_str());
    QVERIFY(!fs::exists(folder.path() / "x.gguf"));
  }

  // Tensor by tensor what the recipe's own program writes; what an earlier recipe left is gone.
  void theModelIsTheRecipes() {
    const fs::path source = fovea::tests::demo_dense_model();
    if (source.empty()) QSKIP("the demo model is not there; ./scripts/demo builds it");
    const fovea::tests::TemporaryFolder folder;
    write_earlier_demo(folder.path() / "demo.gguf");
    fovea::PrepareRequest store;
    store.model = folder.path() / "demo.gguf";
    store.tiers = {"file", "q4"};
    store.store = folder.path() / describe_store(store)->name;
    FOVEA_VERIFY(fovea::prepare(store));
    const auto install = [&] { return install_demo_model(source, folder.path(), folder.path()); };
    const auto installed = install();
    FOVEA_VERIFY(installed);
    QVERIFY(installed->replaced);
    QVERIFY(!fs::exists(store.store));
    QVERIFY(!install()->replaced);
    QStringList expected =
        QString::fromStdString(fovea::tests::content(fovea::tests::golden("demo/tensors.txt")))
            .split(QLatin1Char('\n'), Qt::SkipEmptyParts);
    expected.sort();
    const QStringList made = tensor_lines(folder.path() / "demo.gguf");
    QCOMPARE(made.size(), expected.size());
    for (qsizetype i = 0; i < made.size(); ++i) QCOMPARE(made[i], expected[i]);
  }

  void anotherModelOfThatNameStays() {
    const fovea::tests::TemporaryFolder folder;
    const fs::path other = folder.path() / "demo.gguf";
    fs::copy_file(fovea::tests::golden("models/experts.gguf"), other);
    const auto error = install_demo_model(other, folder.path(), folder.path()).error();
    QCOMPARE(error.kind, fovea::ErrorKind::invalid);
    QVERIFY2(error.is(fovea::errors::demo_other_model.code), error.message().c_str());
    QCOMPARE(fovea::tests::content(other),
             fovea::tests::content(fovea::tests::golden("models/experts.gguf")));
  }

  void aStopLeavesNothingBehind() {
    const fs::path source = fovea::tests::demo_dense_model();
    if (source.empty()) QSKIP("the demo model is not there; ./scripts/demo builds it");
    const fovea::tests::TemporaryFolder folder;
    std::stop_source stop;
    const auto progress = [&](const fovea::Progress& at) {
      if (at.stage == fovea::Progress::Stage::building && at.done > at.total / 2) stop.request_stop();
    };
    const auto stopped = install_demo_model(source, folder.path(), folder.path(), progress, stop.get_token());
    QCOMPARE(stopped.error().kind, fovea::ErrorKind::cancelled);
    std::set<std::string> left;
    for (const auto& entry : fs::directory_iterator(folder.path())) left.insert(entry.path().filename());
    QCOMPARE(left, std::set<std::string>{"demo-dense.gguf"});
  }
};
FOVEA_TEST(DemoModelTest)

#include "demo_model_test.moc"
