// The hub's token in a real keyring service (GNOME Keyring), on a message bus of the test's own.
#include "app/network/keyring.h"

#include <QProcess>
#include <QStandardPaths>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/prctl.h>

#include "app/network/token_store.h"
#include "tests/support/test.h"

using namespace fovea::app;
using fovea::tests::TemporaryFolder;

namespace {

const QString kHost = QStringLiteral("hub.test");
const QString kToken = QStringLiteral("hf_kept_by_the_system");

// A bus that starts no services by itself, so that nothing of this machine's answers.
constexpr const char* bus_settings = R"(<busconfig>
  <type>session</type>
  <listen>unix:tmpdir=/tmp</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*"/>
    <allow receive_sender="*"/>
    <allow own="*"/>
  </policy>
</busconfig>
)";

bool is_installed(const char* program) {
  return !QStandardPaths::findExecutable(QString::fromLatin1(program)).isEmpty();
}

// Whether a file below the folder holds the text as it is.
bool holds(const std::filesystem::path& folder, const std::string& text) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream stream(entry.path(), std::ios::binary);
    const std::string content{std::istreambuf_iterator<char>(stream), {}};
    if (content.find(text) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

class KeyringTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    for (const char* program : {"dbus-daemon", "gnome-keyring-daemon"})
      QVERIFY2(is_installed(program), qPrintable(QString::fromLatin1(program) + " is needed"));
    const std::filesystem::path settings = folder_.path() / "bus.conf";
    std::ofstream(settings) << bus_settings;
    // A process whose bus ends is ended by its library: this one ends after the process, not with the class.
    auto* bus = new QProcess;
    bus->setChildProcessModifier([] { prctl(PR_SET_PDEATHSIG, SIGTERM); });
    bus->start(QStringLiteral("dbus-daemon"),
               {QStringLiteral("--nofork"), QStringLiteral("--print-address"),
                QStringLiteral("--config-file=") + QString::fromStdString(settings.string())});
    QVERIFY2(bus->waitForReadyRead(fovea::tests::kLong), bus->readAllStandardError().constData());
    qputenv("DBUS_SESSION_BUS_ADDRESS", bus->readLine().trimmed());
    qunsetenv("HF_TOKEN");
    qunsetenv("HUGGING_FACE_HUB_TOKEN");
    qputenv("HF_TOKEN_PATH", (folder_.path() / "none").c_str());
  }

  void cleanupTestCase() {
    stop(daemon_);
    for (const char* name : {"DBUS_SESSION_BUS_ADDRESS", "HF_TOKEN_PATH"}) qunsetenv(name);
  }

  void aTokenIsKept() {
    start_daemon();
    QCOMPARE(find().source, TokenSource::none);
    const auto outcome = save(kToken);
    QVERIFY(outcome);
    FOVEA_VERIFY(*outcome);
    const Token token = find();
    QCOMPARE(token.text, kToken);
    QCOMPARE(token.source, TokenSource::keyring);
    QVERIFY(!token.trouble);
    // It is on the disk, and not to be read there.
    QVERIFY(std::filesystem::exists(folder_.path() / "keyrings" / "login.keyring"));
    QVERIFY(!holds(folder_.path(), kToken.toStdString()));
  }

  void anotherHostsTokenIsAnother() {
    QCOMPARE(find(QStringLiteral("elsewhere.test")).source, TokenSource::none);
    QCOMPARE(find().text, kToken);
  }

  void aForgottenTokenIsGone() {
    std::optional<fovea::Result<void>> outcome;
    TokenStore store(kHost);
    store.forget([&](const fovea::Result<void>& result) { outcome = result; });
    QTRY_VERIFY(outcome);
    FOVEA_VERIFY(*outcome);
    const Token none = find();
    QCOMPARE(none.source, TokenSource::none);
    QVERIFY(!none.trouble);
  }

  // The last, since a process does not find a service that is started again.
  void withoutAServiceItIsSaid() {
    stop(daemon_);
    const auto outcome = save(kToken);
    QVERIFY(outcome && !outcome->has_value());
    QCOMPARE(outcome->error().kind, fovea::ErrorKind::not_found);
    QVERIFY(outcome->error().message().find("HF_TOKEN") != std::string::npos);
    const Token none = find();
    QCOMPARE(none.source, TokenSource::none);
    QVERIFY(none.trouble);
  }

 private:
  std::optional<fovea::Result<void>> save(const QString& token) {
    std::optional<fovea::Result<void>> outcome;
    TokenStore store(kHost);
    store.save(token, [&](const fovea::Result<void>& result) { outcome = result; });
    [&] { QTRY_VERIFY(outcome); }();
    return outcome;
  }

  Token find(const QString& host = kHost) {
    std::optional<Token> found;
    TokenStore store(host);
    store.find([&](const Token& token) { found = token; });
    [&] { QTRY_VERIFY(found); }();
    return found.value_or(Token());
  }

  // Unlocked with a password of the test's; its keyring lies in the test's folder.
  void start_daemon() {
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    const QString folder = QString::fromStdString(folder_.path().string());
    for (const char* name : {"HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME"})
      environment.insert(QString::fromLatin1(name), folder);
    daemon_.setProcessEnvironment(environment);
    daemon_.setProcessChannelMode(QProcess::MergedChannels);
    daemon_.start(
        QStringLiteral("gnome-keyring-daemon"),
        {QStringLiteral("--foreground"), QStringLiteral("--unlock"), QStringLiteral("--components=secrets")});
    QVERIFY2(daemon_.waitForStarted(fovea::tests::kLong), "gnome-keyring-daemon does not start");
    daemon_.write("a password");
    daemon_.closeWriteChannel();
    QTRY_VERIFY(!find().trouble);
  }

  static void stop(QProcess& process) {
    if (process.state() == QProcess::NotRunning) return;
    process.terminate();
    process.waitForFinished(fovea::tests::kLong);
  }

  TemporaryFolder folder_;
  QProcess daemon_;
};

FOVEA_TEST(KeyringTest)
#include "keyring_test.moc"
