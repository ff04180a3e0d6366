// What a client may do before it is told no, and what becomes of one that misbehaves.
#include <QRandomGenerator>
#include <thread>

#include "tests/support/test.h"

#include "tests_server.h"

using namespace fovea;
using namespace fovea::tests;
using namespace std::chrono_literals;

namespace {

const std::string chat_body = "{\"model\":\"tiny\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}";
const std::string stream_body =
    "{\"model\":\"tiny\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}";

std::string many_fields(std::size_t count) {
  std::string fields;
  for (std::size_t i = 0; i < count; ++i) fields += "X-" + std::to_string(i) + ": 1\r\n";
  return fields;
}

}  // namespace

class ServerLimitsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // What is sent, and the status that comes back.
  void refuses_data() {
    QTest::addColumn<QByteArray>("request");
    QTest::addColumn<int>("status");
    const auto row = [](const char* name, const std::string& request, int status) {
      QTest::newRow(name) << QByteArray::fromStdString(request) << status;
    };
    const std::string host = "Host: localhost\r\n";
    row("fine", get("/health"), 200);
    row("head of 2000 bytes", get("/health", "X: " + std::string(1800, 'a') + "\r\n"), 200);
    row("head too long", get("/health", "X: " + std::string(5000, 'a') + "\r\n"), 431);
    row("line without an end", std::string(5000, 'a'), 431);
    row("as many fields as may be", get("/health", many_fields(8)), 200);
    row("too many fields", get("/health", many_fields(20)), 431);
    row("path too long", get("/" + std::string(600, 'a')), 414);
    row("no request", "hello there\r\n\r\n", 400);
    row("another protocol", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400);
    row("body too long", "POST /v1/chat/completions HTTP/1.1\r\n" + host + "Content-Length: 2001\r\n\r\n",
        413);
    row("body of a lie",
        "POST /v1/chat/completions HTTP/1.1\r\n" + host + "Content-Length: 99999999999999999999999\r\n\r\n",
        400);
    row("body below zero", "POST /v1/chat/completions HTTP/1.1\r\n" + host + "Content-Length: -1\r\n\r\n",
        400);
    row("chunks too long",
        "POST /v1/chat/completions HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n800\r\n" +
            std::string(2048, 'a') + "\r\n",
        413);
    row("chunks of rubbish",
        "POST /v1/chat/completions HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", 400);
    row("length and chunks",
        "POST /v1/chat/completions HTTP/1.1\r\n" + host +
            "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        400);
    row("too deep", post("/v1/chat/completions", std::string(65, '[')), 400);
    row("no JSON", post("/v1/chat/completions", "{\"a\":"), 400);
    row("no UTF-8", post("/v1/chat/completions", "{\"a\":\"\xff\"}"), 400);
    row("not an object", post("/v1/chat/completions", "[1]"), 400);
    row("empty", post("/v1/chat/completions", ""), 400);
    row("no such path", get("/v2/models"), 404);
    row("another method", post("/health", "{}"), 405);
    row("a chunked body",
        "POST /tokenize HTTP/1.1\r\n" + host +
            "Transfer-Encoding: chunked\r\nConnection: "
            "close\r\n\r\n7\r\n{\"conte\r\n9\r\nnt\":\"Hi\"}\r\n0\r\n\r\n",
        200);
    row("HTTP/1.0", "GET /health HTTP/1.0\r\n\r\n", 200);
  }
  void refuses() {
    QFETCH(QByteArray, request);
    QFETCH(int, status);
    const Server server({.head_bytes = 4096, .fields = 10, .target_bytes = 500, .body_bytes = 2000});
    const std::string answer = server.ask(request.toStdString());
    QVERIFY2(status_of(answer) == status, answer.substr(0, 600).c_str());
    if (status >= 400) QVERIFY2(answer.find("\"message\"") != std::string::npos, answer.c_str());
    QVERIFY(server.is_well());
  }

  // Each protocol's own form, also of what is refused before its body is read.
  void refusesAsTheProtocolDoes() {
    const Server server({.body_bytes = 2000});
    const auto big = [](const std::string& path) {
      return "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2001\r\n\r\n";
    };
    QVERIFY(body_of(server.ask(big("/v1/messages")))
                .starts_with("{\"type\":\"error\",\"error\":{\"type\":\"request_too_large\""));
    QVERIFY(body_of(server.ask(big("/api/chat"))).starts_with("{\"error\":\""));
    QVERIFY(body_of(server.ask(big("/v1/completions"))).starts_with("{\"error\":{\"message\""));
  }

  void waitsOnlySoLong_data() {
    QTest::addColumn<QByteArray>("sent");
    QTest::addColumn<int>("status");
    QTest::newRow("half a head") << QByteArray("GET /health HTTP/1.1\r\nHos") << 408;
    QTest::newRow("half a body")
        << QByteArray("POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{\"c") << 408;
    QTest::newRow("nothing") << QByteArray() << 0;  // closed without a word
  }
  void waitsOnlySoLong() {
    QFETCH(QByteArray, sent);
    QFETCH(int, status);
    const Server server({.head_time = 200ms, .body_time = 200ms, .idle_time = 200ms});
    RawClient client(server.port());
    QVERIFY(client.send(sent.toStdString()));
    QCOMPARE(status_of(client.read_all()), status);
    QVERIFY(client.was_closed());
    QVERIFY(server.is_well());
  }

  void tooManyConnections() {
    const Server server({.connections = 3});
    std::vector<std::unique_ptr<RawClient>> clients;
    for (int i = 0; i < 3; ++i) {
      clients.push_back(std::make_unique<RawClient>(server.port()));
      QVERIFY(clients.back()->send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"));
      QCOMPARE(status_of(clients.back()->read_until("}}")), 200);
    }
    const std::string answer = server.ask(get("/health"));
    QCOMPARE(status_of(answer), 503);
    QVERIFY(answer.find("Retry-After: ") != std::string::npos);
    clients.pop_back();
    bool is_well = false;  // once: its own connection may not be gone when it is asked again
    QTRY_VERIFY(is_well = is_well || server.is_well());
  }

  void tooManyRequestsWait() {
    const Server server({}, 1, 1);
    server.models.model->answer = [](const GenerateRequest&, const TextSink&, const std::stop_token& stop) {
      return FakeModel::wait_for_stop(stop);
    };
    RawClient first(server.port()), second(server.port());
    QVERIFY(first.send(post("/v1/chat/completions", chat_body)));
    QTRY_COMPARE(server.models.model->running.load(), 1);
    QVERIFY(second.send(post("/v1/chat/completions", chat_body)));
    QTRY_VERIFY(server.ask(get("/metrics")).find("requests_deferred 1") != std::string::npos);
    const std::string answer = server.ask(post("/v1/chat/completions", chat_body));
    QCOMPARE(status_of(answer), 503);
    QVERIFY(answer.find("Retry-After: ") != std::string::npos);
    // Those that answer hold up none of what is quick.
    QVERIFY(server.is_well());
    QCOMPARE(server.models.model->asked().size(), std::size_t{1});
  }

  // The bodies of all requests together.
  void tooMuchAtOnce() {
    const Server server({.body_bytes = 1000, .bodies_bytes = 1500});
    RawClient first(server.port());
    QVERIFY(first.send("POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n\r\n{"));
    const std::string second = "POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n\r\n";
    const auto is_refused = [&] {
      RawClient client(server.port());
      client.send(second);
      client.send(std::string(900, ' '));
      return status_of(client.read_until("}}")) == 503;
    };
    bool was_refused = false, was_taken = false;
    QTRY_VERIFY(was_refused = was_refused || is_refused());
    first.close();
    QTRY_VERIFY(was_taken = was_taken || !is_refused());
  }

  void cancelsForAClientThatIsGone_data() {
    QTest::addColumn<bool>("stream");
    QTest::newRow("whole") << false;
    QTest::newRow("streamed") << true;
  }
  void cancelsForAClientThatIsGone() {
    QFETCH(bool, stream);
    const Server server;
    server.models.model->answer = [](const GenerateRequest&, const TextSink& sink,
                                     const std::stop_token& stop) {
      sink("word", {});
      return FakeModel::wait_for_stop(stop);
    };
    RawClient client(server.port());
    QVERIFY(client.send(post("/v1/chat/completions", stream ? stream_body : chat_body)));
    QTRY_COMPARE(server.models.model->running.load(), 1);
    if (stream) QVERIFY(client.read_until("word").find("word") != std::string::npos);
    QCOMPARE(server.models.model->cancelled.load(), 0);
    client.close();
    QTRY_COMPARE(server.models.model->cancelled.load(), 1);
    QTRY_COMPARE(server.models.model->running.load(), 0);
    QVERIFY(server.is_well());
  }

  // One that was gone before its turn is never answered.
  void doesNotAnswerWhoHasLeftTheQueue() {
    const Server server({}, 1, 4);
    std::atomic<bool> goes_on = false;
    server.models.model->answer = [&](const GenerateRequest&, const TextSink& sink, const std::stop_token&) {
      while (!goes_on) std::this_thread::sleep_for(1ms);
      sink("word", {});
      return Result<GenerateResult>(GenerateResult{});
    };
    RawClient first(server.port());
    QVERIFY(first.send(post("/v1/chat/completions", chat_body)));
    QTRY_COMPARE(server.models.model->running.load(), 1);
    {
      RawClient second(server.port());
      QVERIFY(second.send(post("/v1/chat/completions", chat_body)));
      QTRY_VERIFY(server.ask(get("/metrics")).find("requests_deferred 1") != std::string::npos);
    }
    // The first one, and who asks.
    QTRY_VERIFY(server.ask(get("/metrics")).find("fovea:connections 2") != std::string::npos);
    goes_on = true;
    QVERIFY(first.read_all().find("word") != std::string::npos);
    QTRY_VERIFY(server.ask(get("/metrics")).find("requests_deferred 0") != std::string::npos);
    QVERIFY(server.ask(post("/v1/chat/completions", chat_body)).find("word") != std::string::npos);
    QCOMPARE(server.models.model->asked().size(), std::size_t{2});
  }

  void dropsWhoReadsTooSlowly_data() {
    QTest::addColumn<int>("queued_bytes");
    QTest::addColumn<int>("write_ms");
    QTest::newRow("its queue is full") << (256 << 10) << 3'600'000;
    QTest::newRow("it takes nothing") << (1 << 30) << 300;
  }
  void dropsWhoReadsTooSlowly() {
    QFETCH(int, queued_bytes);
    QFETCH(int, write_ms);
    const Server server({.queued_bytes = static_cast<std::size_t>(queued_bytes),
                         .write_time = std::chrono::milliseconds(write_ms)});
    server.models.model->answer = [](const GenerateRequest&, const TextSink& sink,
                                     const std::stop_token& stop) {
      const std::string piece(65536, 'x');
      for (int i = 0; i < 400 && !stop.stop_requested(); ++i) sink(piece, {});
      return FakeModel::wait_for_stop(stop);
    };
    RawClient client(server.port(), 4096);
    QVERIFY(client.send(post("/v1/chat/completions", stream_body)));
    QTRY_COMPARE(server.models.model->cancelled.load(), 1);
    QVERIFY(server.is_well());
  }

  // A request behind another one on the same connection, sent before that was answered.
  void answersOneAfterTheOther() {
    const Server server;
    RawClient client(server.port());
    const std::string one = "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
                            std::to_string(chat_body.size()) + "\r\n\r\n" + chat_body;
    QVERIFY(client.send(one + one + get("/health")));
    const std::string all = client.read_all();
    QCOMPARE(QString::fromStdString(all).count("Hello there"), 2);
    QVERIFY(all.find("\"status\":\"ok\"") > all.rfind("Hello there"));
    QCOMPARE(server.models.model->asked().size(), std::size_t{2});
  }

  void saysToGoOnWhereAClientAsks() {
    const Server server;
    RawClient client(server.port());
    QVERIFY(client.send(
        "POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Length: 16\r\nExpect: 100-continue\r\n"
        "Connection: close\r\n\r\n"));
    QVERIFY(client.read_until("\r\n\r\n").starts_with("HTTP/1.1 100 Continue\r\n\r\n"));
    QVERIFY(client.send("{\"content\":\"Hi\"}"));
    QVERIFY(client.read_all().find("HTTP/1.1 200 OK") != std::string::npos);
  }

  void headHasNoBody() {
    const Server server;
    const std::string answer = server.ask("HEAD / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    QCOMPARE(status_of(answer), 200);
    QVERIFY(answer.ends_with("\r\n\r\n"));
  }

  // Half of the bytes at random, from all sides at once: nothing but a status or an end comes of it.
  void staysWellUnderRubbish() {
    const Server server({.head_time = 2000ms, .body_time = 2000ms, .idle_time = 2000ms});
    QRandomGenerator random(fovea::tests::seed());
    const std::string good = post("/v1/chat/completions", stream_body);
    for (int round = 0; round < fovea::tests::rounds(200); ++round) {
      std::string bytes = good.substr(0, random.bounded(static_cast<quint32>(good.size())));
      for (int n = static_cast<int>(random.bounded(4)); n > 0 && !bytes.empty(); --n)
        bytes[random.bounded(static_cast<quint32>(bytes.size()))] = static_cast<char>(random.bounded(256));
      RawClient client(server.port());
      client.send(bytes);
      if (random.bounded(2) == 0) client.close();
    }
    QVERIFY(server.is_well());
  }
};

FOVEA_TEST(ServerLimitsTest)
#include "limits_test.moc"
