// Finding models in folders: what is recognised, what is known from before, and what a change shows.
#include <QSignalSpy>
#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <semaphore>
#include <tuple>

#include "app/library/errors.h"
#include "app/library/library_cache.h"
#include "app/library/library_worker.h"
#include "app/library/model_info_json.h"
#include "app/library/model_library.h"
#include "tests/support/test.h"

namespace fs = std::filesystem;
using namespace fovea::app;
using fovea::tests::golden;
using fovea::tests::TemporaryFolder;

namespace {

using fovea::tests::kLong;

std::vector<std::string> names_in(const std::vector<LibraryEntry>& entries) {
  std::vector<std::string> names;
  for (const LibraryEntry& entry : entries) names.push_back(entry.name);
  std::ranges::sort(names);
  return names;
}

// Folders as people have them: a file, a folder of Hugging Face, one of another program with subfolders, a
// broken file, and things that are no models.
struct Places {
  TemporaryFolder folder;
  fs::path models = folder.path() / "models";

  Places() {
    fs::create_directories(models / "org" / "repo");
    fs::create_directories(models / ".hidden");
    fs::copy(golden("models/qwen3_moe-0-gguf.gguf"), models / "moe.gguf");
    fs::copy(golden("models/llama-0-gguf.gguf"), models / "org/repo/dense.gguf");
    fs::copy(golden("models/llama-0-gguf.gguf"), models / ".hidden/unseen.gguf");
    fs::copy(golden("models/qwen2-0"), models / "qwen2", fs::copy_options::recursive);
    std::ofstream(models / "broken.gguf") << "GGUF and then nothing that makes sense";
    std::ofstream(models / "notes.txt") << "x";
    fs::create_symlink(models / "gone.gguf", models / "dangling.gguf");
  }
  LibraryPlaces places() const {
    return {.folders = {models},
            .stores = folder.path() / "stores",
            .cache = folder.path() / "library.json",
            .elsewhere = {}};
  }
};

struct Scan {
  std::vector<LibraryModel> listed;
  std::map<std::string, LibraryModel> read;
  int finished = 0;

  explicit Scan(LibraryWorker& worker) {
    QObject::connect(&worker, &LibraryWorker::listed, &worker,
                     [this](const auto& models) { listed = models; });
    QObject::connect(&worker, &LibraryWorker::read, &worker,
                     [this](const LibraryModel& model) { read[model.name] = model; });
    QObject::connect(&worker, &LibraryWorker::finished, &worker, [this] { ++finished; });
  }
};

}  // namespace

class ScanTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void foldersBelowAreSearched() {
    const Places places;
    QCOMPARE(names_in(list_models(places.models)), (std::vector<std::string>{"broken", "moe", "qwen2"}));
    QCOMPARE(names_in(find_models(places.models)),
             (std::vector<std::string>{"broken", "dense", "moe", "qwen2"}));
    QVERIFY(find_models(places.folder.path() / "none").empty());
  }

  void aScanReadsAndFits() {
    const Places places;
    LibraryWorker worker(places.places());
    Scan scan(worker);
    worker.scan(0, 200);
    QTRY_COMPARE(scan.finished, 1);
    QCOMPARE(scan.listed.size(), 4U);
    QCOMPARE(scan.read.size(), 4U);
    const LibraryModel& moe = scan.read["moe"];
    QVERIFY2(!moe.error, moe.error ? moe.error->message().c_str() : "");
    QCOMPARE(moe.info.architecture, std::string("qwen3_moe"));
    QVERIFY(moe.info.experts > 0 && moe.info.experts_used > 0);
    QCOMPARE(moe.file_bytes, static_cast<std::int64_t>(fs::file_size(places.models / "moe.gguf")));
    QVERIFY(moe.fit.has_value());
    QCOMPARE(moe.fit->kind, FitKind::fits);
    QVERIFY(!quantization_of(moe.info).empty());
    const LibraryModel& broken = scan.read["broken"];
    QVERIFY(broken.is_read && broken.error && !broken.fit);
    QVERIFY(scan.read["qwen2"].file_bytes > 0 && !scan.read["qwen2"].error);
    // Again, with a budget of the user's own.
    worker.scan(0, 200, 10'000);
    QTRY_COMPARE(scan.finished, 2);
    QCOMPARE(scan.read["moe"].fit->kind, FitKind::does_not_fit);
    QCOMPARE(scan.read["moe"].fit->budget_bytes, 10'000);
  }

  // The second program knows at once what the first one read, and notices what changed since.
  void whatWasReadIsKnown() {
    const Places places;
    {
      LibraryWorker worker(places.places());
      Scan scan(worker);
      worker.scan(0, 200);
      QTRY_COMPARE(scan.finished, 1);
      QVERIFY(std::ranges::none_of(scan.listed, &LibraryModel::is_read));
    }
    fs::remove(places.models / "moe.gguf");
    fs::copy(golden("models/mixtral-0-gguf.gguf"), places.models / "moe.gguf");
    LibraryWorker worker(places.places());
    Scan scan(worker);
    worker.scan(0, 200);
    QTRY_COMPARE(scan.finished, 1);
    for (const LibraryModel& model : scan.listed) {
      QCOMPARE(model.is_read, model.name != "moe");
      QCOMPARE(model.error.has_value(), model.name == "broken");
      if (model.name == "dense") QCOMPARE(model.info.architecture, std::string("llama"));
    }
    QCOMPARE(scan.read["moe"].info.architecture, std::string("mixtral"));
  }

  void theCacheGivesBackWhatItWasGiven() {
    const TemporaryFolder folder;
    LibraryModel model;
    model.path = "/models/a.gguf";
    model.info = {.path = model.path,
                  .name = "A",
                  .format = "GGUF v3",
                  .architecture = "qwen3_moe",
                  .layers = 48,
                  .hidden = 2048,
                  .heads = 32,
                  .kv_heads = 4,
                  .head_dim = 128,
                  .vocabulary = 151936,
                  .context = 262144,
                  .extended_context = 1010000,
                  .experts = 128,
                  .experts_used = 8,
                  .parameters = 30'500'000'000,
                  .parameters_active = 3'300'000'000,
                  .bytes = 18'000'000'000,
                  .bytes_by_type = {{"Q4_K", 12'000'000'000}, {"Q6_K", 6'000'000'000}},
                  .conversion = {},
                  .has_chat_template = true,
                  .can_switch_thinking = true,
                  .has_effort = true};
    const ModelFiles files{{"/models/a.gguf"}, 100, 7};
    LibraryModel broken;
    broken.path = "/models/b.gguf";
    broken.error = fovea::errors::cannot_read(fovea::Said{"it is \"new\""})
                       .at(fovea::phrases::offset_place(broken.path, 4));
    {
      LibraryCache cache(folder.path() / "sub" / "cache.json");
      cache.load();
      cache.begin_scan();
      cache.keep(model, files);
      cache.keep(broken, files);
      FOVEA_VERIFY(cache.save());
    }
    LibraryCache cache(folder.path() / "sub" / "cache.json");
    cache.load();
    LibraryModel found;
    found.path = model.path;
    QVERIFY(cache.find(found, files));
    QVERIFY(!found.error);
    LibraryModel found_broken;
    found_broken.path = broken.path;
    QVERIFY(cache.find(found_broken, files));
    QVERIFY(found_broken.error && found_broken.error->kind == broken.error->kind);
    QCOMPARE(found_broken.error->message(), broken.error->message());
    const fovea::ModelInfo &a = model.info, &b = found.info;
    QCOMPARE(b.path, a.path);
    QCOMPARE(b.name, a.name);
    QCOMPARE(b.format, a.format);
    QCOMPARE(b.architecture, a.architecture);
    QCOMPARE(std::tie(b.layers, b.hidden, b.heads, b.kv_heads, b.head_dim, b.vocabulary, b.context),
             std::tie(a.layers, a.hidden, a.heads, a.kv_heads, a.head_dim, a.vocabulary, a.context));
    QCOMPARE(std::tie(b.experts, b.experts_used, b.parameters, b.parameters_active, b.bytes),
             std::tie(a.experts, a.experts_used, a.parameters, a.parameters_active, a.bytes));
    QCOMPARE(b.bytes_by_type, a.bytes_by_type);
    QCOMPARE(b.has_chat_template, true);
    QVERIFY(b.can_switch_thinking && b.has_effort);
    QCOMPARE(quantization_of(b), std::string("Q4_K, Q6_K"));
    // The command line's keys, each with its value.
    const auto json = as_json(a);
    QCOMPARE(json.size(), 22U);
    QCOMPARE(json["path"], "/models/a.gguf");
    QCOMPARE(json["architecture"], a.architecture);
    QCOMPARE(json["experts_used"], 8);
    QCOMPARE(json["bytes_by_type"]["Q6_K"], 6'000'000'000);
    QCOMPARE(json["chat_template"], true);
    QCOMPARE(json["can_switch_thinking"], true);
    QCOMPARE(json["has_effort"], true);
    QVERIFY(!cache.find(found, {{"/models/a.gguf"}, 101, 7}));
    QVERIFY(!cache.find(found, {{"/models/a.gguf"}, 100, 8}));
  }

  void aBrokenCacheIsEmpty_data() {
    QTest::addColumn<QByteArray>("content");
    QTest::newRow("nothing") << QByteArray();
    QTest::newRow("no JSON") << QByteArray("{\"version\": 2, ");
    QTest::newRow("a list") << QByteArray("[1]");
    QTest::newRow("other version") << QByteArray("{\"version\": 99, \"models\": {}}");
    QTest::newRow("an earlier version") << QByteArray(
        "{\"version\": 2, \"models\": {\"/a\": {\"bytes\": 0, \"modified\": 0, \"files\": 0, \"info\": "
        "{}}}}");
    QTest::newRow("wrong types") << QByteArray(
        "{\"version\": 4, \"models\": {\"/a\": 3, \"/b\": {\"info\": []}, \"/c\": {\"bytes\": \"x\", "
        "\"info\": "
        "{\"layers\": \"many\", \"bytes_by_type\": {\"Q4\": []}}}}}");
  }
  void aBrokenCacheIsEmpty() {
    QFETCH(QByteArray, content);
    const TemporaryFolder folder;
    const fs::path file = folder.path() / "cache.json";
    std::ofstream(file) << content.toStdString();
    LibraryCache cache(file);
    cache.load();
    LibraryModel model;
    model.path = "/a";
    QVERIFY(!cache.find(model, {}));
    model.path = "/b";
    QVERIFY(!cache.find(model, {}));
  }

  void aChangedFolderIsNoticed() {
    const Places places;
    LibraryWorker worker(places.places());
    Scan scan(worker);
    QSignalSpy changed(&worker, &LibraryWorker::folderChanged);
    worker.scan(0, 200);
    QTRY_COMPARE(scan.finished, 1);
    fs::copy(golden("models/llama-0-gguf.gguf"), places.models / "org/repo/another.gguf");
    QVERIFY(changed.count() > 0 || changed.wait(kLong));
  }

  // A scan that another one replaces tells no end.
  void onlyTheLastScanEnds() {
    const Places places;
    std::binary_semaphore all_asked(0);  // no scan gets on before the last one was asked for
    LibraryPlaces where = places.places();
    where.elsewhere = [&all_asked] {
      all_asked.acquire();
      all_asked.release();
      return std::vector<LibraryEntry>{};
    };
    LibraryWorker worker(where);
    Scan scan(worker);
    for (int i = 0; i < 5; ++i) worker.scan(0, 200);
    all_asked.release();
    QTRY_COMPARE(scan.finished, 1);
    QCOMPARE(scan.read.size(), 4U);
  }
};
FOVEA_TEST(ScanTest)

#include "scan_test.moc"
