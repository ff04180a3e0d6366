// A model's files: their sizes, their checksums, and what is deleted with it; preparing and checking on the
// worker's thread.
#include "app/library/model_files.h"

#include <QCryptographicHash>
#include <QFile>
#include <QSignalSpy>
#include <algorithm>
#include <fstream>

#include "app/library/model_worker.h"
#include "app/library/stores.h"
#include "tests/support/environment.h"
#include "tests/support/test.h"

namespace fs = std::filesystem;
using namespace fovea;
using namespace fovea::app;
using tests::content;
using tests::golden;
using tests::TemporaryFolder;

namespace {

using fovea::tests::kLong;

// A model in the hub's cache, with its link in the library.
struct Cached {
  TemporaryFolder folder;
  fs::path repository = folder.path() / "hub/models--org--m";
  fs::path snapshot = repository / "snapshots" / std::string(40, 'c');
  fs::path link = folder.path() / "models/m.gguf";
  fs::path blob;

  Cached() {
    fs::create_directories(repository / "blobs");
    fs::create_directories(snapshot);
    fs::create_directories(link.parent_path());
    const std::string bytes = content(golden("models/llama-0-gguf.gguf"));
    const QByteArray name =
        QCryptographicHash::hash(QByteArray::fromStdString(bytes), QCryptographicHash::Sha256).toHex();
    blob = repository / "blobs" / name.toStdString();
    std::ofstream(blob, std::ios::binary) << bytes;
    fs::create_symlink(blob.lexically_relative(snapshot), snapshot / "m.gguf");
    fs::create_symlink(snapshot / "m.gguf", link);
  }
};

LibraryModel model_at(const fs::path& path) {
  LibraryModel model;
  model.path = path;
  return model;
}

}  // namespace

class ModelFilesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void partsBelongTogether() {
    const TemporaryFolder folder;
    for (const char* name : {"m-00001-of-00002.gguf", "m-00002-of-00002.gguf", "n.gguf"})
      std::ofstream(folder.path() / name) << "12345";
    const ModelFiles split = files_of(folder.path() / "m-00001-of-00002.gguf");
    QCOMPARE(split.files.size(), 2U);
    QCOMPARE(split.bytes, 10);
    QCOMPARE(files_of(folder.path() / "n.gguf").bytes, 5);
    QCOMPARE(files_of(golden("models/qwen3_moe-0")).files.size(), 2U);
    QCOMPARE(files_of(folder.path() / "none.gguf").bytes, 0);
  }

  void checksumsOfTheHubAreCompared() {
    const Cached cached;
    const auto good = check_files(cached.link, {}, {});
    FOVEA_VERIFY(good);
    QCOMPARE(good->compared, 1);
    QCOMPARE(good->bytes, static_cast<std::int64_t>(fs::file_size(cached.blob)));
    {
      std::fstream file(cached.blob, std::ios::binary | std::ios::in | std::ios::out);
      file.seekp(2000);
      file.put('~');
    }
    const auto bad = check_files(cached.link, {}, {});
    QVERIFY(!bad);
    QCOMPARE(bad.error().kind, ErrorKind::format);
  }

  // A small file of the hub is named by Git's own checksum: "blob LENGTH", a zero byte, and the content.
  void smallFilesHaveGitsChecksum() {
    const TemporaryFolder folder;
    fs::create_directories(folder.path() / "blobs");
    // $ printf 'hello\n' | git hash-object --stdin
    std::ofstream(folder.path() / "blobs/ce013625030ba8dba906f756967f9e9ca394464a") << "hello\n";
    const auto good = check_files(folder.path() / "blobs/ce013625030ba8dba906f756967f9e9ca394464a", {}, {});
    FOVEA_VERIFY(good);
    QCOMPARE(good->compared, 1);
  }

  void aCheckCanBeStopped() {
    std::stop_source source;
    source.request_stop();
    const auto stopped = check_files(golden("models/llama-0-gguf.gguf"), {}, source.get_token());
    QVERIFY(!stopped);
    QCOMPARE(stopped.error().kind, ErrorKind::cancelled);
  }

  void deletingFollowsLinksIntoTheCache() {
    const Cached cached;
    const Removal removal = removal_of(cached.link);
    QCOMPARE(removal.whole, std::vector{cached.blob});
    QCOMPARE(removal.bytes, static_cast<std::int64_t>(fs::file_size(cached.blob)));
    // Another revision has the same file: it stays.
    const fs::path other = cached.repository / "snapshots" / std::string(40, 'd');
    fs::create_directories(other);
    fs::create_symlink(cached.blob.lexically_relative(other), other / "m.gguf");
    QVERIFY(removal_of(cached.link).whole.empty());
  }

  void aFolderGoesAsAWhole() {
    const TemporaryFolder folder;
    fs::copy(golden("models/qwen3_moe-0"), folder.path() / "m", fs::copy_options::recursive);
    QCOMPARE(removal_of(folder.path() / "m").whole, std::vector{folder.path() / "m"});
    fs::create_directory_symlink(folder.path() / "m", folder.path() / "link");
    QCOMPARE(removal_of(folder.path() / "link").whole, std::vector{folder.path() / "m"});
  }

  void whatIsDeletedIsInTheTrash() {
    const TemporaryFolder folder;
    const fs::path file = folder.path() / "models/m.gguf";
    const fs::path store = folder.path() / "m.store";
    fs::create_directories(file.parent_path());
    fs::copy(golden("models/llama-0-gguf.gguf"), file);
    std::ofstream(store) << "123";
    const fovea::tests::Environment data{
        {"XDG_DATA_HOME", QByteArray::fromStdString((folder.path() / "data").string())}};
    ModelWorker worker;
    QSignalSpy removed(&worker, &ModelWorker::removed), failed(&worker, &ModelWorker::failed);
    LibraryModel model = model_at(file);
    model.stores = {{store, {"file", "q4"}, 3}};
    const auto bytes = static_cast<std::int64_t>(fs::file_size(file));
    worker.remove(model);
    QVERIFY(QTest::qWaitFor([&] { return removed.count() + failed.count() > 0; }, kLong));
    if (failed.count() > 0)
      QSKIP(failed.front().back().value<Error>().message().c_str());  // a file system without a trash
    QCOMPARE(removed.front().at(1).value<std::int64_t>(), bytes + 3);
    QVERIFY(!fs::exists(file) && !fs::exists(store));
  }

  void preparingCheckingAndDamage() {
    const TemporaryFolder folder;
    const fs::path model = golden("models/qwen3_moe-0");
    ModelWorker worker;
    QSignalSpy prepared(&worker, &ModelWorker::prepared), checked(&worker, &ModelWorker::checked),
        failed(&worker, &ModelWorker::failed);
    worker.prepare(model, {.tiers = {"file", "bf16"}}, folder.path());
    QVERIFY(QTest::qWaitFor([&] { return prepared.count() + failed.count() > 0; }, kLong));
    QVERIFY2(failed.isEmpty(), failed.isEmpty() ? "" : failed[0][2].value<Error>().message().c_str());
    QVERIFY(!prepared[0][1].value<PrepareReport>().was_there);
    const auto stores = stores_of(model, folder.path());
    QCOMPARE(stores.size(), 1U);
    QCOMPARE(stores[0].tiers, (std::vector<std::string>{"file", "bf16"}));
    QCOMPARE(stores[0].bytes, static_cast<std::int64_t>(fs::file_size(stores[0].path)));
    QVERIFY(stores_of(golden("models/llama-0"), folder.path()).empty());

    LibraryModel entry = model_at(model);
    entry.stores = stores;
    worker.check(entry);
    QVERIFY(QTest::qWaitFor([&] { return checked.count() + failed.count() > 0; }, kLong));
    QVERIFY2(failed.isEmpty(), failed.isEmpty() ? "" : failed[0][2].value<Error>().message().c_str());
    const auto report = checked[0][1].value<CheckReport>();
    QCOMPARE(report.stores, 1);
    QVERIFY(report.versions > 0);

    {  // In the last version.
      std::fstream file(stores[0].path, std::ios::binary | std::ios::in | std::ios::out);
      file.seekp(-4096, std::ios::end);
      file.write("damage", 6);
    }
    worker.check(entry);
    QVERIFY(QTest::qWaitFor([&] { return checked.count() > 1 || failed.count() > 0; }, kLong));
    QCOMPARE(failed.count(), 1);
    QCOMPARE(failed[0][2].value<Error>().kind, ErrorKind::format);
  }

  // The text is read by the model, which has no tokeniser here; an empty one is refused before.
  void aTextIsReadFirst() {
    const TemporaryFolder folder;
    const fs::path model = golden("models/qwen3_moe-0"), empty = folder.path() / "empty.txt";
    std::ofstream(empty).close();
    ModelWorker worker;
    QSignalSpy prepared(&worker, &ModelWorker::prepared), failed(&worker, &ModelWorker::failed);
    worker.prepare(model, {.tiers = {"file", "bf16"}, .built_in_text = true}, folder.path());
    worker.prepare(model, {.tiers = {"file", "bf16"}, .text_file = FOVEA_SOURCE_DIR "/README.md"},
                   folder.path());
    worker.prepare(model, {.tiers = {"file", "bf16"}, .text_file = empty}, folder.path());
    worker.prepare(model, {.tiers = {"file", "bf16"}, .text_file = folder.path() / "none.txt"},
                   folder.path());
    QVERIFY(QTest::qWaitFor([&] { return failed.count() == 4; }, kLong));
    const auto message = [&](int i) { return failed[i][2].value<Error>().message(); };
    for (int i : {0, 1}) QVERIFY2(message(i).find("tokeni") != std::string::npos, message(i).c_str());
    QVERIFY2(message(2).contains("the text is empty"), message(2).c_str());
    QVERIFY2(message(3).contains("none.txt"), message(3).c_str());
    QVERIFY(prepared.isEmpty());
  }

  // The same tiers with another text: made again, which is said, and not left as they are.
  void anotherTextMakesItAgain() {
    const fs::path model = fovea::tests::demo_model();
    if (model.empty()) QSKIP("the demo model is not there; ./scripts/demo builds it");
    const TemporaryFolder folder;
    ModelWorker worker;
    QSignalSpy prepared(&worker, &ModelWorker::prepared), failed(&worker, &ModelWorker::failed);
    std::ofstream(folder.path() / "text") << "A few words that are read before, and no more than that.";
    worker.prepare(model, {.tiers = {"file"}}, folder.path());
    for (int i = 0; i < 2; ++i)
      worker.prepare(model, {.tiers = {"file"}, .text_file = folder.path() / "text"}, folder.path());
    QVERIFY(QTest::qWaitFor([&] { return prepared.count() + failed.count() == 3; }, kLong));
    QVERIFY2(failed.isEmpty(), failed.isEmpty() ? "" : failed[0][2].value<Error>().message().c_str());
    const auto report = [&](int i) { return prepared[i][1].value<PrepareReport>(); };
    QCOMPARE(report(0).calibrated_units, 0);
    QVERIFY(!report(1).was_there && report(1).calibrated_units > 0);
    QVERIFY(report(2).was_there);
    const bool replaced[] = {false, true, false};
    for (int i = 0; i < 3; ++i) QCOMPARE(report(i).recalibrated, replaced[i]);
    // What is there under that name and is no store of this model is not replaced.
    const fs::path store = report(2).path;
    worker.prepare(golden("models/qwen3_moe-0"), {.tiers = {"file"}}, folder.path());
    QVERIFY(QTest::qWaitFor([&] { return prepared.count() + failed.count() == 4; }, kLong));
    fs::rename(report(3).path, store);
    worker.prepare(model, {.tiers = {"file"}, .text_file = folder.path() / "text"}, folder.path());
    QVERIFY(QTest::qWaitFor([&] { return prepared.count() + failed.count() == 5; }, kLong));
    QCOMPARE(failed.count(), 1);
    QCOMPARE(failed[0][2].value<Error>().kind, ErrorKind::invalid);
  }

  void whatWaitsIsStoppedToo() {
    const TemporaryFolder folder;
    ModelWorker worker;
    QSignalSpy failed(&worker, &ModelWorker::failed), checked(&worker, &ModelWorker::checked);
    for (int i = 0; i < 20; ++i) worker.check(model_at(golden("models/qwen3_moe-0")));
    worker.stop();
    QVERIFY(QTest::qWaitFor([&] { return failed.count() + checked.count() == 20; }, kLong));
    QVERIFY(failed.count() > 0);
    QCOMPARE(failed.back()[2].value<Error>().kind, ErrorKind::cancelled);
  }
};
FOVEA_TEST(ModelFilesTest)

#include "model_files_test.moc"
