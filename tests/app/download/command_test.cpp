// fovea download as its users run it: killed, stopped, twice at once, offline.
#include <QCoreApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QProcess>
#include <csignal>
#include <fstream>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <nlohmann/json.hpp>
#include <random>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "tests/support/test.h"

#include "hub_server.h"

namespace fs = std::filesystem;
using fovea::tests::content;
using fovea::tests::HttpQuestion;
using fovea::tests::HubServer;
using fovea::tests::random_bytes;
using fovea::tests::TemporaryFolder;

namespace {

constexpr std::int64_t size_bytes = 6'000'000;

// The process is ended by SIGSYS when it opens a socket to the network; those of this machine (D-Bus) are
// allowed.
void forbid_network() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{static_cast<unsigned short>(std::size(program)), program};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

struct Bench {
  QByteArray bytes = random_bytes(size_bytes, 3);
  HubServer server{
      {{"m-Q4_0.gguf", bytes}, {"m-Q8_0.gguf", QByteArray(5000, 'q')}, {"README.md", "# m", false}}};
  TemporaryFolder folder;
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();

  Bench() {
    const QString here = QString::fromStdString(folder.path().string());
    for (const char* name :
         {"HF_TOKEN", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HUB_OFFLINE", "DBUS_SESSION_BUS_ADDRESS"})
      environment.remove(QString::fromLatin1(name));
    environment.insert(QStringLiteral("HF_ENDPOINT"), QString::fromStdString(server.endpoint()));
    environment.insert(QStringLiteral("HF_HOME"), here + QStringLiteral("/hf"));
    environment.insert(QStringLiteral("FOVEA_DATA"), here + QStringLiteral("/data"));
    environment.insert(QStringLiteral("HOME"), here);
  }
  void start(QProcess& process, const QStringList& arguments) const {
    process.setProcessEnvironment(environment);
    process.start(QStringLiteral(FOVEA_BINARY_DIR "/fovea"), arguments);
  }
  static QStringList download(const char* file = "Q4_0") {
    return {QStringLiteral("download"), QStringLiteral("org/model"), QString::fromLatin1(file)};
  }
  fs::path model() const { return folder.path() / "data/models/m-Q4_0.gguf"; }
  fs::path blobs() const { return folder.path() / "hf/hub/models--org--model/blobs"; }
};

struct Outcome {
  int code = -1;
  QByteArray out, err;
};

Outcome run(const Bench& bench, const QStringList& arguments) {
  QProcess process;
  bench.start(process, arguments);
  process.waitForFinished(fovea::tests::kLong);
  return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1,
          process.readAllStandardOutput(), process.readAllStandardError()};
}

}  // namespace

class DownloadCommandTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void itDownloads() {
    Bench bench;
    const Outcome outcome = run(bench, Bench::download() << QStringLiteral("--json"));
    QVERIFY2(outcome.code == 0, outcome.err.constData());
    const auto object = nlohmann::json::parse(outcome.out.toStdString(), nullptr, false);
    QVERIFY(object.is_object());
    QCOMPARE(object["model"].get<std::string>(), std::string("m-Q4_0"));
    QCOMPARE(object["files"][0]["sha256"].get<std::string>(), HubServer::sha256(bench.bytes));
    QVERIFY(content(fs::path(object["path"].get<std::string>())) == bench.bytes.toStdString());
    QVERIFY(content(bench.model()) == bench.bytes.toStdString());
    const QByteArray help = run(bench, {QStringLiteral("download"), QStringLiteral("--help")}).out;
    for (const auto& [key, value] : object.items()) QVERIFY2(help.contains(key.c_str()), key.c_str());
    QVERIFY(run(bench, Bench::download()).out.contains("fovea chat m-Q4_0"));
  }

