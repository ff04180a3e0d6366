// fovea serve itself: its line, its port, its key, and a real model behind it.
#include <QRegularExpression>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/server/engine_models.h"
#include "app/server/errors.h"
#include "tests/support/test.h"

#include "../process.h"
#include "tests_server.h"

using namespace fovea;
using namespace fovea::tests;
using namespace std::chrono_literals;

namespace {

// The tiny chat model, as often as a test wants it.
struct Library {
  TemporaryFolder folder;
  std::unique_ptr<app::EngineModels> models;

  explicit Library(std::chrono::seconds idle = 600s, const std::vector<std::string>& names = {"a", "b"},
                   std::int64_t device_bytes = 0) {
    for (const std::string& name : names)
      std::filesystem::copy(golden("chat"), folder.path() / name, std::filesystem::copy_options::recursive);
    auto opened = app::EngineModels::open({.folder = folder.path(),
                                           .idle_unload = idle,
                                           .device_bytes = device_bytes,
                                           .options = [](const std::string& model) {
                                             return Result<LoadOptions>(
                                                 LoadOptions{.model = model, .context = 256, .threads = 1});
                                           }});
    if (!opened) qFatal("%s", opened.error().message().c_str());
    models = *std::move(opened);
  }
  std::size_t loaded() const {
    return static_cast<std::size_t>(std::ranges::count(models->list(), true, &app::ServedEntry::is_loaded));
  }
};

Result<GenerateResult> answer(app::ServedModel& model, std::int32_t tokens, std::stop_token stop = {}) {
  GenerateRequest request;
  request.messages = {{.role = "user", .content = "Hello"}};
  request.sampling.temperature = 0;
  request.max_tokens = tokens;
  const std::uint64_t seeds[] = {1};
  auto answers = model.generate(request, seeds, {}, std::move(stop));
  if (!answers) return std::unexpected(answers.error());
  return answers->front();
}

}  // namespace

class ServeTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void saysWhereItListens() {
    const Outcome outcome = run({"serve", "--port", "0"}, {.interrupt_after = 1});
    QCOMPARE(outcome.code, 0);
    static const QRegularExpression line("^Fovea listens at http://127\\.0\\.0\\.1:[1-9][0-9]*\n$");
    QVERIFY2(line.match(QString::fromStdString(outcome.out)).hasMatch(), outcome.out.c_str());
    const Outcome json = run({"serve", "--port", "0", "--json"}, {.interrupt_after = 1});
    QVERIFY(nlohmann::json::parse(json.out)["port"].get<int>() > 0);
  }

  void saysWhoHasThePort() {
    const Server server;
    const std::string port = std::to_string(server.port());
    const Outcome outcome = run({"serve", "--port", port});
    QCOMPARE(outcome.code, 1);
    QCOMPARE(outcome.err, "fovea serve: 127.0.0.1, port " + port +
                              ": Fovea 0 is already listening there, as process " +
                              std::to_string(::getpid()) +
                              ". Use that one, stop it, or choose another port with --port\n");
  }

  void saysThatAnotherProgramHasThePort() {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    QVERIFY(::bind(socket, reinterpret_cast<sockaddr*>(&address), size) == 0 && ::listen(socket, 1) == 0);
    QVERIFY(::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    const Outcome outcome = run({"serve", "--port", std::to_string(ntohs(address.sin_port))});
    ::close(socket);
    QCOMPARE(outcome.code, 1);
    QVERIFY2(outcome.err.find("another program is listening there") != std::string::npos,
             outcome.err.c_str());
  }

  void refuses_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<int>("code");
    QTest::addColumn<QString>("says");
    QTest::newRow("no key") << QStringList{"--host", "0.0.0.0"} << 1
                            << "--host 0.0.0.0: anyone who reaches this address";
    QTest::newRow("no key file") << QStringList{"--api-key-file", "/nonexistent/key"} << 1
                                 << "/nonexistent/key: cannot be opened";
    QTest::newRow("not a web address")
        << QStringList{"--host", "localhost.example"} << 1 << "anyone who reaches";
    QTest::newRow("no model") << QStringList{"nobody"} << 1
                              << "nobody: there is no such file, folder or name";
    QTest::newRow("no port") << QStringList{"--port", "65536"} << 2 << "65536";
    QTest::newRow("no time") << QStringList{"--idle-unload", "soon"} << 2
                             << "soon is not a time such as 10min";
    QTest::newRow("no slots") << QStringList{"--slots", "0"} << 2 << "0 is not a number from 1 to 8";
  }
  void refuses() {
    QFETCH(QStringList, arguments);
    QFETCH(int, code);
    QFETCH(QString, says);
    std::vector<std::string> all{"serve", "--port", "0"};
    for (const QString& argument : arguments) all.push_back(argument.toStdString());
    const Outcome outcome = run(all);
    QCOMPARE(outcome.code, code);
    QVERIFY2(QString::fromStdString(outcome.err).contains(says), outcome.err.c_str());
    QVERIFY(outcome.out.empty());
  }

  void asksForTheKey() {
    const TemporaryFolder folder;
    const auto file = folder.path() / "key";
    std::ofstream(file) << "0123456789abcdef0123\n";
    std::filesystem::permissions(file, std::filesystem::perms::owner_read);
    const Outcome outcome =
        run({"serve", "--port", "0", "--host", "0.0.0.0", "--api-key-file", file}, {.interrupt_after = 1});
    QCOMPARE(outcome.code, 0);
    QVERIFY(outcome.out.starts_with("Fovea listens at http://0.0.0.0:"));
  }

  // Nothing of what is asked or answered, whatever is logged.
  void logsNoPrompt() {
    const TemporaryFolder folder;
    std::filesystem::create_directory(folder.path() / "models");
    std::filesystem::copy(golden("chat"), folder.path() / "models" / "tiny",
                          std::filesystem::copy_options::recursive);
    Terminal server({"serve", "tiny", "--port", "0", "--context", "256", "--verbose"},
                    {{"FOVEA_DATA", folder.path()}});
    QVERIFY(server.shows("listens at http://127.0.0.1:"));
    QVERIFY(server.shows("\n"));
    static const QRegularExpression address("127\\.0\\.0\\.1:([0-9]+)");
    const auto port = static_cast<std::uint16_t>(
        address.match(QString::fromStdString(server.screen())).captured(1).toInt());
    const std::string answer =
        ask(port, post("/v1/chat/completions",
                       "{\"max_tokens\":4,\"messages\":[{\"role\":\"user\",\"content\":\"marzipan\"}]}"));
    QCOMPARE(status_of(answer), 200);
    const std::string wrong =
        ask(port, post("/v1/chat/completions", "{\"messages\":[{\"role\":\"marzipan\"}]}"));
    QCOMPARE(status_of(wrong), 400);
    QVERIFY(server.shows("tokens read"));
    server.send(SIGINT);
    QCOMPARE(server.end(), 0);
    QVERIFY2(server.screen().find("marzipan") == std::string::npos, server.screen().c_str());
  }

  void loadsWhatIsAskedFor() {
    const Library library;
    QCOMPARE(library.loaded(), std::size_t{0});
    QVERIFY(library.models->loaded() == nullptr);
    const auto a = library.models->acquire("a", {});
    FOVEA_VERIFY(a);
    FOVEA_VERIFY(answer(**a, 3));
    FOVEA_VERIFY(library.models->acquire("b:latest", {}));
    QCOMPARE(library.loaded(), std::size_t{2});
    QCOMPARE(library.models->loaded()->name(), "b");
    QVERIFY(*library.models->acquire("a", {}) == *a);
    QCOMPARE((*library.models->acquire("", {}))->name(), "a");
    const auto none = library.models->acquire("c", {});
    QCOMPARE(none.error().kind, ErrorKind::not_found);
    QVERIFY(none.error().message().find("there are a, b") != std::string::npos);
    QCOMPARE(library.models->inspect("a")->architecture, (*a)->info().architecture);
    FOVEA_VERIFY(library.models->plan("b"));
  }

  void unloadsWhatNobodyAsksFor() {
    const Library library(1s);
    FOVEA_VERIFY(library.models->acquire("a", {}));
    const auto held = library.models->acquire("b", {});
    FOVEA_VERIFY(held);
    QTRY_COMPARE(library.loaded(), std::size_t{1});
    QCOMPARE(library.models->loaded()->name(), "b");  // somebody asks it
  }

  void keepsAsLongAsWasSaid() {
    const Library library(1s);
    FOVEA_VERIFY(library.models->acquire("a", {}));
    library.models->keep("a", 3600s);
    FOVEA_VERIFY(library.models->acquire("b", {}));
    QTRY_COMPARE(library.loaded(), std::size_t{1});
    QCOMPARE(library.models->loaded()->name(), "a");
    library.models->keep("a", 0s);
    QTRY_COMPARE(library.loaded(), std::size_t{0});
  }

  // With room for one and a half.
  void givesTheMemoryToWhoIsAsked() {
    const std::int64_t one = [] {
      const Library library;
      return library.models->plan("a")->plan.total_bytes;
    }();
    QVERIFY(one > 0);
    const Library library(600s, {"a", "b"}, one + one / 2);
    auto a = library.models->acquire("a", {});
    FOVEA_VERIFY(a);
    const auto busy = library.models->acquire("b", {});
    QVERIFY(!busy.has_value());
    QCOMPARE(busy.error().kind, ErrorKind::memory);
    const std::string says = busy.error().message();
    QVERIFY2(says.find("b needs " + size_text(one)) != std::string::npos, says.c_str());
    QVERIFY2(says.find(size_text(one / 2) + " is available beside a") != std::string::npos, says.c_str());
    a = std::unexpected(Error{});
    FOVEA_VERIFY(library.models->acquire("b", {}));
    QCOMPARE(library.loaded(), std::size_t{1});
    QCOMPARE(library.models->loaded()->name(), "b");
  }

  void saysWhatAModelWouldNeed() {
    const Library library(600s, {"a"}, 1000);
    const auto none = library.models->acquire("a", {});
    QVERIFY(!none.has_value());
    QVERIFY(none.error().is(errors::server_never_memory.code));
  }

  // Calls from several threads at once, of which some are stopped, answer as one alone.
  void answersSeveral() {
    const Library library;
    const auto model = library.models->acquire("a", {});
    FOVEA_VERIFY(model);
    const auto alone = answer(**model, 12);
    FOVEA_VERIFY(alone);
    std::vector<std::string> texts(8);
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < texts.size(); ++i)
        threads.emplace_back([&, i] {
          std::stop_source stop;
          if (i % 4 == 3) stop.request_stop();
          const auto result = answer(**model, 12, stop.get_token());
          texts[i] = result ? result->text : result.error().message();
        });
    }
    for (std::size_t i = 0; i < texts.size(); ++i)
      if (i % 4 != 3) QCOMPARE(texts[i], alone->text);
  }
};

FOVEA_TEST(ServeTest)
#include "serve_test.moc"
