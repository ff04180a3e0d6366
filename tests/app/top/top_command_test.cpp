// fovea top as its users run it: in a terminal, beside a server of the test's own.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <poll.h>
#include <pty.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "app/server/experts_door.h"
#include "tests/app/server/tests_server.h"
#include "tests/app/server/watched.h"
#include "tests/support/test.h"

#include "../process.h"
#include "screen_reader.h"

using namespace fovea;
using namespace fovea::app;
using namespace fovea::tests;

namespace {

constexpr auto key = "0123456789abcdefXYZ";

// A server whose model does what the sample does.
struct WatchedServer {
  FakeModels models;
  std::unique_ptr<Service> service;

  explicit WatchedServer(std::uint16_t port = 0, AccessRules access = {}) {
    models.model->shown = snapshot_sample(400);
    models.model->plan().options.precision.policy = PolicyKind::fovea;
    models.model->plan().plan.parts = watched_sample().memory;
    models.model->layers = {{.layer = 0, .experts = 6},
                            {.layer = 1, .experts = 6},
                            {.layer = 2, .experts = 6},
                            {.layer = 5, .experts = 4}};
    auto started = Service::start({.port = port,
                                   .slots = 2,
                                   .waiting = 8,
                                   .access = std::move(access),
                                   .version = "0",
                                   .plan_json = [](const LoadPlan&) { return std::string("{}"); }},
                                  models);
    if (started) service = *std::move(started);
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(service->port()); }
};

// The program on a terminal whose screen is read.
class TopTerminal {
 public:
  TopTerminal(std::vector<std::string> arguments, std::map<std::string, std::string> environment = {},
              int rows = 24, int columns = 80)
      : terminal_(with_top(std::move(arguments)), with_colours(std::move(environment))),
        screen_(rows, columns) {
    if (rows != 24 || columns != 80) terminal_.resize(rows, columns);
  }

  bool shows(const std::string& part) {
    return waits_for([&] { return screen_.shows(part); });
  }
  bool waits_for(const std::function<bool()>& is_so) {
    for (int i = 0; i < 600 && !is_so(); ++i) more();
    return is_so();
  }
  void resize(int rows, int columns) {
    more();
    screen_.resize(rows, columns);
    terminal_.resize(rows, columns);
  }
  int end() {
    const int code = terminal_.end();
    more();
    return code;
  }
  // The shell has its screen and its keys again. Not read further: behind its end there is no terminal to
  // ask.
  bool is_given_back() {
    feed();
    if (!waits_for([&] { return !screen_.is_other_screen() && screen_.has_cursor(); })) return false;
    for (int i = 0; i < 600 && !terminal_.is_as_shells_expect(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return terminal_.is_as_shells_expect();
  }
  Terminal& terminal() { return terminal_; }
  const ScreenReader& screen() const { return screen_; }

 private:
  static std::vector<std::string> with_top(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "top");
    return arguments;
  }
  static std::map<std::string, std::string> with_colours(std::map<std::string, std::string> environment) {
    environment.emplace("TERM", "xterm-256color");
    environment.emplace("COLORTERM", "");
    environment.emplace("NO_COLOR", "");
    return environment;
  }
  void more() {
    terminal_.read_more(100);
    feed();
  }
  void feed() {
    const std::string& all = terminal_.screen();
    screen_.read(std::string_view(all).substr(read_));
    read_ = all.size();
  }

  Terminal terminal_;
  ScreenReader screen_;
  std::size_t read_ = 0;
};

// A shell on a terminal, which stays when the program in it ends: else what it wrote last may go with it.
class ShellTerminal {
 public:
  explicit ShellTerminal(const std::string& script) {
    winsize size{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
    child_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
    if (child_ != 0) return;
    ::execl("/bin/sh", "sh", "-c", script.c_str(), nullptr);
    _exit(127);
  }
  ~ShellTerminal() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    ::close(terminal_);
  }
  // Behind what was found before.
  bool shows(std::string_view part) {
    pollfd wait{terminal_, POLLIN, 0};
    std::size_t at = 0;
    while ((at = shown_.find(part)) == std::string::npos) {
      char bytes[4096];
      const ssize_t got = ::poll(&wait, 1, kLong) > 0 ? ::read(terminal_, bytes, sizeof bytes) : 0;
      if (got <= 0) return false;
      shown_.append(bytes, static_cast<std::size_t>(got));
    }
    shown_.erase(0, at + part.size());
    return true;
  }