  void itPutsFilesIntoAFolder() {
    Bench bench;
    const fs::path folder = bench.folder.path() / "here";
    const Outcome outcome =
        run(bench, Bench::download() << QStringLiteral("--to") << QString::fromStdString(folder));
    QVERIFY2(outcome.code == 0, outcome.err.constData());
    QVERIFY(content(folder / "m-Q4_0.gguf") == bench.bytes.toStdString());
    QCOMPARE(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
  }

  void itShowsWhatThereIs() {
    Bench bench;
    const Outcome list =
        run(bench, {QStringLiteral("download"), QStringLiteral("org/model"), QStringLiteral("--list")});
    QVERIFY(list.out.contains("Q4_0") && list.out.contains("5.72 MiB") && list.out.contains("m-Q8_0"));
    const Outcome search =
        run(bench, {QStringLiteral("download"), QStringLiteral("--search"), QStringLiteral("mod")});
    QVERIFY(search.out.contains("org/model"));
    const Outcome many = run(bench, {QStringLiteral("download"), QStringLiteral("org/model")});
    QCOMPARE(many.code, 1);
    QVERIFY2(many.err.contains("Q8_0, Q4_0"), many.err.constData());
  }

  void errors_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<int>("code");
    QTest::addColumn<QByteArray>("says");
    const QString download = QStringLiteral("download");
    QTest::newRow("nothing") << QStringList{download} << 2 << QByteArray("REPOSITORY");
    QTest::newRow("both") << QStringList{download, QStringLiteral("a/b"), QStringLiteral("--search"),
                                         QStringLiteral("x")}
                          << 2 << QByteArray("excludes");
    QTest::newRow("a place for what is only searched")
        << QStringList{download, QStringLiteral("--search"), QStringLiteral("x"), QStringLiteral("--to"),
                       QStringLiteral("y")}
        << 2 << QByteArray("requires REPOSITORY");
    QTest::newRow("unknown") << QStringList{download, QStringLiteral("no/such")} << 1
                             << QByteArray("does not have it");
    QTest::newRow("no name") << QStringList{download, QStringLiteral("../etc")} << 1
                             << QByteArray("not the name of a repository");
    QTest::newRow("no such version") << QStringList{download, QStringLiteral("org/model"),
                                                    QStringLiteral("Q2_K")}
                                     << 1 << QByteArray("has no Q2_K");
  }
  void errors() {
    QFETCH(QStringList, arguments);
    QFETCH(int, code);
    QFETCH(QByteArray, says);
    Bench bench;
    const Outcome outcome = run(bench, arguments);
    QCOMPARE(outcome.code, code);
    QVERIFY2(outcome.err.contains(says), outcome.err.constData());
    QCOMPARE(outcome.err.count('\n'), 1);
  }

  void aTokenIsNeverTold() {
    for (const char* right : {"hf_secret", "hf_another"}) {
      Bench bench;
      bench.server.set_token(right);
      bench.environment.insert(QStringLiteral("HF_TOKEN"), QStringLiteral("hf_secret"));
      const Outcome outcome = run(bench, Bench::download() << QStringLiteral("--verbose"));
      QCOMPARE(outcome.code, std::string_view(right) == "hf_secret" ? 0 : 1);
      QVERIFY(outcome.err.contains("GET"));
      QVERIFY2(!outcome.err.contains("secret") && !outcome.out.contains("secret"), outcome.err.constData());
      QVERIFY2(!outcome.err.contains("signature="), outcome.err.constData());
    }
  }

  void aTokenThatAnotherToolStoredIsUsed() {
    Bench bench;
    bench.server.set_token("hf_stored");
    fs::create_directories(bench.folder.path() / "hf");
    std::ofstream(bench.folder.path() / "hf/token") << "hf_stored\n";
    const Outcome outcome = run(bench, Bench::download("Q8_0"));
    QVERIFY2(outcome.code == 0, outcome.err.constData());
  }

