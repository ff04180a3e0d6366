// The hub's API over a real connection: lists, pages, waiting, refusing, and where the token goes.
#include "app/download/hub_client.h"

#include <algorithm>
#include <map>

#include "app/network/errors.h"
#include "tests/support/environment.h"
#include "tests/support/test.h"

#include "hub_server.h"

using namespace fovea::app;
using fovea::tests::HttpQuestion;
using fovea::tests::HubServer;
using fovea::tests::Wire;

namespace {

// Single quotes stand for double ones: moc does not read raw strings well.
std::string quoted(std::string text) {
  std::ranges::replace(text, '\'', '"');
  return text;
}

struct Bench {
  HubServer server{{{"a-Q4_0.gguf", QByteArray(1000, 'a')}, {"config.json", "{}", false}}};
  Network network{NetworkSettings{}};

  HubSettings settings() const {
    HubSettings hub;
    hub.endpoint = QUrl(QString::fromStdString(server.endpoint()));
    hub.retry_base_ms = 2;
    hub.idle_timeout_ms = hub.answer_timeout_ms = fovea::tests::kLong;
    return hub;
  }
  HubResult<HubRepository> list(const HubSettings& hub, const std::string& name = "org/model") {
    HubClient client(network, hub);
    QObject context;
    std::optional<HubResult<HubRepository>> answer;
    client.list(name, "main", &context, [&](auto told) { answer = std::move(told); });
    if (!QTest::qWaitFor([&] { return answer.has_value(); }, fovea::tests::kLong))
      return std::unexpected(HubFailure{.error = fovea::errors::network_silent()});
    return *answer;
  }
};

std::string message(const HubResult<HubRepository>& answer) {
  return answer ? "it succeeded" : answer.error().error.message();
}

}  // namespace

class HubClientTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void aListing() {
    Bench bench;
    const auto found = bench.list(bench.settings());
    QVERIFY2(found.has_value(), message(found).c_str());
    QCOMPARE(found->commit, bench.server.commit());
    QCOMPARE(found->files.size(), 2U);
    QCOMPARE(found->files[0].sha256, HubServer::sha256(QByteArray(1000, 'a')));
    QCOMPARE(found->files[1].sha256, std::string());
  }

  void aSearch() {
    Bench bench;
    HubClient client(bench.network, bench.settings());
    std::optional<HubResult<std::vector<HubModel>>> answer;
    client.search(QStringLiteral("qwen & 30b?"), 5, this, [&](auto told) { answer = std::move(told); });
    QVERIFY(!answer);  // never from within the call
    QVERIFY(QTest::qWaitFor([&] { return answer.has_value(); }, fovea::tests::kLong));
    QCOMPARE(answer->value().at(0).id, std::string("org/model"));
    QVERIFY(
        bench.server.questions().at(0).target.starts_with("/api/models?search=qwen%20%26%2030b%3F&limit=5"));
  }

  void pagesAreFollowed() {
    Bench bench;
    const std::string oid(40, 'b');
    bench.server.set_fault([&](const HttpQuestion& question, Wire& wire, int) {
      const auto at = question.target.find("cursor=");
      if (!question.target.contains("/tree/")) return false;
      const int page = at == std::string::npos ? 0 : std::stoi(question.target.substr(at + 7));
      const std::string link = "Link: <" + bench.server.endpoint() +
                               "/api/models/org/model/tree/x?cursor=" + std::to_string(page + 1) +
                               ">; rel=\"next\"";
      const std::string body =
          "[{'type':'file','path':'f" + std::to_string(page) + "','size':1,'oid':'" + oid + "'}]";
      return wire.answer(200, {page < 3 ? link : "X: y"}, quoted(body));
    });
    const auto found = bench.list(bench.settings());
    QVERIFY2(found.has_value(), message(found).c_str());
    QCOMPARE(found->files.size(), 4U);
    QCOMPARE(found->files[3].path, std::string("f3"));
  }

  void faults_data() {
    QTest::addColumn<int>("status");
    QTest::addColumn<QByteArray>("field");
    QTest::addColumn<QByteArray>("body");
    QTest::addColumn<int>("times");
    QTest::addColumn<QByteArray>("says");  // empty: it passes
    const auto row = [](const char* name, int status, const char* field, const QByteArray& body, int times,
                        const char* says) {
      QTest::newRow(name) << status << QByteArray(field) << body << times << QByteArray(says);
    };
    row("500 twice", 500, "X: y", "", 2, "");
    row("429 with Retry-After", 429, "Retry-After: 0", "", 2, "");
    row("503 always", 503, "X: y", "", 1000, "status 503");
    row("an hour's wait is told", 429, "Retry-After: 3600", "", 1000, "too many requests");
    row("404", 404, "X-Error-Code: RepoNotFound", "", 1000, "does not have it");
    row("401", 401, "X: y", "", 1000, "wants a token");
    row("a page of a proxy", 200, "X: y", "<html>", 1000, "not JSON");
    row("garbage", 200, "X: y", QByteArray("\xFF\x00\x01[", 4), 1000, "not JSON");
    row("gzip that is none", 200, "Content-Encoding: gzip", "no gzip at all", 1000, "");
    row("endless", 200, "Content-Length: 99999999999", QByteArray(40 << 20, '['), 1000, "too long");
    row("slow", 200, "Content-Length: 100", "[", 1000, "does not answer");
    row("to another host without TLS", 302, "Location: ftp://x/y", "", 1000, "not a web address");
    row("in circles", 302, "Location: /api/models/org/model/revision/main", "", 1000, "redirects to nowhere");
  }
  void faults() {
    QFETCH(int, status);
    QFETCH(QByteArray, field);
    QFETCH(QByteArray, body);
    QFETCH(int, times);
    QFETCH(QByteArray, says);
    Bench bench;
    std::atomic<int> asked = 0;
    bench.server.set_fault([&](const HttpQuestion&, Wire& wire, int) {
      if (asked++ >= times) return false;
      wire.answer(status, {field.toStdString()}, body.toStdString());
      return true;
    });
    const std::string_view fault = QTest::currentDataTag();
    HubSettings hub = bench.settings();
    if (fault == "slow") hub.idle_timeout_ms = 50;
    const auto found = bench.list(hub);
    if (fault == "gzip that is none") {
      QVERIFY(!found);
    } else if (says.isEmpty()) {
      QVERIFY2(found.has_value(), message(found).c_str());
    } else {
      QVERIFY2(message(found).contains(says.constData()), message(found).c_str());
    }
  }

  // A hub that has moved: its redirect is followed, and the token stays behind.
  void aRedirectToAnotherOriginGetsNoToken() {
    Bench bench;
    HubServer other({{"b-Q8_0.gguf", QByteArray(10, 'b')}});
    bench.server.set_fault([&](const HttpQuestion& question, Wire& wire, int) {
      return wire.answer(307, {"Location: " + other.endpoint() + question.target}, "");
    });
    HubSettings hub = bench.settings();
    hub.token = QStringLiteral("hf_secret");
    const auto found = bench.list(hub);
    QVERIFY2(found.has_value(), message(found).c_str());
    QCOMPARE(found->files[0].path, std::string("b-Q8_0.gguf"));
    for (const HttpQuestion& question : bench.server.questions())
      QCOMPARE(question.field("authorization"), std::string("Bearer hf_secret"));
    for (const HttpQuestion& question : other.questions())
      QCOMPARE(question.field("authorization"), std::string());
    QVERIFY(!other.questions().empty());
  }

  void badNamesAreNotAsked() {
    Bench bench;
    for (const char* name : {"../x", "a/b/c", "", "a?b", "a b"}) {
      const auto found = bench.list(bench.settings(), name);
      QVERIFY2(message(found).contains("not the name of a repository"), message(found).c_str());
    }
    QCOMPARE(bench.server.connections(), 0);
  }

  // In earnest: a host that does not exist is reached through the proxy of the environment, by TLS as a
  // tunnel.
  void theProxyOfTheEnvironmentIsAsked_data() {
    QTest::addColumn<QByteArray>("variable");
    QTest::addColumn<QString>("endpoint");
    QTest::addColumn<QByteArray>("asked");
    QTest::newRow("https") << QByteArray("HTTPS_PROXY") << QStringLiteral("https://hub.invalid")
                           << QByteArray("CONNECT hub.invalid:443");
    QTest::newRow("http") << QByteArray("HTTP_PROXY") << QStringLiteral("http://hub.invalid")
                          << QByteArray("GET http://hub.invalid/api/models/org/model");
  }
  void theProxyOfTheEnvironmentIsAsked() {
    QFETCH(QByteArray, variable);
    QFETCH(QString, endpoint);
    QFETCH(QByteArray, asked);
    Bench bench;
    const fovea::tests::Environment none{{"HTTPS_PROXY", {}}, {"https_proxy", {}}, {"HTTP_PROXY", {}},
                                         {"http_proxy", {}},  {"ALL_PROXY", {}},   {"all_proxy", {}},
                                         {"NO_PROXY", {}},    {"no_proxy", {}}};
    const fovea::tests::Environment one{
        {variable.constData(), QByteArray::fromStdString(bench.server.endpoint())}};
    HubSettings hub = bench.settings();
    hub.endpoint = QUrl(endpoint);
    const auto found = bench.list(hub);
    QVERIFY(!found.has_value());  // this proxy passes nothing on
    const auto questions = bench.server.questions();
    QVERIFY(!questions.empty());
    const std::string first = questions.front().method + " " + questions.front().target;
    QVERIFY2(first.starts_with(asked.toStdString()), first.c_str());
  }

  void offlineAsksNothing() {
    Bench bench;
    bench.network.set_offline(true);
    QVERIFY(message(bench.list(bench.settings())).contains("offline"));
    QCOMPARE(bench.server.connections(), 0);
    bench.network.set_offline(false);
    QVERIFY(bench.list(bench.settings()).has_value());
    QVERIFY(bench.server.connections() > 0);
  }
};
FOVEA_TEST(HubClientTest)

#include "hub_client_test.moc"
