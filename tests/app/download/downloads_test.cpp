// The queue: states, order, memory across programs, a full disk.
#include "app/download/downloads.h"

#include <QSignalSpy>
#include <fstream>
#include <random>
#include <sys/mount.h>
#include <unistd.h>

#include "app/download/download_worker.h"
#include "app/download/errors.h"
#include "tests/support/test.h"

#include "hub_server.h"

namespace fs = std::filesystem;
using namespace fovea::app;
using fovea::tests::content;
using fovea::tests::HubServer;
using fovea::tests::random_bytes;
using fovea::tests::TemporaryFolder;

namespace {

struct Bench {
  QByteArray one = random_bytes(900'000, 1), two = random_bytes(700'000, 2), small{"{}"};
  HubServer server{{{"m-Q4_0-00001-of-00002.gguf", one},
                    {"m-Q4_0-00002-of-00002.gguf", two},
                    {"m-Q8_0.gguf", one},
                    {"config.json", small, false}}};
  TemporaryFolder folder;
  Network network{NetworkSettings{}};
  HubClient client{network, settings()};
  std::unique_ptr<Downloads> downloads = std::make_unique<Downloads>(client, queue());

  HubSettings settings() const {
    HubSettings hub;
    hub.endpoint = QUrl(QString::fromStdString(server.endpoint()));
    hub.retry_base_ms = 5;
    return hub;
  }
  DownloadsSettings queue() const {
    DownloadsSettings queue;
    queue.file = folder.path() / "downloads.json";
    queue.job.cache = HubCache(folder.path() / "hub");
    queue.job.library = folder.path() / "models";
    queue.job.disk_poll_ms = 50;
    queue.job.transfer.piece_bytes = 100'000;
    queue.job.transfer.retry_base_ms = 5;
    queue.job.transfer.retries = 3;
    queue.job.transfer.partial = {.sync_interval_ms = 20, .spare_bytes = 0};
    return queue;
  }
  DownloadRequest request(const QByteArray& quantization) const {
    DownloadRequest made{"org/model", "main", server.commit(), {}, {}};
    ModelChoice& choice = made.choice;
    choice.name = "m-" + quantization.toStdString();
    choice.quantization = quantization.toStdString();
    const auto add = [&](const char* path, const QByteArray& bytes) {
      choice.files.push_back({path, bytes.size(), HubServer::git_oid(bytes), HubServer::sha256(bytes)});
      choice.bytes += bytes.size();
    };
    if (quantization == "Q8_0") {
      add("m-Q8_0.gguf", one);
    } else {
      add("m-Q4_0-00001-of-00002.gguf", one);
      add("m-Q4_0-00002-of-00002.gguf", two);
    }
    return made;
  }
  DownloadStatus status(std::int64_t id) const {
    for (const DownloadStatus& status : downloads->list())
      if (status.id == id) return status;
    return {};
  }
  bool becomes(std::int64_t id, DownloadState state) {
    return QTest::qWaitFor([&] { return status(id).state == state; }, fovea::tests::kLong);
  }
};

}  // namespace

class DownloadsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void allPartsComeAndHaveAName() {
    Bench bench;
    FOVEA_VERIFY(bench.downloads->start());
    QSignalSpy changes(bench.downloads.get(), &Downloads::changed);
    const auto id = bench.downloads->add(bench.request("Q4_0"));
    QVERIFY(bench.becomes(id, DownloadState::done));
    const DownloadStatus done = bench.status(id);
    QCOMPARE(done.bytes_done, 1'600'000);
    QCOMPARE(done.library_name, std::string("m-Q4_0"));
    QCOMPARE(content(done.path), bench.one.toStdString());
    QCOMPARE(content(bench.folder.path() / "models/m-Q4_0-00002-of-00002.gguf"), bench.two.toStdString());
    QVERIFY(changes.size() >= 3);
    // The same bytes under another name are not downloaded again.
    const auto before = bench.server.bytes_sent();
    const auto other = bench.downloads->add(bench.request("Q8_0"));
    QVERIFY(bench.becomes(other, DownloadState::done));
    QCOMPARE(bench.server.bytes_sent(), before);
    // Nothing is left beside the blobs.
    const fs::path blobs = bench.folder.path() / "hub/models--org--model/blobs";
    QCOMPARE(std::distance(fs::directory_iterator(blobs), fs::directory_iterator()), 2);
  }

  void oneAfterTheOther() {
    Bench bench;
    FOVEA_VERIFY(bench.downloads->start());
    bench.server.set_pace(0, 2'000'000);
    const auto first = bench.downloads->add(bench.request("Q4_0"));
    const auto second = bench.downloads->add(bench.request("Q8_0"));
    QVERIFY(bench.becomes(first, DownloadState::running));
    QVERIFY(bench.status(second).state == DownloadState::queued);
    QCOMPARE(bench.downloads->add(bench.request("Q8_0")), second);  // no second one of the same
    bench.downloads->pause(first);
    QVERIFY(bench.becomes(second, DownloadState::done));
    QVERIFY(bench.status(first).state == DownloadState::paused);
    bench.downloads->resume(first);
    QVERIFY(bench.becomes(first, DownloadState::done));
  }

  void cancellingLeavesNothing() {
    Bench bench;
    FOVEA_VERIFY(bench.downloads->start());
    bench.server.set_pace(0, 1'000'000);
    const auto id = bench.downloads->add(bench.request("Q8_0"));
    QVERIFY(bench.becomes(id, DownloadState::running));
    bench.downloads->cancel(id);
    QVERIFY(bench.downloads->list().empty());
    QVERIFY(fs::is_empty(bench.folder.path() / "hub/models--org--model/blobs"));
  }

  void theNextProgramGoesOn() {
    Bench bench;
    FOVEA_VERIFY(bench.downloads->start());
    bench.server.set_pace(0, 1'000'000);
    const auto id = bench.downloads->add(bench.request("Q4_0"));
    const auto paused = bench.downloads->add(bench.request("Q8_0"));
    bench.downloads->pause(paused);
    QVERIFY(QTest::qWaitFor([&] { return bench.status(id).bytes_done > 300'000; }, fovea::tests::kLong));
    bench.downloads.reset();
    const auto sent = bench.server.bytes_sent();
    bench.server.set_pace(0, 0);
    bench.downloads = std::make_unique<Downloads>(bench.client, bench.queue());
    FOVEA_VERIFY(bench.downloads->start());
    QVERIFY(bench.becomes(id, DownloadState::done));
    QVERIFY(bench.server.bytes_sent() - sent < 1'500'000);
    QVERIFY(bench.status(paused).state == DownloadState::paused);
  }

  void aSecondFoveaRemembersNothing() {
    Bench bench;
    FOVEA_VERIFY(bench.downloads->start());
    Downloads other(bench.client, bench.queue());
    const auto started = other.start();
    QVERIFY(!started);
    QVERIFY2(started.error().is(fovea::errors::queue_taken.code), started.error().message().c_str());
  }

  void aBrokenQueueIsSetAside() {
    Bench bench;
    std::ofstream(bench.folder.path() / "downloads.json") << "{broken";
    const auto started = bench.downloads->start();
    QVERIFY(!started);
    QVERIFY2(started.error().is(fovea::errors::queue_set_aside.code), started.error().message().c_str());
    const auto aside = std::get<fs::path>(*started.error().what.find("file"));
    QVERIFY(aside.string().starts_with("downloads.broken-"));
    QCOMPARE(content(bench.folder.path() / aside), std::string("{broken"));
    bench.downloads->add(bench.request("Q8_0"));
    QVERIFY(content(bench.folder.path() / "downloads.json").contains("Q8_0"));
  }

  void aListThatHasNoPlaceIsSaidToHaveNone() {
    Bench bench;
    std::ofstream(bench.folder.path() / "file") << "x";
    DownloadsSettings settings = bench.queue();
    settings.file = bench.folder.path() / "file/downloads.json";
    const auto started = Downloads(bench.client, settings).start();
    QVERIFY(!started);
    QVERIFY2(started.error().message().contains("cannot be opened: Not a directory"),
             started.error().message().c_str());
  }

  void aFailureIsToldAndTriedAgain() {
    Bench bench;
    FOVEA_VERIFY(bench.downloads->start());
    bench.server.set_fault([](const auto& question, auto& wire, int) {
      return question.at_storage && wire.answer(500, {}, "");
    });
    const auto id = bench.downloads->add(bench.request("Q8_0"));
    QVERIFY(bench.becomes(id, DownloadState::failed));
    const fovea::Error error = bench.status(id).error.value();
    QVERIFY2(error.is(fovea::errors::server_trouble.code), error.what_words().c_str());
    QCOMPARE(error.number("status"), 500);
    QVERIFY(error.kind == fovea::ErrorKind::io);
    // As such it is there after a restart.
    QTRY_VERIFY(content(bench.queue().file).find("server_trouble") != std::string::npos);
    bench.downloads.reset();
    bench.downloads = std::make_unique<Downloads>(bench.client, bench.queue());
    FOVEA_VERIFY(bench.downloads->start());
    QVERIFY(bench.status(id).error == error);
    bench.server.set_fault({});
    bench.downloads->resume(id);
    QVERIFY(bench.becomes(id, DownloadState::done));
  }

  // As the window uses it: everything by signals, on another thread.
  void theWorkerAnswersBySignals() {
    Bench bench;
    DownloadWorkerSettings settings{bench.queue(), NetworkSettings{}, bench.settings()};
    auto worker = std::make_unique<DownloadWorker>(settings);
    std::vector<HubModel> models;
    std::vector<ModelChoice> choices;
    HubRepository repository;
    DownloadStatus status;
    QString failure;
    connect(worker.get(), &DownloadWorker::found, this,
            [&](const QString&, const auto& told) { models = told; });
    connect(worker.get(), &DownloadWorker::listed, this,
            [&](const QString&, const HubRepository& files, const auto& told) {
              repository = files;
              choices = told;
            });
    connect(worker.get(), &DownloadWorker::failed, this,
            [&](const QString& about, const auto&) { failure = about; });
    connect(worker.get(), &DownloadWorker::changed, this, [&](const DownloadStatus& told) { status = told; });
    worker->search(QStringLiteral("model"));
    QTRY_COMPARE(models.size(), 1U);
    worker->list(QStringLiteral("no/such"));
    QTRY_COMPARE(failure, QStringLiteral("no/such"));
    worker->list(QStringLiteral("org/model"));
    QTRY_COMPARE(choices.size(), 2U);
    worker->add({repository.id, repository.revision, repository.commit, choices.front(), {}});
    QTRY_VERIFY(status.state == DownloadState::done);
    const int connections = bench.server.connections();
    worker->set_offline(true);
    failure.clear();
    worker->search(QStringLiteral("again"));
    QTRY_COMPARE(failure, QStringLiteral("again"));
    QCOMPARE(bench.server.connections(), connections);
    worker.reset();
  }

  // A file system of 1.2 MB, with and without reserving: it pauses, tells why, and goes on when there is
  // room.
  void aFullDiskPauses_data() {
    QTest::addColumn<bool>("reserve");
    QTest::addColumn<bool>("full_at_once");
    QTest::newRow("from the beginning") << true << true;
    QTest::newRow("in the middle") << false << false;
  }
  void aFullDiskPauses() {
    QFETCH(bool, reserve);
    QFETCH(bool, full_at_once);
    Bench bench;
    const fs::path disk = bench.folder.path() / "disk";
    fs::create_directories(disk);
    if (::mount("none", disk.c_str(), "tmpfs", 0, "size=1200k") != 0)
      QSKIP("only root may mount a small file system");
    struct Unmount {
      fs::path path;
      ~Unmount() { ::umount2(path.c_str(), MNT_DETACH); }
    } unmount{disk};
    DownloadsSettings settings = bench.queue();
    settings.job.transfer.partial.reserve = reserve;
    bench.downloads = std::make_unique<Downloads>(bench.client, settings);
    FOVEA_VERIFY(bench.downloads->start());
    const auto fill = [&] { std::ofstream(disk / "other") << std::string(800'000, 'x'); };
    if (full_at_once) fill();
    bench.server.set_pace(0, 1'000'000);
    DownloadRequest request = bench.request("Q8_0");
    request.folder = disk;
    const auto id = bench.downloads->add(request);
    if (!full_at_once) {
      QVERIFY(QTest::qWaitFor([&] { return bench.status(id).bytes_done > 100'000; }, fovea::tests::kLong));
      fill();
    }
    QVERIFY(bench.becomes(id, DownloadState::disk_full));
    const std::string message = bench.status(id).error.value().message();
    QVERIFY2(message.contains("full") || message.contains("No space left"), message.c_str());
    QVERIFY(message.contains("Free some space"));
    fs::remove(disk / "other");
    QVERIFY(bench.becomes(id, DownloadState::done));
    QCOMPARE(content(disk / "m-Q8_0.gguf"), bench.one.toStdString());
  }
};
FOVEA_TEST(DownloadsTest)

#include "downloads_test.moc"