  // Ended by SIGKILL again and again, at random moments: the same bytes in the end, and not from the
  // beginning each time.
  void killedAndContinued() {
    Bench bench;
    bench.server.set_pace(0, 400'000);  // four connections: about four seconds
    std::mt19937 random(fovea::tests::seed());
    int kills = 0;
    const int most = fovea::tests::rounds(12);
    for (;; ++kills) {
      QProcess process;
      bench.start(process, Bench::download());
      const int life_ms = kills < most ? 150 + static_cast<int>(random() % 700) : 120000;
      if (process.waitForFinished(life_ms)) {
        QVERIFY2(process.exitCode() == 0, process.readAllStandardError().constData());
        break;
      }
      process.kill();
      process.waitForFinished();
      QVERIFY(!fs::exists(bench.model()));
    }
    qInfo("%d kills, %lld bytes sent for %lld (seed %u)", kills,
          static_cast<long long>(bench.server.bytes_sent()), static_cast<long long>(size_bytes),
          fovea::tests::seed());
    QVERIFY(kills > 2);
    QVERIFY(content(bench.model()) == bench.bytes.toStdString());
    QVERIFY(bench.server.bytes_sent() < size_bytes * (kills + 1));
    QStringList left;
    for (const auto& entry : fs::directory_iterator(bench.blobs()))
      left += QString::fromStdString(entry.path().filename().string());
    QVERIFY2(left.size() == 1, qPrintable(left.join(QLatin1Char(' '))));
  }

  void controlCPausesAndTheSameCommandGoesOn() {
    Bench bench;
    bench.server.set_pace(0, 500'000);
    QProcess process;
    bench.start(process, Bench::download());
    QVERIFY(QTest::qWaitFor([&] { return bench.server.bytes_sent() > 1'500'000; }, fovea::tests::kLong));
    ::kill(static_cast<pid_t>(process.processId()), SIGINT);
    QVERIFY(process.waitForFinished(fovea::tests::kLong));
    QCOMPARE(process.exitCode(), 1);
    const QByteArray said = process.readAllStandardError();
    QVERIFY2(said.contains("paused") && said.contains("The same command continues"), said.constData());
    bench.server.set_pace(0, 0);
    const auto before = bench.server.bytes_sent();
    QCOMPARE(run(bench, Bench::download()).code, 0);
    QVERIFY(content(bench.model()) == bench.bytes.toStdString());
    QVERIFY(bench.server.bytes_sent() - before < size_bytes - 500'000);
  }

  void twoAtOnce() {
    Bench bench;
    bench.server.set_pace(0, 1'000'000);
    QProcess one, two;
    bench.start(one, Bench::download());
    bench.start(two, Bench::download());
    QVERIFY(one.waitForFinished(60000) && two.waitForFinished(60000));
    QCOMPARE(one.exitCode(), 0);
    QCOMPARE(two.exitCode(), 0);
    QVERIFY(content(bench.model()) == bench.bytes.toStdString());
    QVERIFY(bench.server.bytes_sent() <= size_bytes + 100'000);
  }

  void offlineTheCacheAnswersAndNothingIsAsked() {
    Bench bench;
    bench.environment.insert(QStringLiteral("HF_HUB_OFFLINE"), QStringLiteral("1"));
    const Outcome without = run(bench, Bench::download());
    QCOMPARE(without.code, 1);
    QVERIFY2(without.err.contains("offline"), without.err.constData());
    QCOMPARE(bench.server.connections(), 0);
    bench.environment.remove(QStringLiteral("HF_HUB_OFFLINE"));
    QCOMPARE(run(bench, Bench::download()).code, 0);
    const int connections = bench.server.connections();
    QVERIFY(connections > 0);
    bench.environment.insert(QStringLiteral("HF_HUB_OFFLINE"), QStringLiteral("1"));
    const Outcome with = run(bench, Bench::download());
    QVERIFY2(with.code == 0, with.err.constData());
    QVERIFY(with.out.contains("m-Q4_0"));
    QCOMPARE(bench.server.connections(), connections);
  }

  // The system itself watches: a process that opens a socket to the network is ended.
  void noSocketIsOpened_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<bool>("offline");
    QTest::addColumn<bool>("ended");
    const QString model = QString::fromStdString(fovea::tests::golden("models/llama-0"));
    QTest::newRow("download") << Bench::download() << true << false;
    QTest::newRow("search") << QStringList{QStringLiteral("download"), QStringLiteral("--search"),
                                           QStringLiteral("x")}
                            << true << false;
    QTest::newRow("download online: the watch works") << Bench::download() << false << true;
    QTest::newRow("inspect") << QStringList{QStringLiteral("inspect"), model} << false << false;
    QTest::newRow("devices") << QStringList{QStringLiteral("devices")} << false << false;
    QTest::newRow("bench") << QStringList{QStringLiteral("bench"), model,
                                          QStringLiteral("-p"),    QStringLiteral("8"),
                                          QStringLiteral("-n"),    QStringLiteral("2"),
                                          QStringLiteral("-r"),    QStringLiteral("1")}
                           << false << false;
  }
  void noSocketIsOpened() {
    QFETCH(QStringList, arguments);
    QFETCH(bool, offline);
    QFETCH(bool, ended);
    Bench bench;
    if (offline) bench.environment.insert(QStringLiteral("HF_HUB_OFFLINE"), QStringLiteral("1"));
    QProcess process;
    process.setChildProcessModifier(forbid_network);
    bench.start(process, arguments);
    QVERIFY(process.waitForFinished(fovea::tests::kLong));
    QCOMPARE(process.exitStatus() == QProcess::CrashExit, ended);
    QCOMPARE(bench.server.connections(), 0);
  }
};
FOVEA_TEST(DownloadCommandTest)

#include "command_test.moc"
