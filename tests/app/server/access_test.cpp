// Who is let in: names in Host, pages' Origin, keys and their files.
#include "app/server/access.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "app/server/errors.h"
#include "tests/support/test.h"

#include "tests_server.h"

using namespace fovea;
using namespace fovea::app;
using namespace fovea::tests;

namespace {

constexpr auto key = "0123456789abcdefXYZ";

HttpRequest request_of(const std::vector<HttpField>& fields, const std::string& path = "/v1/models") {
  return {.method = "GET", .path = path, .query = {}, .fields = fields, .body = {}};
}

}  // namespace

class AccessTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void letsIn_data() {
    QTest::addColumn<QString>("host");
    QTest::addColumn<QString>("origin");
    QTest::addColumn<QString>("given");  // "name: value" of the key
    QTest::addColumn<bool>("needs_key");
    QTest::addColumn<int>("status");  // 0: let in
    const auto row = [](const char* name, const char* host, const char* origin, const char* given, bool needs,
                        int status) { QTest::newRow(name) << host << origin << given << needs << status; };
    row("localhost", "localhost", "", "", false, 0);
    row("its port", "localhost:11435", "", "", false, 0);
    row("any letters", "LocalHost:1", "", "", false, 0);
    row("number", "127.0.0.1:11435", "", "", false, 0);
    row("another of its numbers", "127.0.0.2", "", "", false, 0);
    row("IPv6", "[::1]:11435", "", "", false, 0);
    row("rebinding", "evil.example:11435", "", "", false, 421);
    row("rebinding with our name in front", "localhost.evil.example", "", "", false, 421);
    row("rebinding with our number in front", "127.0.0.1.evil.example", "", "", false, 421);
    row("rebinding with our name behind", "evil.example@localhost", "", "", false, 421);
    row("a foreign number", "192.0.2.7", "", "", false, 421);
    row("empty", " ", "", "", false, 421);
    row("the server's own name", "box.lan:80", "", "", false, 0);
    row("a page of its own", "localhost:80", "http://localhost:80", "", false, 0);
    row("a page of another port", "localhost:80", "http://localhost:81", "", false, 403);
    row("a page", "localhost:80", "https://evil.example", "", false, 403);
    row("a file's page", "localhost:80", "null", "", false, 403);
    row("no key", "localhost", "", "", true, 401);
    row("bearer", "localhost", "", "Authorization: Bearer 0123456789abcdefXYZ", true, 0);
    row("small letters", "localhost", "", "authorization: bearer 0123456789abcdefXYZ", true, 0);
    row("x-api-key", "localhost", "", "X-Api-Key: 0123456789abcdefXYZ", true, 0);
    row("too short", "localhost", "", "x-api-key: 0123456789abcdefXY", true, 401);
    row("too long", "localhost", "", "x-api-key: 0123456789abcdefXYZ0", true, 401);
    row("wrong", "localhost", "", "x-api-key: 0123456789abcdefXYz", true, 401);
    row("another scheme", "localhost", "", "Authorization: Basic 0123456789abcdefXYZ", true, 401);
    row("the right key and a page", "localhost", "https://evil.example", "x-api-key: 0123456789abcdefXYZ",
        true, 403);
  }
  void letsIn() {
    QFETCH(QString, host);
    QFETCH(QString, origin);
    QFETCH(QString, given);
    QFETCH(bool, needs_key);
    QFETCH(int, status);
    std::vector<HttpField> fields{{"Host", host.trimmed().toStdString()}};
    if (!origin.isEmpty()) fields.push_back({"Origin", origin.toStdString()});
    if (!given.isEmpty())
      fields.push_back({given.section(": ", 0, 0).toStdString(), given.section(": ", 1).toStdString()});
    const auto refusal =
        check_access(request_of(fields), {.key = needs_key ? key : "", .hosts = {"box.lan"}});
    QCOMPARE(refusal ? refusal->status : 0, status);
  }

  void oneHostAlone() {
    QCOMPARE(check_access(request_of({{"Host", "localhost"}, {"Host", "localhost"}}), {})->status, 400);
    QVERIFY(!check_access(request_of({}), {}).has_value());  // HTTP/1.0
  }

  void everyAddress() {
    const AccessRules rules{.key = {}, .hosts = {}, .any_address = true};
    QVERIFY(!check_access(request_of({{"Host", "192.0.2.7:80"}}), rules).has_value());
    QCOMPARE(check_access(request_of({{"Host", "192.0.2.7.evil.example"}}), rules)->status, 421);
  }

  // Whether it is there may be asked by anybody whom its address reaches.
  void healthNeedsNoKey() {
    QVERIFY(!check_access(request_of({{"Host", "localhost"}}, "/health"), {.key = key}).has_value());
    QCOMPARE(check_access(request_of({{"Host", "evil.example"}}, "/health"), {.key = key})->status, 421);
  }

  // The same over the wire, where nothing of the body is waited for.
  void refusesBeforeTheBody() {
    const Server server({}, 1, 1, {.key = key});
    const std::string head = "POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 1000\r\n";
    QCOMPARE(status_of(server.ask(head + "Host: localhost\r\n\r\n")), 401);
    QCOMPARE(status_of(server.ask(head + "Host: evil.example\r\n\r\n")), 421);
    QCOMPARE(status_of(server.ask(head + "Host: localhost\r\nOrigin: http://evil.example\r\n\r\n")), 403);
    QCOMPARE(status_of(server.ask("OPTIONS /v1/models HTTP/1.1\r\nHost: localhost\r\nx-api-key: " +
                                  std::string(key) + "\r\n\r\n")),
             405);
    const std::string answer =
        server.ask(get("/v1/models", "Authorization: Bearer " + std::string(key) + "\r\n"));
    QCOMPARE(status_of(answer), 200);
    QVERIFY(answer.find("Access-Control") == std::string::npos);
  }

  void readsKeys_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<int>("mode");
    QTest::addColumn<bool>("fine");
    QTest::newRow("fine") << QByteArray("0123456789abcdef\n") << 0600 << true;
    QTest::newRow("the group may read") << QByteArray("0123456789abcdef\n") << 0640 << false;
    QTest::newRow("other users can read") << QByteArray("0123456789abcdef\n") << 0604 << false;
    QTest::newRow("short") << QByteArray("0123456789abcde\n") << 0600 << false;
    QTest::newRow("long") << QByteArray(513, 'a') << 0600 << false;
    QTest::newRow("two lines") << QByteArray("0123456789abcdef\n0123456789abcdef\n") << 0600 << false;
    QTest::newRow("a space") << QByteArray("0123456789 abcdef\n") << 0600 << false;
    QTest::newRow("empty") << QByteArray() << 0600 << false;
  }
  void readsKeys() {
    QFETCH(QByteArray, text);
    QFETCH(int, mode);
    QFETCH(bool, fine);
    const TemporaryFolder folder;
    const auto file = folder.path() / "key";
    std::ofstream(file) << text.toStdString();
    std::filesystem::permissions(file, static_cast<std::filesystem::perms>(mode));
    const auto read = read_key(file);
    QCOMPARE(read.has_value(), fine);
    if (fine) QCOMPARE(*read, "0123456789abcdef");
    if (!fine) QVERIFY(read.error().message().find("0123456789abcde") == std::string::npos);
  }

  void noKeyFile() {
    const TemporaryFolder folder;
    QCOMPARE(read_key(folder.path() / "none").error().kind, ErrorKind::not_found);
  }

  void whoListensElsewhereNeedsAKey() {
    FOVEA_VERIFY(rules_for("127.0.0.1", {}));
    QVERIFY(rules_for("127.0.0.1", {})->hosts.empty());
    QVERIFY(rules_for("0.0.0.0", {}).error().is(errors::server_needs_key.code));
    const auto rules = rules_for("0.0.0.0", key);
    FOVEA_VERIFY(rules);
    QCOMPARE(rules->key, std::string(key));
    QVERIFY(rules->any_address);
    const auto one = rules_for("fe80::7", key);
    FOVEA_VERIFY(one);
    QVERIFY(!one->any_address && std::ranges::find(one->hosts, "[fe80::7]") != one->hosts.end());
  }

  void aMadeKeyIsReadAgain() {
    const TemporaryFolder folder;
    const auto file = folder.path() / "key";
    const std::string made = make_key();
    QVERIFY(made != make_key() && made.size() == 70);
    for (const std::string& each : {std::string(key), made}) {
      FOVEA_VERIFY(write_key(file, each));
      QCOMPARE(std::filesystem::status(file).permissions(),
               std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
      QCOMPARE(read_key(file).value(), each);
    }
    const auto nowhere = write_key(folder.path() / "none" / "key", made);
    QVERIFY(nowhere.error().is(errors::server_key_not_written.code));
    QVERIFY(nowhere.error().message().find(made) == std::string::npos);
  }
};

FOVEA_TEST(AccessTest)
#include "access_test.moc"
