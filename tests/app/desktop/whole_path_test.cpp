// The whole path in a real window on an X server: first start, wizard, chat, another answer, the panel, a
// kill in the middle of an answer, and the start after it, with everything still there.
#include <QElapsedTimer>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QStandardPaths>
#include <csignal>
#include <optional>

#include "tests/support/test.h"

using namespace fovea;

namespace {

using fovea::tests::kLong;

class Server {  // Xvfb on a display that is free
 public:
  bool start() {
    process_.setProgram(QStringLiteral("Xvfb"));
    process_.setArguments({QStringLiteral("-displayfd"), QStringLiteral("1"), QStringLiteral("-screen"),
                           QStringLiteral("0"), QStringLiteral("1600x1000x24"), QStringLiteral("-nolisten"),
                           QStringLiteral("tcp")});
    process_.start();
    while (process_.waitForReadyRead(30'000)) {
      number_ += process_.readAllStandardOutput();
      if (number_.endsWith('\n')) return true;
    }
    return false;
  }
  ~Server() {
    process_.terminate();
    if (!process_.waitForFinished(10'000)) process_.kill();
  }
  QString display() const { return QLatin1Char(':') + QString::fromLatin1(number_.trimmed()); }

 private:
  QProcess process_;
  QByteArray number_;
};

}  // namespace

class WholePathTest : public QObject {
  Q_OBJECT

 private:
  Server server_;
  std::filesystem::path model_;
  std::unique_ptr<tests::TemporaryFolder> folder_;

  void start(QProcess& process, const char* stage) {
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("FOVEA_DATA"), QString::fromStdString(folder_->path().string()));
    environment.insert(QStringLiteral("QT_QPA_PLATFORM"), QStringLiteral("xcb"));
    environment.insert(QStringLiteral("DISPLAY"), server_.display());
    process.setProcessEnvironment(environment);
    process.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    QStringList arguments{QString::fromLatin1(stage)};
    if (qEnvironmentVariableIsSet("FOVEA_PICTURES"))
      arguments += qEnvironmentVariable("FOVEA_PICTURES") + QStringLiteral("/restored.png");
    process.start(QStringLiteral(FOVEA_BINARY_DIR "/fovea_desktop_stage"), arguments);
  }

  // The next line with this event; nothing when the process fails, ends or is silent before.
  static std::optional<QJsonObject> await(QProcess& process, const QString& event) {
    QElapsedTimer waited;
    waited.start();
    while (waited.elapsed() < kLong) {
      if (!process.canReadLine() && !process.waitForReadyRead(kLong)) break;
      while (process.canReadLine()) {
        const QByteArray line = process.readLine();
        const QJsonObject told = QJsonDocument::fromJson(line).object();
        if (told[QStringLiteral("event")].toString() == event) return told;
        if (told[QStringLiteral("event")].toString() == QStringLiteral("failed")) {
          qWarning("%s", line.constData());
          return std::nullopt;
        }
      }
    }
    return std::nullopt;
  }

  static QString text(const QJsonObject& told, int message) {
    return told[QStringLiteral("messages")].toArray().at(message)[QStringLiteral("text")].toString();
  }
  static int siblings(const QJsonObject& told, int message) {
    return told[QStringLiteral("messages")].toArray().at(message)[QStringLiteral("siblings")].toInt();
  }

 private Q_SLOTS:
  void initTestCase() {
    model_ = tests::demo_model();
    QVERIFY2(!model_.empty(), "the demo model is not built; scripts/test builds it");
    QVERIFY2(!QStandardPaths::findExecutable(QStringLiteral("Xvfb")).isEmpty(),
             "Xvfb is needed (apt install xvfb)");
    QVERIFY(server_.start());
  }

  void everythingIsThereAfterAKill() {
    folder_ = std::make_unique<tests::TemporaryFolder>();
    std::filesystem::create_directories(folder_->path() / "models");
    std::filesystem::create_symlink(model_, folder_->path() / "models/demo.gguf");
    QProcess first;
    start(first, "first");
    const auto set_up = await(first, QStringLiteral("set up"));
    QVERIFY(set_up);
    QVERIFY(!(*set_up)[QStringLiteral("measured")].toString().isEmpty());
    const auto answered = await(first, QStringLiteral("answered"));
    QVERIFY(answered);

    // Killed while an answer streams: what was shown more than a second before is kept.
    std::optional<QJsonObject> kept, last;
    int messages = 0;
    while (!kept || (*last)[QStringLiteral("milliseconds")].toInt() <
                        (*kept)[QStringLiteral("milliseconds")].toInt() + 1500) {
      last = await(first, QStringLiteral("writing"));
      QVERIFY(last);
      const int count = static_cast<int>((*last)[QStringLiteral("messages")].toArray().size());
      const bool begun = !text(*last, count - 1).isEmpty();
      if (count != messages) kept.reset();  // another answer was begun
      messages = count;
      if (!kept && begun) kept = last;
    }
    QVERIFY((*last)[QStringLiteral("moments")].toInt() > 3);
    first.kill();
    QVERIFY(first.waitForFinished());
    QCOMPARE(first.exitStatus(), QProcess::CrashExit);

    QProcess again;
    start(again, "again");
    const auto restored = await(again, QStringLiteral("restored"));
    QVERIFY(restored);
    QCOMPARE((*restored)[QStringLiteral("messages")].toArray().size(), messages);
    QCOMPARE(text(*restored, 0), QStringLiteral("What is the capital of France?"));
    QCOMPARE(text(*restored, 1), (*answered)[QStringLiteral("second")].toString());
    QCOMPARE(siblings(*restored, 1), 2);
    QCOMPARE(text(*restored, messages - 2), text(*last, messages - 2));  // the last question
    const QString answer = text(*restored, messages - 1);
    QVERIFY2(answer.startsWith(text(*kept, messages - 1)), qPrintable(answer));
    QCOMPARE((*restored)[QStringLiteral("draft")].toString(), QStringLiteral("unsent"));

    const auto other = await(again, QStringLiteral("other branch"));
    QVERIFY(other);
    QCOMPARE(text(*other, 1), (*answered)[QStringLiteral("first")].toString());
    QVERIFY(await(again, QStringLiteral("went on")));
    QVERIFY(await(again, QStringLiteral("closed")));
    QVERIFY(again.waitForFinished(kLong));
    QCOMPARE(again.exitCode(), 0);
  }
};
FOVEA_TEST(WholePathTest)

#include "whole_path_test.moc"
