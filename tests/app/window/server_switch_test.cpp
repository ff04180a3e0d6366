// The server's switch: real requests to the window's server, while the window answers, too.
#include <QCheckBox>
#include <QClipboard>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QToolButton>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>
#include <unistd.h>

#include "app/library/data_folder.h"
#include "app/network/errors.h"
#include "app/server/access.h"
#include "app/server/service.h"
#include "app/settings/settings_file.h"
#include "app/window/desktop.h"
#include "app/window/server_link.h"
#include "tests/app/server/fake_models.h"
#include "tests/app/server/raw_client.h"
#include "tests/app/window/closing.h"
#include "tests/support/environment.h"
#include "tests/support/test.h"
#include "ui/chat/error_bar.h"

using namespace fovea;
using fovea::tests::ask;
using fovea::tests::body_of;
using fovea::tests::close;
using fovea::tests::get;
using fovea::tests::kLong;
using fovea::tests::post;
using fovea::tests::RawClient;
using fovea::tests::status_of;
using Json = nlohmann::json;
using ServerState = ui::ServerStateView::State;

namespace {

// A keyring that is there, is not, or is locked.
class PocketKeyring : public app::Keyring {
 public:
  std::map<QString, QString> entries;
  std::optional<Error> trouble = {};

  void read(const QString& key, QObject*, Read done) override {
    if (trouble) return done(std::unexpected(*trouble));
    done(entries.contains(key) ? entries[key] : QString());
  }
  void write(const QString& key, const QString& text, QObject*, Done done) override {
    if (trouble) return done(std::unexpected(*trouble));
    entries[key] = text;
    done({});
  }
  void remove(const QString& key, QObject*, Done done) override {
    if (trouble) return done(std::unexpected(*trouble));
    entries.erase(key);
    done({});
  }
};

// A window whose server has these settings, with a model.
struct Stage {
  std::shared_ptr<PocketKeyring> keyring = std::make_shared<PocketKeyring>();
  std::unique_ptr<app::Desktop> desktop;

  explicit Stage(const app::ServerChoice& server, const std::filesystem::path& model = tests::golden("chat"),
                 std::int64_t context = 512, const std::function<void(app::Settings&)>& more = {},
                 std::optional<Error> trouble = {}) {
    keyring->trouble = std::move(trouble);
    const auto written = app::SettingsFile(app::settings_path()).update([&](app::Settings& settings) {
      settings.server = server;
      settings.max_tokens = 4;
      if (more) more(settings);
    });
    if (!written) qFatal("%s", written.error().message().c_str());
    app::WindowRequest request{.load = LoadOptions{.model = model, .context = context, .threads = 2},
                               .policy_given = true,
                               .plan_text = [](const LoadPlan& plan) {
                                 return Json{{"total_bytes", plan.plan.total_bytes}}.dump();
                               }};
    desktop = std::make_unique<app::Desktop>(request);
    desktop->server().set_keyring(keyring);
    desktop->start();
  }

  app::ServerLink& server() const { return desktop->server(); }
  app::ChatController& chat() const { return desktop->chat(); }
  bool listens() const {
    return QTest::qWaitFor([this] { return server().state().state == ServerState::listening; }, kLong);
  }
  bool opened(std::int64_t sequences) const {
    return QTest::qWaitFor(
        [&] { return chat().model_loaded() && chat().model().settings.sequences == sequences; }, kLong);
  }
  std::uint16_t port() const { return static_cast<std::uint16_t>(QUrl(server().state().address).port()); }
  ui::SettingsPage& settings() const {
    Q_EMIT desktop->window().serverSettingsRequested();
    return *desktop->window().findChild<ui::SettingsPage*>();
  }
  const QToolButton& requests() const {
    return *desktop->window().findChild<QToolButton*>(QStringLiteral("requests"));
  }
};

std::string question(const std::string& model, int tokens, bool stream = false) {
  return Json{{"model", model},
              {"max_tokens", tokens},
              {"stream", stream},
              {"temperature", 0},
              {"messages", {{{"role", "user"}, {"content", "Hello"}}}}}
      .dump();
}
std::string answer_of(const std::string& answer) {
  const Json json = Json::parse(body_of(answer), nullptr, false);
  return json.contains("choices") ? json["choices"][0]["message"]["content"].get<std::string>() : answer;
}

template <class Widget>
Widget& part(const QWidget& of, const char* name) {
  auto* const found = of.findChild<Widget*>(QLatin1String(name));
  if (!found) qFatal("there is no %s", name);
  return *found;
}

constexpr auto chat_path = "/v1/chat/completions";

}  // namespace

class ServerSwitchTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { demo_ = tests::demo_model(); }  // before the data folder is another
  void init() { folder_ = std::make_unique<tests::DataFolder>(); }
  void cleanup() { folder_.reset(); }

  void itIsOffUntilItIsChosen() {
    const Stage stage({});
    QVERIFY(stage.opened(1));
    QVERIFY(stage.server().state() == ui::ServerStateView{});
    ui::SettingsPage& dialog = stage.settings();
    QVERIFY(!part<QCheckBox>(dialog, "serverOn").isChecked());
    QVERIFY(part<QLineEdit>(dialog, "serverAddress").text().isEmpty());
    QVERIFY(!part<QPushButton>(dialog, "copyAddress").isEnabled());
    QCOMPARE(part<QLabel>(dialog, "serverState").text(), QStringLiteral("No other program is answered."));
    QVERIFY(!stage.requests().isVisible());
    QVERIFY(close(*stage.desktop));
  }

  void aProgramIsAnswered() {
    const Stage stage({.on = true, .port = 0});
    QVERIFY(stage.opened(4));  // the window's and three others'
    QVERIFY(stage.listens());
    const Json models = Json::parse(body_of(ask(stage.port(), get("/v1/models"))));
    QCOMPARE(models["data"][0]["id"].get<std::string>(), std::string("chat"));
    for (const char* name : {"", "chat"}) {
      const std::string answer = ask(stage.port(), post(chat_path, question(name, 4)));
      QVERIFY2(status_of(answer) == 200, answer.c_str());
      QCOMPARE(Json::parse(body_of(answer))["usage"]["completion_tokens"].get<int>(), 4);
    }
    QVERIFY(Json::parse(body_of(ask(stage.port(), get("/fovea/plan"))))["total_bytes"].get<std::int64_t>() >
            0);
    ui::SettingsPage& dialog = stage.settings();
    QCOMPARE(part<QLineEdit>(dialog, "serverAddress").text(), stage.server().state().address);
    part<QPushButton>(dialog, "copyAddress").click();
    QCOMPARE(QGuiApplication::clipboard()->text(), QStringLiteral("http://127.0.0.1:%1").arg(stage.port()));
    QCOMPARE(part<QLabel>(dialog, "serverRequests").text(), QStringLiteral("No request is in progress."));
    const std::uint16_t port = stage.port();
    QVERIFY(close(*stage.desktop));
    QTRY_VERIFY(!RawClient(port).is_connected());
  }

  void theSwitchIsKeptAndOpensTheModelAnew() {
    {
      const Stage stage({.port = 0});
      QVERIFY(stage.opened(1));
      part<QCheckBox>(stage.settings(), "serverOn").click();
      QVERIFY(stage.listens());
      QVERIFY(stage.opened(4));
      const std::uint16_t port = stage.port();
      QCOMPARE(status_of(ask(port, post(chat_path, question("", 2)))), 200);
      QVERIFY(close(*stage.desktop));
    }
    app::Desktop again({});
    again.start();
    QVERIFY(again.settings().server.on);
    QVERIFY(again.server().state().state != ServerState::off);
    QVERIFY(close(again));
  }

  void switchedOffItEndsAnswers() {
    const Stage stage({.on = true, .port = 0}, demo_, 1024);
    QVERIFY(stage.listens() && stage.opened(4));
    const std::uint16_t port = stage.port();
    RawClient client(port);
    QVERIFY(client.send(post(chat_path, question("", 900, true))));
    QVERIFY(client.read_until("data: ").find("data: ") != std::string::npos);
    part<QCheckBox>(stage.settings(), "serverOn").click();
    QVERIFY(stage.server().state() == ui::ServerStateView{});
    client.read_all();
    QVERIFY(client.was_closed());
    QTRY_VERIFY(!RawClient(port).is_connected());
    QVERIFY(stage.chat().model_loaded());  // the window's model stays
    QVERIFY(close(*stage.desktop));
  }

  // What each says does not depend on the other.
  void theWindowAndAProgramAreAnsweredAtOnce() {
    const Stage stage({.on = true, .port = 0}, demo_, 1024,
                      [](app::Settings& settings) { settings.max_tokens = 900; });
    QVERIFY(stage.listens() && stage.opened(4));
    const std::string alone = answer_of(ask(stage.port(), post(chat_path, question("", 4))));
    Q_EMIT stage.desktop->window().sendRequested(QStringLiteral("Write a long story."));
    QVERIFY(QTest::qWaitFor(
        [&] { return stage.desktop->window().state() == ui::ChatWindow::State::generating; }, kLong));
    QSignalSpy texts(&stage.chat().worker(), &app::EngineWorker::textArrived);
    QSignalSpy finished(&stage.chat().worker(), &app::EngineWorker::finished);
    QVERIFY(texts.wait(kLong));
    const std::string beside = ask(stage.port(), post(chat_path, question("", 4)));
    QCOMPARE(answer_of(beside), alone);
    QTest::qWait(0);
    QCOMPARE(finished.count(), 0);  // the window's goes on
    Q_EMIT stage.desktop->window().stopRequested();
    QVERIFY(finished.count() == 1 || finished.wait(kLong));
    QVERIFY(close(*stage.desktop));
  }

  void requestsAreCounted() {
    const Stage stage({.on = true, .port = 0}, demo_, 1024);
    QVERIFY(stage.listens() && stage.opened(4));
    QVERIFY(!stage.requests().isVisible());
    {
      RawClient one(stage.port()), two(stage.port());
      for (RawClient* client : {&one, &two}) QVERIFY(client->send(post(chat_path, question("", 900, true))));
      QTRY_COMPARE(stage.requests().text(), QStringLiteral("2 requests"));
      QVERIFY(stage.requests().isVisible());
      QVERIFY2(stage.requests().toolTip().contains(stage.server().state().address),
               qPrintable(stage.requests().toolTip()));
      QVERIFY(
          part<QLabel>(stage.settings(), "serverRequests").text().startsWith(QStringLiteral("2 requests")));
      two.close();
      QTRY_COMPARE(stage.requests().text(), QStringLiteral("1 request"));
    }
    QTRY_VERIFY(!stage.requests().isVisible());
    QVERIFY(close(*stage.desktop));
  }

  void anotherModelInTheWindowEndsAProgramsAnswer() {
    const Stage stage({.on = true, .port = 0}, demo_, 1024);
    QVERIFY(stage.listens() && stage.opened(4));
    RawClient client(stage.port());
    QVERIFY(client.send(post(chat_path, question("demo", 900, true))));
    QVERIFY(client.read_until("data: ").find("data: ") != std::string::npos);
    stage.chat().open_model(QString::fromStdString(tests::golden("chat").string()));
    const std::string all = client.read_all();
    QVERIFY2(all.find("demo was closed or replaced by another model") != std::string::npos, all.c_str());
    const std::string next = ask(stage.port(), post(chat_path, question("", 2)));
    QVERIFY2(status_of(next) == 200, next.c_str());
    QCOMPARE(Json::parse(body_of(next))["model"].get<std::string>(), std::string("chat"));
    const std::string gone = ask(stage.port(), post(chat_path, question("demo", 2)));
    QVERIFY2(status_of(gone) == 404, gone.c_str());
    QTRY_VERIFY_WITH_TIMEOUT(stage.chat().model_loaded(), kLong);
    QVERIFY(close(*stage.desktop));
  }

  void modelsOfTheLibraryAreLoadedByName() {
    std::filesystem::create_directories(folder_->path() / "models");
    std::filesystem::copy(tests::golden("chat"), folder_->path() / "models" / "small",
                          std::filesystem::copy_options::recursive);
    const Stage stage({.on = true, .port = 0, .slots = 2});
    QVERIFY(stage.listens() && stage.opened(3));
    const std::string answer = ask(stage.port(), post(chat_path, question("small", 3)));
    QVERIFY2(status_of(answer) == 200, answer.c_str());
    QCOMPARE(Json::parse(body_of(answer))["model"].get<std::string>(), std::string("small"));
    QVERIFY(stage.chat().model_loaded());
    const Json running = Json::parse(body_of(ask(stage.port(), get("/api/ps"))));
    QCOMPARE(running["models"].size(), std::size_t{2});
    QVERIFY(close(*stage.desktop));
  }

  void whoHasThePortIsSaid() {
    tests::FakeModels models;
    auto other = app::Service::start(
        {.version = "7.5", .plan_json = [](const LoadPlan&) { return std::string(); }}, models);
    FOVEA_VERIFY(other);
    const std::uint16_t port = (*other)->port();
    const Stage stage({.on = true, .port = port});
    QVERIFY(QTest::qWaitFor([&] { return stage.server().state().state == ServerState::failed; }, kLong));
    const QString sentence = stage.server().state().sentence;
    for (const QString& told :
         {QStringLiteral("Another Fovea (version 7.5"), QString::number(::getpid()), QString::number(port)})
      QVERIFY2(sentence.contains(told), qPrintable(sentence));
    QVERIFY(stage.desktop->window().error_bar().message().contains(sentence));
    QVERIFY(stage.opened(4));  // the window itself works
    ui::SettingsPage& dialog = stage.settings();
    QCOMPARE(part<QLabel>(dialog, "serverState").text(), sentence);
    auto& retry = part<QPushButton>(dialog, "serverRetry");
    QVERIFY(retry.isVisible());
    other->reset();
    retry.click();
    QVERIFY(stage.listens());
    QCOMPARE(stage.port(), port);
    QVERIFY(!retry.isVisible());
    QVERIFY(close(*stage.desktop));
  }

  void anotherProgramHasThePort() {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    QVERIFY(::bind(socket, reinterpret_cast<sockaddr*>(&address), size) == 0 && ::listen(socket, 1) == 0);
    QVERIFY(::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    const Stage stage({.on = true, .port = ntohs(address.sin_port)});
    QVERIFY(QTest::qWaitFor([&] { return stage.server().state().state == ServerState::failed; }, kLong));
    ::close(socket);
    QVERIFY2(stage.server().state().sentence.contains(QStringLiteral("used by another program")),
             qPrintable(stage.server().state().sentence));
    QVERIFY(close(*stage.desktop));
  }

  void otherComputersNeedTheKey() {
    const Stage stage({.on = true, .port = 0, .for_other_computers = true});
    QVERIFY(stage.listens());
    const std::string key = stage.server().state().key.toStdString();
    QCOMPARE(stage.keyring->entries.begin()->second.toStdString(), key);
    QVERIFY(!std::filesystem::exists(app::config_folder() / "server.key"));
    const auto asked = [&](const std::string& fields) {
      return status_of(ask(stage.port(), get("/v1/models", fields)));
    };
    QCOMPARE(asked({}), 401);
    QCOMPARE(asked("Authorization: Bearer " + key.substr(1) + "x\r\n"), 401);
    QCOMPARE(asked("Authorization: Bearer " + key + "\r\n"), 200);
    QCOMPARE(status_of(ask(stage.port(), get("/health"))), 200);
    ui::SettingsPage& dialog = stage.settings();
    const auto& field = part<QLineEdit>(dialog, "serverKey");
    QVERIFY(field.isVisible());
    QCOMPARE(field.echoMode(), QLineEdit::Password);
    part<QPushButton>(dialog, "showKey").click();
    QCOMPARE(field.echoMode(), QLineEdit::Normal);
    part<QPushButton>(dialog, "copyKey").click();
    QCOMPARE(QGuiApplication::clipboard()->text().toStdString(), key);
    part<QPushButton>(dialog, "newKey").click();
    QVERIFY(stage.listens());
    const std::string next = stage.server().state().key.toStdString();
    QVERIFY(next != key && field.text().toStdString() == next);
    QCOMPARE(asked("x-api-key: " + key + "\r\n"), 401);
    QCOMPARE(asked("x-api-key: " + next + "\r\n"), 200);
    QVERIFY(close(*stage.desktop));
  }

  void withoutAKeyringTheKeyIsInAFile() {
    const auto file = app::config_folder() / "server.key";
    std::string first;
    for (int start = 0; start < 2; ++start) {
      const Stage stage({.on = true, .port = 0, .for_other_computers = true}, tests::golden("chat"), 512, {},
                        errors::keyring_absent());
      QVERIFY(stage.listens());
      const std::string key = stage.server().state().key.toStdString();
      QCOMPARE(app::read_key(file).value(), key);  // which only its owner reads
      QVERIFY(stage.server().state().key_place.contains(QString::fromStdString(file.string())));
      QCOMPARE(status_of(ask(stage.port(), get("/v1/models", "x-api-key: " + key + "\r\n"))), 200);
      if (start == 0) first = key;
      QCOMPARE(key, first);
      QVERIFY(close(*stage.desktop));
    }
  }

  void aLockedKeyringIsSaid() {
    const Stage stage({.on = true, .port = 0, .for_other_computers = true}, tests::golden("chat"), 512, {},
                      errors::keyring_denied());
    QVERIFY(QTest::qWaitFor([&] { return stage.server().state().state == ServerState::failed; }, kLong));
    QVERIFY2(stage.server().state().sentence.contains(QStringLiteral("keyring")),
             qPrintable(stage.server().state().sentence));
    QVERIFY(!std::filesystem::exists(app::config_folder() / "server.key"));
    stage.keyring->trouble.reset();
    stage.server().retry();
    QVERIFY(stage.listens());
    QVERIFY(close(*stage.desktop));
  }

  // Offline, Fovea asks nobody; who asks Fovea is answered.
  void itDoesNotDependOnTheOfflineSwitch() {
    const Stage stage({.on = true, .port = 0}, tests::golden("chat"), 512,
                      [](app::Settings& settings) { settings.offline = true; });
    QVERIFY(stage.listens());
    QCOMPARE(status_of(ask(stage.port(), post(chat_path, question("", 2)))), 200);
    ui::SettingsPage& dialog = stage.settings();
    QVERIFY(part<QCheckBox>(dialog, "offline").isChecked() &&
            part<QCheckBox>(dialog, "serverOn").isChecked());
    part<QCheckBox>(dialog, "offline").click();
    QVERIFY(stage.server().state().state == ServerState::listening);
    QVERIFY(close(*stage.desktop));
  }

 private:
  std::filesystem::path demo_;
  std::unique_ptr<tests::DataFolder> folder_;
};

FOVEA_TEST(ServerSwitchTest)
#include "server_switch_test.moc"
