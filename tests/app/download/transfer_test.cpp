// A file from a hub that cuts, delays, lies, forgets and refuses: what lies on the disk at the end is right,
// or there is an error that says why.
#include "app/download/transfer.h"

#include <QRegularExpression>
#include <fstream>
#include <random>

#include "tests/support/test.h"

#include "hub_server.h"

namespace fs = std::filesystem;
using namespace fovea::app;
using fovea::tests::content;
using fovea::tests::HttpQuestion;
using fovea::tests::HubServer;
using fovea::tests::random_bytes;
using fovea::tests::TemporaryFolder;
using fovea::tests::Wire;

Q_DECLARE_METATYPE(HubServer::Fault)

namespace {

constexpr std::int64_t size_bytes = 3 * 1024 * 1024 + 12345;
constexpr std::int64_t piece_bytes = 512 * 1024;

TransferSettings quick() {
  TransferSettings settings;
  settings.piece_bytes = piece_bytes;
  settings.retry_base_ms = 5;
  settings.retry_most_ms = 40;
  settings.retries = 4;
  settings.idle_timeout_ms = 1000;
  settings.slow_window_ms = 400;
  settings.slow_bytes = 8 << 10;
  settings.lock_poll_ms = 20;
  settings.partial = {.sync_interval_ms = 20, .spare_bytes = 0};
  return settings;
}

// A hub with one file, and a transfer of it.
struct Bench {
  QByteArray bytes = random_bytes(size_bytes, 7);
  HubServer server{{{"a.gguf", bytes}}};
  TemporaryFolder folder;
  Network network{NetworkSettings{}};
  std::unique_ptr<HubClient> client;
  std::unique_ptr<Transfer> transfer;
  TransferEnd end;
  TransferSettings settings = quick();
  bool is_named_by_hash = false;

  void make(const std::string& token = {}) {
    HubSettings hub;
    hub.endpoint = QUrl(QString::fromStdString(server.endpoint()));
    hub.token = QString::fromStdString(token);
    hub.idle_timeout_ms = 1000;
    hub.retry_base_ms = 5;
    client = std::make_unique<HubClient>(network, hub);
    remake();
  }
  void remake() {
    HubFile file{"a.gguf", bytes.size(), HubServer::git_oid(bytes), HubServer::sha256(bytes)};
    transfer = std::make_unique<Transfer>(
        *client, HubFileId{"org/model", server.commit(), file},
        PartialPlace{target(), target().string() + ".incomplete", {}, is_named_by_hash}, settings);
    QObject::connect(transfer.get(), &Transfer::ended, [this](const TransferEnd& told) { end = told; });
  }
  fs::path target() const { return folder.path() / "a.gguf"; }
  bool run() {
    if (!client) make();
    end = {};
    transfer->start();
    return QTest::qWaitFor([&] { return transfer->state() == TransferState::ended; }, fovea::tests::kLong);
  }
  std::string message() const { return end.error ? end.error->message() : ""; }
  bool is_right() const { return !end.error && content(target()) == bytes.toStdString(); }
  bool left_nothing_beside() const {
    return std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 1;
  }
};

using Fault = HubServer::Fault;

Fault status_of_storage(int status, int times, const std::string& field = "X: y") {
  return [=](const HttpQuestion& question, Wire& wire, int n) {
    if (!question.at_storage || n >= times) return false;
    return wire.answer(status, {field}, "<html>an error page</html>");
  };
}

std::string slice(const QByteArray& bytes, std::int64_t begin, std::int64_t end) {
  return bytes.mid(begin, end - begin).toStdString();
}

std::string range_field(std::int64_t begin, std::int64_t end, std::int64_t total) {
  return "Content-Range: bytes " + std::to_string(begin) + "-" + std::to_string(end - 1) + "/" +
         std::to_string(total);
}

}  // namespace

class TransferTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void aFileComes() {
    Bench bench;
    QVERIFY(bench.run());
    QVERIFY2(bench.is_right(), bench.message().c_str());
    QVERIFY(bench.left_nothing_beside());
    QCOMPARE(bench.server.bytes_sent(), size_bytes);  // nothing twice
    int ranges = 0;
    for (const HttpQuestion& question : bench.server.questions())
      ranges += question.at_storage && question.begin >= 0;
    QCOMPARE(ranges, 7);
  }

  // Each fault passes, and the file is right.
  void faultsThatPass_data() {
    QTest::addColumn<Fault>("fault");
    const QByteArray bytes = random_bytes(size_bytes, 7);
    const auto row = [](const char* name, Fault fault) { QTest::newRow(name) << fault; };
    const auto cut = [bytes](int times, std::int64_t after, bool reset) {
      return Fault([=](const HttpQuestion& question, Wire& wire, int n) {
        if (!question.at_storage || n >= times) return false;
        wire.send("HTTP/1.1 206 x\r\nContent-Length: " + std::to_string(question.end - question.begin) +
                  "\r\n" + range_field(question.begin, question.end, size_bytes) + "\r\n\r\n" +
                  slice(bytes, question.begin, question.begin + after));
        if (reset)
          wire.reset();
        else
          wire.sleep_ms(5000);
        return true;
      });
    };
    row("cut in the middle", cut(5, 100000, true));
    row("cut at once", cut(2, 0, true));
    row("stalls in the middle", cut(2, 70000, false));
    row("500", status_of_storage(500, 3));
    row("503 with Retry-After", status_of_storage(503, 2, "Retry-After: 0"));
    row("429", status_of_storage(429, 3, "Retry-After: 0"));
    row("408", status_of_storage(408, 2));
    row("403: the address has expired", status_of_storage(403, 2));
    row("a wrong Content-Range", [bytes](const HttpQuestion& question, Wire& wire, int n) {
      if (!question.at_storage || n > 0) return false;
      return wire.answer(206, {range_field(question.begin + 7, question.end, size_bytes)},
                         slice(bytes, question.begin + 7, question.end));
    });
    row("206 without Content-Range", [bytes](const HttpQuestion& question, Wire& wire, int n) {
      if (!question.at_storage || n > 0) return false;
      return wire.answer(206, {}, slice(bytes, question.begin, question.end));
    });
    row("another total", [bytes](const HttpQuestion& question, Wire& wire, int n) {
      if (!question.at_storage || n > 0) return false;
      return wire.answer(206, {range_field(question.begin, question.end, size_bytes + 1)},
                         slice(bytes, question.begin, question.end));
    });
    row("200 in place of 206", [bytes](const HttpQuestion& question, Wire& wire, int) {
      if (!question.at_storage) return false;
      return wire.answer(200, {}, bytes.toStdString());
    });
    row("416", [](const HttpQuestion& question, Wire& wire, int n) {
      if (!question.at_storage || n > 0) return false;
      return wire.answer(416, {"Content-Range: bytes */10"}, "");
    });
    row("chunked, without a length", [bytes](const HttpQuestion& question, Wire& wire, int) {
      if (!question.at_storage) return false;
      wire.send("HTTP/1.1 206 x\r\nTransfer-Encoding: chunked\r\n" +
                range_field(question.begin, question.end, size_bytes) + "\r\n\r\n");
      for (std::int64_t at = question.begin; at < question.end; at += 100000) {
        const std::string piece = slice(bytes, at, std::min(at + 100000, question.end));
        char head[32];
        std::snprintf(head, sizeof head, "%zx\r\n", piece.size());
        wire.send(head + piece + "\r\n");
      }
      return wire.send("0\r\n\r\n");
    });
    row("more than was asked for", [bytes](const HttpQuestion& question, Wire& wire, int n) {
      if (!question.at_storage || n > 1) return false;
      wire.send("HTTP/1.1 206 x\r\nConnection: close\r\n" +
                range_field(question.begin, question.end, size_bytes) + "\r\n\r\n" +
                slice(bytes, question.begin, question.end) + "and more");
      wire.reset();
      return true;
    });
    row("one wrong byte", [bytes](const HttpQuestion& question, Wire& wire, int n) {
      if (!question.at_storage || n > 0) return false;
      std::string wrong = slice(bytes, question.begin, question.end);
      wrong[1000] = static_cast<char>(wrong[1000] ^ 1);
      return wire.answer(206, {range_field(question.begin, question.end, size_bytes)}, wrong);
    });
    row("a new entity tag each time", [bytes](const HttpQuestion& question, Wire& wire, int n) {
      if (!question.at_storage) return false;
      return wire.answer(
          206, {range_field(question.begin, question.end, size_bytes), "ETag: \"" + std::to_string(n) + "\""},
          slice(bytes, question.begin, question.end));
    });
    row("redirects of the storage", [bytes](const HttpQuestion& question, Wire& wire, int) {
      if (!question.at_storage) return false;
      if (!question.target.ends_with("&moved"))
        return wire.answer(307, {"Location: " + question.target + "&moved"}, "");
      return wire.answer(206, {range_field(question.begin, question.end, size_bytes)},
                         slice(bytes, question.begin, question.end));
    });
    row("slower than can be waited for", [](const HttpQuestion& question, Wire& wire, int n) {
      if (!question.at_storage || n > 0) return false;
      wire.send("HTTP/1.1 206 x\r\nX-Slow: ");
      for (int i = 0; i < 100 && wire.send("z"); ++i) wire.sleep_ms(50);
      wire.reset();
      return true;
    });
    row("no HTTP", [](const HttpQuestion& question, Wire& wire, int n) {
      if (!question.at_storage || n > 1) return false;
      wire.send("hello, this is no web server\r\n\r\n");
      wire.reset();
      return true;
    });
    row("the hub is busy too", [](const HttpQuestion& question, Wire& wire, int) {
      static int asked = 0;
      if (question.method != "HEAD" || ++asked > 3) return false;
      return wire.answer(502, {}, "", true);
    });
  }
  void faultsThatPass() {
    QFETCH(Fault, fault);
    Bench bench;
    bench.settings.retries = TransferSettings{}.retries;  // Qt may end sound connections with a cut one
    bench.server.set_fault(fault);
    QVERIFY(bench.run());
    QVERIFY2(bench.is_right(), bench.message().c_str());
    QVERIFY(bench.left_nothing_beside());
  }

  // Each fault stays: the error says what it is, and no wrong file appears.
  void faultsThatStay_data() {
    QTest::addColumn<Fault>("fault");
    QTest::addColumn<QByteArray>("says");
    const auto row = [](const char* name, const char* says, Fault fault) {
      QTest::newRow(name) << fault << QByteArray(says);
    };
    const int always = 1 << 30;
    const auto at_hub = [](int status, const std::string& field) {
      return Fault([=](const HttpQuestion& question, Wire& wire, int) {
        return question.method == "HEAD" && wire.answer(status, {field}, "", true);
      });
    };
    row("401", "wants a token", at_hub(401, "X: y"));
    row("403 gated", "must be granted", at_hub(403, "X-Error-Code: GatedRepo"));
    row("404 file", "no such file", at_hub(404, "X-Error-Code: EntryNotFound"));
    row("404 revision", "no such revision", at_hub(404, "X-Error-Code: RevisionNotFound"));
    row("500", "status 500", status_of_storage(500, always));
    row("403 always", "refuses fresh addresses", status_of_storage(403, always));
    row("416 always", "shorter", status_of_storage(416, always, "Content-Range: bytes */10"));
    row("418", "status 418", status_of_storage(418, always));
    row("compressed", "compressed", [](const HttpQuestion& question, Wire& wire, int) {
      return question.at_storage && wire.answer(200, {"Content-Encoding: gzip"}, "\x1F\x8B and so on");
    });
    row("another file on the hub", "not the one in its list",
        at_hub(200, "X-Linked-Etag: \"" + std::string(64, 'e') + "\""));
    row("another size on the hub", "not the one in its list", at_hub(200, "X-Linked-Size: 5"));
    row("wrong bytes always", "hash is wrong", [](const HttpQuestion& question, Wire& wire, int) {
      if (!question.at_storage || question.begin < 0) return false;
      return wire.answer(206, {range_field(question.begin, question.end, size_bytes)},
                         std::string(static_cast<std::size_t>(question.end - question.begin), 'x'));
    });
    row("no answer at all", "ended the connection", [](const HttpQuestion& question, Wire& wire, int) {
      if (question.at_storage) wire.reset();
      return question.at_storage;
    });
    row("in circles", "redirects to nowhere", [](const HttpQuestion& question, Wire& wire, int) {
      return question.at_storage && wire.answer(302, {"Location: " + question.target}, "");
    });
    row("to another scheme", "not a web address|redirects",
        [](const HttpQuestion& question, Wire& wire, int) {
          return question.at_storage && wire.answer(302, {"Location: file:///etc/passwd"}, "");
        });
  }
  void faultsThatStay() {
    QFETCH(Fault, fault);
    QFETCH(QByteArray, says);
    Bench bench;
    bench.server.set_fault(fault);
    QVERIFY(bench.run());
    QVERIFY(bench.end.error.has_value());
    const QString message = QString::fromStdString(bench.message());
    QVERIFY2(message.contains(QRegularExpression(QString::fromLatin1(says))), bench.message().c_str());
    QVERIFY2(!message.contains(QLatin1String("signature=")), "a signature is told");
    QVERIFY(!fs::exists(bench.target()));
  }

  void theFileChangesMidway() {
    Bench bench;
    const QByteArray other = random_bytes(size_bytes, 8);
    bench.server.set_pace(0, 2'000'000);
    bench.make();
    QTimer poll;
    connect(&poll, &QTimer::timeout, this, [&] {
      if (bench.transfer->bytes_there() > size_bytes / 4) bench.server.set_bytes("a.gguf", other);
    });
    poll.start(5);
    QVERIFY(bench.run());
    QVERIFY(!fs::exists(bench.target()));
    QVERIFY2(bench.message().contains("hash is wrong"), bench.message().c_str());
  }

  void theTokenGoesToTheHubAlone() {
    Bench bench;
    bench.server.set_token("hf_secret");
    bench.make("hf_secret");
    QVERIFY(bench.run());
    QVERIFY2(bench.is_right(), bench.message().c_str());
    int with = 0;
    for (const HttpQuestion& question : bench.server.questions()) {
      QVERIFY(!question.target.contains("hf_secret"));
      if (question.at_storage)
        QCOMPARE(question.field("authorization"), std::string());
      else
        with += question.field("authorization") == "Bearer hf_secret";
    }
    QVERIFY(with > 0);
  }

  void aWrongTokenIsNotTold() {
    Bench bench;
    bench.server.set_token("hf_right");
    bench.make("hf_wrong");
    QVERIFY(bench.run());
    QVERIFY2(bench.message().contains("does not accept the token"), bench.message().c_str());
    QVERIFY(!bench.message().contains("hf_"));
  }

  void addressesExpireAgainAndAgain() {
    Bench bench;
    bench.server.set_expiry(2);
    QVERIFY(bench.run());
    QVERIFY2(bench.is_right(), bench.message().c_str());
  }

  void itGoesOnWhereItStopped() {
    Bench bench;
    bench.server.set_pace(0, 2'000'000);
    bench.make();
    bench.transfer->start();
    QVERIFY(
        QTest::qWaitFor([&] { return bench.transfer->bytes_there() > size_bytes / 3; }, fovea::tests::kLong));
    bench.transfer->stop();
    const std::int64_t there = bench.transfer->bytes_there();
    QVERIFY(there < size_bytes);
    bench.remake();  // as another program would
    const std::int64_t before = bench.server.bytes_sent();
    bench.server.set_pace(0, 0);
    QVERIFY(bench.run());
    QVERIFY2(bench.is_right(), bench.message().c_str());
    // What was in flight may come twice, and nothing else.
    QVERIFY(bench.server.bytes_sent() - before <= size_bytes - there + 64 * 1024);
  }

  void aDamagedStateIsNotBelieved_data() {
    QTest::addColumn<QByteArray>("state");
    const std::string sha = HubServer::sha256(random_bytes(size_bytes, 7)),
                      oid = HubServer::git_oid(random_bytes(size_bytes, 7));
    const std::string head = "{\"version\":1,\"source\":\"org/model@" + std::string(40, 'c') +
                             ":a.gguf\",\"bytes\":" + std::to_string(size_bytes) + ",\"sha256\":\"" + sha +
                             "\",\"git_oid\":\"" + oid + "\",\"there\":";
    const auto row = [](const char* name, const std::string& state) {
      QTest::newRow(name) << QByteArray::fromStdString(state);
    };
    row("empty", "");
    row("garbage", "\xFF{{");
    row("of another file",
        "{\"version\":1,\"source\":\"x\",\"bytes\":1,\"sha256\":\"\",\"git_oid\":\"\",\"there\":[[0,1]]}");
    row("beyond the file", head + "[[0,99999999999]]}");
    row("backwards", head + "[[500,5]]}");
    row("negative", head + "[[-5,5]]}");
    row("words", head + "[[\"a\",5]]}");
    row("a lie", head + "[[0,1000000]]}");  // the hash tells
  }
  void aDamagedStateIsNotBelieved() {
    QFETCH(QByteArray, state);
    Bench bench;
    bench.make();
    std::ofstream(bench.target().string() + ".incomplete") << std::string(1000000, 'x');
    std::ofstream(bench.target().string() + ".incomplete.state") << state.toStdString();
    QVERIFY(bench.run());
    QVERIFY2(bench.is_right(), bench.message().c_str());
  }

  void aFileOfThatLengthIsNotBelieved() {
    for (const bool right : {true, false}) {
      Bench bench;
      std::ofstream(bench.target(), std::ios::binary)
          << (right ? bench.bytes : QByteArray(size_bytes, 'x')).toStdString();
      QVERIFY(bench.run());
      QVERIFY2(bench.is_right(), bench.message().c_str());
      QCOMPARE(bench.server.connections() == 0, right);
    }
  }

  // Killed after naming the file: the next one finds it there, fetches nothing and tidies up.
  void whatAKillLeftBesideAFinishedFileIsRemoved() {
    for (const bool is_named_by_hash : {true, false}) {
      Bench bench;
      bench.is_named_by_hash = is_named_by_hash;
      std::ofstream(bench.target(), std::ios::binary) << bench.bytes.toStdString();
      std::ofstream(bench.target().string() + ".incomplete.state") << "{\"version\":1}";
      QVERIFY(bench.run());
      QVERIFY2(bench.is_right(), bench.message().c_str());
      QCOMPARE(bench.server.connections(), 0);
      QVERIFY(bench.left_nothing_beside());
    }
  }

  void twoAtOnceDoNotDisturbEachOther() {
    Bench bench;
    bench.server.set_pace(1, 4'000'000);
    bench.make();
    auto first = std::move(bench.transfer);
    bench.remake();
    first->start();
    QVERIFY(QTest::qWaitFor([&] { return first->bytes_there() > 0; }, 10000));
    bench.transfer->start();
    QVERIFY(
        QTest::qWaitFor([&] { return bench.transfer->state() == TransferState::waiting_for_other; }, 10000));
    QVERIFY(QTest::qWaitFor([&] { return bench.transfer->state() == TransferState::ended; },
                            fovea::tests::kLong));
    QVERIFY2(bench.is_right(), bench.message().c_str());
    QVERIFY(bench.server.bytes_sent() <= size_bytes + 64 * 1024);
  }

  void offlineOpensNothing() {
    Bench bench;
    bench.make();
    bench.network.set_offline(true);
    QVERIFY(bench.run());
    QVERIFY2(bench.message().contains("offline"), bench.message().c_str());
    QCOMPARE(bench.server.connections(), 0);
  }

  void goingOfflineEndsWhatRuns() {
    Bench bench;
    bench.server.set_pace(0, 1'000'000);
    bench.make();
    bench.transfer->start();
    QVERIFY(QTest::qWaitFor([&] { return bench.transfer->bytes_there() > 0; }, 10000));
    bench.network.set_offline(true);
    QVERIFY(QTest::qWaitFor([&] { return bench.transfer->state() == TransferState::ended; },
                            fovea::tests::kLong));
    QVERIFY2(bench.message().contains("offline"), bench.message().c_str());
    const int connections = bench.server.connections();
    bench.network.set_offline(false);
    QVERIFY(bench.run());
    QVERIFY2(bench.is_right(), bench.message().c_str());
    QVERIFY(bench.server.connections() > connections);  // the counter counts
  }

  void smallFilesAreCheckedByTheirGitHash() {
    const QByteArray bytes("{\"a\": 1}\n");
    HubServer server({{"config.json", bytes, false}});
    for (const bool right : {true, false}) {
      TemporaryFolder folder;
      Network network{NetworkSettings{}};
      HubSettings hub;
      hub.endpoint = QUrl(QString::fromStdString(server.endpoint()));
      HubClient client(network, hub);
      const HubFile file{"config.json", bytes.size(),
                         HubServer::git_oid(right ? bytes : QByteArray("{\"a\": 2}\n")), ""};
      Transfer transfer(client, {"org/model", server.commit(), file},
                        {folder.path() / "c", folder.path() / "c.incomplete", {}, false}, quick());
      TransferEnd end;
      connect(&transfer, &Transfer::ended, this, [&](const TransferEnd& told) { end = told; });
      transfer.start();
      QVERIFY(QTest::qWaitFor([&] { return transfer.state() == TransferState::ended; }, 10000));
      QCOMPARE(!end.error, right);
      QCOMPARE(fs::exists(folder.path() / "c"), right);
    }
  }
};
FOVEA_TEST(TransferTest)

#include "transfer_test.moc"