 private:
  pid_t child_ = -1;
  int terminal_ = -1;
  std::string shown_;
};

// Answers each connection with bytes that a test wrote, and closes it.
class RawServer {
 public:
  explicit RawServer(std::string answer) : answer_(std::move(answer)) {
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof here;
    if (::bind(socket_, reinterpret_cast<sockaddr*>(&here), size) == 0 && ::listen(socket_, 4) == 0 &&
        ::getsockname(socket_, reinterpret_cast<sockaddr*>(&here), &size) == 0)
      port_ = ntohs(here.sin_port);
    thread_ = std::thread([this] {
      for (int client = 0; (client = ::accept(socket_, nullptr, nullptr)) >= 0; ::close(client)) {
        char request[2048];
        [[maybe_unused]] const ssize_t got = ::recv(client, request, sizeof request, 0);
        [[maybe_unused]] const ssize_t sent = ::send(client, answer_.data(), answer_.size(), MSG_NOSIGNAL);
      }
    });
  }
  ~RawServer() {
    ::shutdown(socket_, SHUT_RDWR);
    thread_.join();
    ::close(socket_);
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  std::string answer_;
  int socket_ = -1;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace

class TopCommandTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void showsWhatTheServerTells_data() {
    QTest::addColumn<int>("rows");
    QTest::addColumn<int>("columns");
    QTest::newRow("80 x 24") << 24 << 80;
    QTest::newRow("200 x 60") << 60 << 200;
  }
  void showsWhatTheServerTells() {
    QFETCH(int, rows);
    QFETCH(int, columns);
    const WatchedServer server;
    const std::string address = server.address();
    TopTerminal top({address}, {}, rows, columns);
    QVERIFY(top.shows("97 % of the model's quality kept"));
    QVERIFY(top.waits_for([&] { return top.screen().row(rows - 1).ends_with("h help  q quit"); }));
    for (const char* const part :
         {"tiny", address.c_str(), "4 layers", "▀", "250 MiB of 300 MiB", "24.2 tok/s"})
      QVERIFY2(top.screen().shows(part), (std::string(part) + " is not in\n" + top.screen().text()).c_str());
    QVERIFY(top.screen().is_other_screen() && !top.screen().has_cursor() && top.screen().has_colours());
    QVERIFY2(top.screen().unknown().empty(), top.screen().unknown().c_str());
    QVERIFY(!top.terminal().is_as_shells_expect());
    top.terminal().type("q");
    QVERIFY(top.is_given_back());
    QCOMPARE(top.end(), 0);
  }

  void keysChangeWhatIsShown() {
    const WatchedServer server;
    TopTerminal top({"http://" + server.address() + "/"});
    QVERIFY(top.shows("hottest first"));
    top.terminal().type("s");
    QVERIFY(top.shows("by their numbers"));
    top.terminal().type("l");
    QVERIFY(top.shows("layer 0, 6 experts"));
    top.terminal().type("\033[B");
    QVERIFY(top.shows("layer 1, 6 experts"));
    top.terminal().type("jjjj");  // there are four
    QVERIFY(top.shows("layer 5, 4 experts"));
    top.terminal().type("d");
    QVERIFY(top.shows("75 % of the uses"));
    top.terminal().type("?");
    QVERIFY(top.shows("another layer"));
    top.terminal().type(" ");
    QVERIFY(top.shows("frozen"));
    top.terminal().type("\033");  // back to the map of all, and out
    QVERIFY(top.shows("layer 5, 4 experts"));
    top.terminal().type("\033");
    QVERIFY(top.shows("4 layers"));
    top.terminal().type("\033");
    QCOMPARE(top.end(), 0);
  }

  void withoutColours() {
    const WatchedServer server;
    TopTerminal top({server.address()}, {{"NO_COLOR", "1"}, {"COLORTERM", "truecolor"}});
    QVERIFY(top.shows("88888888888"));
    QVERIFY(!top.screen().has_colours());
    QVERIFY(!top.screen().shows("▀"));
    top.terminal().type("q");
    QCOMPARE(top.end(), 0);
  }

  void followsTheTerminalsSize() {
    const WatchedServer server;
    TopTerminal top({server.address()});
    QVERIFY(top.shows("h help  q quit"));
    top.resize(50, 132);
    QVERIFY(top.waits_for([&] { return top.screen().row(49).ends_with("h help  q quit"); }));
    top.resize(4, 20);
    QVERIFY(top.waits_for([&] { return top.screen().row(1).find("97 %") != std::string::npos; }));
    top.resize(24, 80);
    QVERIFY(top.waits_for([&] { return top.screen().row(23).ends_with("h help  q quit"); }));
    top.terminal().type("q");
    QCOMPARE(top.end(), 0);
  }

  // It comes, goes and comes back. The program is started first: it would else hold the server's port with
  // what it inherits of this process.
  void waitsForAServer() {
    std::uint16_t port = 0;
    {
      const WatchedServer server;
      port = server.service->port();
    }
    TopTerminal top({std::to_string(port)});
    QVERIFY(top.shows("Waiting for it"));
    std::optional<WatchedServer> server(std::in_place, port);
    QVERIFY2(server->service, "the port is somebody else's now");
    QVERIFY(top.shows("97 %"));
    server.reset();
    QVERIFY(top.shows("It has ended. Waiting for it to come back"));
    QVERIFY(top.screen().shows("97 %"));  // what was last stays
    server.emplace(port);
    QVERIFY2(server->service, "the port is somebody else's now");
    QVERIFY(top.waits_for([&] { return !top.screen().shows("Waiting"); }));
    top.terminal().send(SIGINT);
    QVERIFY(top.is_given_back());
    QCOMPARE(top.end(), 0);
  }

  void aSignalGivesTheTerminalBack_data() {
    QTest::addColumn<int>("signal");
    QTest::newRow("SIGTERM") << SIGTERM;
    QTest::newRow("SIGHUP") << SIGHUP;
  }
  void aSignalGivesTheTerminalBack() {
    QFETCH(int, signal);
    const WatchedServer server;
    const TemporaryFolder folder;
    const std::string number = folder.path() / "process";
    ShellTerminal shell("export TERM=xterm-256color; sh -c 'echo $$ > " + number +
                        "; exec " FOVEA_BINARY_DIR "/fovea top " + server.address() +
                        "'; echo \"ended by $?\"; stty -a; sleep 600");
    QVERIFY(shell.shows("h help  q quit"));
    QCOMPARE(::kill(std::stoi(content(number)), signal), 0);
    QVERIFY(shell.shows("\033[?25h\033[?1049l"));
    QVERIFY(shell.shows("ended by " + std::to_string(128 + signal)));
    QVERIFY(shell.shows("isig icanon iexten echo"));
  }

  void badAnswersEndIt_data() {
    QTest::addColumn<QByteArray>("answer");
    QTest::addColumn<QByteArray>("said");
    const auto events = [](const char* data) {
      return QByteArray("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: ") + data + "\n\n";
    };
    QTest::newRow("no HTTP") << QByteArray("220 smtp.example ESMTP\r\n")
                             << QByteArray("does not speak Fovea's protocol");
    QTest::newRow("a page") << QByteArray("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>")
                            << QByteArray("does not speak Fovea's protocol");
    QTest::newRow("another server") << QByteArray("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
                                    << QByteArray("not a Fovea that shows its experts");
    QTest::newRow("a problem") << QByteArray("HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n")
                               << QByteArray("status 500");
    QTest::newRow("no JSON") << events("{") << QByteArray("not JSON");
    QTest::newRow("no layers") << events("{}") << QByteArray("layers is not what it should be");
    QTest::newRow("not a number") << events(R"({"layers": [], "tokens": "many"})")
                                  << QByteArray("tokens is not what it should be");
  }
  void badAnswersEndIt() {
    QFETCH(QByteArray, answer);
    QFETCH(QByteArray, said);
    const RawServer server(answer.toStdString());
    TopTerminal top({server.address()});
    QVERIFY2(top.terminal().shows(said.toStdString()), top.terminal().screen().c_str());
    QVERIFY(top.is_given_back());
    QCOMPARE(top.end(), 1);
    const Outcome once = run({"top", server.address(), "--json"});
    QCOMPARE(once.code, 1);
    QVERIFY2(once.err.find(said.toStdString()) != std::string::npos, once.err.c_str());
    QCOMPARE(std::ranges::count(once.err, '\n'), 1);
  }

  void withoutATerminalItIsOneMoment() {
    const WatchedServer server;
    const Outcome text = run({"top", server.address()});
    QCOMPARE(text.code, 0);
    for (const char* const part : {"97 % of the model's quality kept", "4 layers", "8 bits", "24.2 tok/s"})
      QVERIFY2(text.out.find(part) != std::string::npos, text.out.c_str());
    QVERIFY(text.out.find('\033') == std::string::npos);
    const Outcome json = run({"top", server.address(), "--json"});
    QCOMPARE(json.code, 0);
    const auto object = nlohmann::json::parse(json.out, nullptr, false);
    QCOMPARE(object["model"], "tiny");
    QCOMPARE(object["layers"], 4);
    QCOMPARE(object["tok_per_s"], 24.25);
    const Outcome help = run({"top", "--help"});
    for (const auto& [name, value] : object.items())
      QVERIFY2(help.out.find(name) != std::string::npos, name.c_str());
    const Outcome nobody = run({"top", "127.0.0.1:1", "--once"});
    QCOMPARE(nobody.code, 1);
    QVERIFY2(nobody.err.find("there is no answer") != std::string::npos, nobody.err.c_str());
    const Outcome wrong = run({"top", "http://[::1"});
    QCOMPARE(wrong.code, 1);
    QVERIFY2(wrong.err.find("not a server address") != std::string::npos, wrong.err.c_str());
  }

  void aKeyIsAskedFor() {
    const WatchedServer server(0, {.key = key});
    const Outcome without = run({"top", server.address(), "--once"});
    QCOMPARE(without.code, 1);
    QVERIFY2(without.err.find("--api-key-file") != std::string::npos, without.err.c_str());
    const TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "key";
    std::ofstream(file) << key << '\n';
    ::chmod(file.c_str(), 0600);
    const Outcome with = run({"top", server.address(), "--once", "--api-key-file", file});
    QVERIFY2(with.code == 0 && with.out.find("97 %") != std::string::npos, with.err.c_str());
  }

  // By the door that a chat has, which is found without an address; this process stands for the chat.
  void findsTheChatBesideIt() {
    const TemporaryFolder folder;
    const std::map<std::string, std::string> environment{{"FOVEA_DATA", folder.path()}};
    const std::filesystem::path doors = folder.path() / "cache" / "run";
    std::atomic<std::int64_t> tokens = 400;
    auto door = ExpertsDoor::open(doors, watched_sample(), [&](Snapshot& snapshot, std::int64_t& questions) {
      questions = 1;
      snapshot = snapshot_sample(tokens += 10);
      return true;
    });
    FOVEA_VERIFY(door);
    TopTerminal top({}, environment);
    QVERIFY(top.shows("Fovea demo"));
    QVERIFY(top.shows("chat, process " + std::to_string(::getpid())));
    QVERIFY(top.shows("live"));
    const Outcome list = run({"top", "--list", "--json"}, {.environment = environment});
    const auto sources = nlohmann::json::parse(list.out, nullptr, false)["sources"];
    QVERIFY2(!sources.empty() && sources[0]["process"] == ::getpid(), list.out.c_str());
    const Outcome once = run({"top", sources[0]["address"].get<std::string>(), "--once"});
    QVERIFY2(once.out.find("Fovea demo") != std::string::npos, once.err.c_str());
    door->reset();
    QVERIFY(top.shows("aiting"));
    top.terminal().type("q");
    QCOMPARE(top.end(), 0);
  }

  // A chat and who watches it, both in terminals of their own.
  void besideAChat() {
    const std::string model = demo_model();
    if (model.empty()) QSKIP("the demo model is not there; ./scripts/demo builds it");
    const TemporaryFolder folder;
    const std::map<std::string, std::string> environment{{"FOVEA_DATA", folder.path()}};
    Terminal chat({"chat", model, "--seed", "1", "--max-tokens", "24", "--context", "512"}, environment);
    QVERIFY(chat.shows("> "));
    TopTerminal top({}, environment);
    QVERIFY(top.shows("chat, process"));
    chat.type("Tell me about the sea.\r");
    QVERIFY(top.shows("experts in each"));
    QVERIFY(top.shows("tok/s"));
    QVERIFY(chat.shows("tok/s"));
    chat.type("\x04");
    QCOMPARE(chat.end(), 0);
    QVERIFY(top.shows("aiting"));
    top.terminal().type("q");
    QCOMPARE(top.end(), 0);
  }
};

FOVEA_TEST(TopCommandTest)
#include "top_command_test.moc"
