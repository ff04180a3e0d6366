#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "app/library/data_folder.h"
#include "app/library/errors.h"
#include "app/library/model_library.h"
#include "app/library/sampling_defaults.h"
#include "tests/support/environment.h"
#include "tests/support/privileges.h"
#include "tests/support/test.h"

namespace fs = std::filesystem;
using namespace fovea::app;

class LibraryTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    folder_ = std::make_unique<fovea::tests::TemporaryFolder>();
    models_ = folder_->path() / "models";
    fs::create_directories(models_ / "qwen");
    fs::create_directories(models_ / "notes");
    for (const char* file : {"demo.gguf", "big-00001-of-00002.gguf", "big-00002-of-00002.gguf",
                             "qwen/config.json", "notes/a.txt", "readme.txt"}) {
      std::ofstream(models_ / file) << "x";
    }
    before_ = fs::current_path();
    fs::create_directories(folder_->path() / "here");
    fs::current_path(folder_->path() / "here");
  }
  void cleanup() { fs::current_path(before_); }

  void namesOfWhatIsThere() {
    std::vector<std::string> names;
    for (const LibraryEntry& entry : list_models(models_)) names.push_back(entry.name);
    QCOMPARE(names, (std::vector<std::string>{"big", "demo", "qwen"}));
    QVERIFY(list_models(folder_->path() / "none").empty());
  }

  void namesAndPathsResolve() {
    QCOMPARE(resolve_model("demo", models_).value(), models_ / "demo.gguf");
    QCOMPARE(resolve_model("demo.gguf", models_).value(), models_ / "demo.gguf");
    QCOMPARE(resolve_model("big", models_).value(), models_ / "big-00001-of-00002.gguf");
    QCOMPARE(resolve_model("qwen", models_).value(), models_ / "qwen");
    QCOMPARE(resolve_model(models_ / "notes", models_).value(), models_ / "notes");
    std::ofstream("other.gguf") << "x";
    QCOMPARE(resolve_model("other.gguf", models_).value(), fs::path("./other.gguf"));
  }

  void anUnknownNameListsWhatIsThere() {
    const auto error = resolve_model("nope", models_).error();
    QCOMPARE(error.kind, fovea::ErrorKind::not_found);
    QVERIFY(error.message().contains("big, demo, qwen"));
    QVERIFY(resolve_model("demo", folder_->path() / "none")
                .error()
                .message()
                .contains("fovea demo-model --help"));
    QCOMPARE(resolve_model("no/such", models_).error().kind, fovea::ErrorKind::not_found);
    QCOMPARE(resolve_model("", models_).error().kind, fovea::ErrorKind::invalid);
  }

  // What cannot be looked at is not missing.
  void aFolderWithoutRightsIsNamed() {
    std::ofstream(models_ / "notes/x.gguf") << "x";
    fs::permissions(models_ / "notes", fs::perms::none);
    fovea::Error error;
    {
      const fovea::tests::WithoutPrivileges nobody;
      error = resolve_model(models_ / "notes/x.gguf", models_).error();
    }
    fs::permissions(models_ / "notes", fs::perms::owner_all);
    QCOMPARE(error.kind, fovea::ErrorKind::io);
    QVERIFY2(error.message().contains("Permission denied. Give yourself permission"),
             error.message().c_str());
  }

  void anAmbiguousNameListsWhatItCouldBe() {
    fs::create_directories("demo");
    FOVEA_VERIFY(resolve_model("demo", models_));  // a folder without a model is not meant
    std::ofstream("demo/config.json") << "{}";
    const auto error = resolve_model("demo", models_).error();
    QCOMPARE(error.kind, fovea::ErrorKind::invalid);
    QVERIFY(error.message().contains("./demo"));
    QVERIFY(error.message().contains((models_ / "demo.gguf").string()));
    fs::create_directories(models_ / "demo");
    std::ofstream(models_ / "demo/config.json") << "{}";
    fs::remove_all("demo");
    QCOMPARE(resolve_model("demo", models_).error().kind, fovea::ErrorKind::invalid);
  }

  void theDataFolder_data() {
    QTest::addColumn<QByteArray>("fovea");
    QTest::addColumn<QByteArray>("xdg");
    QTest::addColumn<QByteArray>("expected");
    QTest::newRow("its own variable") << QByteArray("/a") << QByteArray("/b") << QByteArray("/a");
    QTest::newRow("XDG") << QByteArray("") << QByteArray("/b") << QByteArray("/b/fovea");
    QTest::newRow("a relative XDG does not count")
        << QByteArray() << QByteArray("b") << QByteArray("/h/.local/share/fovea");
    QTest::newRow("home") << QByteArray() << QByteArray() << QByteArray("/h/.local/share/fovea");
  }
  void theDataFolder() {
    QFETCH(QByteArray, fovea);
    QFETCH(QByteArray, xdg);
    QFETCH(QByteArray, expected);
    const fovea::tests::Environment environment{
        {"FOVEA_DATA", fovea}, {"XDG_DATA_HOME", xdg}, {"HOME", "/h"}};
    QCOMPARE(QByteArray::fromStdString(data_folder().string()), expected);
  }

  void samplingDefaults() {
    fovea::ModelInfo info;
    info.path = models_ / "qwen";
    info.parameters = 30'000'000'000;
    info.parameters_active = 3'000'000'000;
    QCOMPARE(sampling_defaults(info).source, fovea::phrases::sampling_general());
    info.parameters_active = 300'000'000;
    QCOMPARE(sampling_defaults(info).sampling.dry_multiplier, 0.0F);
    info.parameters = 561'000'000;
    info.parameters_active = 163'000'000;
    QCOMPARE(sampling_defaults(info).sampling.temperature, 0.6F);
    QCOMPARE(sampling_defaults(info).sampling.repetition_penalty, 1.1F);
    QCOMPARE(sampling_defaults(info).sampling.dry_multiplier, 0.8F);
    std::ofstream(models_ / "qwen/generation_config.json")
        << R"({"temperature": 0.65, "top_k": 20, "top_p": 7, "min_p": "x", "repetition_penalty": 1.05})";
    const SamplingDefaults found = sampling_defaults(info);
    QCOMPARE(found.sampling.temperature, 0.65F);
    QCOMPARE(found.sampling.top_k, 20);
    QCOMPARE(found.sampling.top_p, fovea::SamplingSettings{}.top_p);  // 7 is no probability
    QCOMPARE(found.sampling.min_p, fovea::SamplingSettings{}.min_p);
    QCOMPARE(found.sampling.repetition_penalty, 1.05F);
    std::ofstream(models_ / "qwen/generation_config.json") << R"({"do_sample": false})";
    QCOMPARE(sampling_defaults(info).sampling.temperature, 0.0F);
    std::ofstream(models_ / "qwen/generation_config.json") << "no JSON";
    QCOMPARE(sampling_defaults(info).source, fovea::phrases::sampling_for_small_models());
  }

 private:
  std::unique_ptr<fovea::tests::TemporaryFolder> folder_;
  fs::path models_, before_;
};
FOVEA_TEST(LibraryTest)

#include "library_test.moc"
