// What a server may write in header fields, names and lists, and what is made of it.
#include <algorithm>
#include <random>
#include <set>

#include "app/download/errors.h"
#include "app/download/hub_client.h"
#include "app/download/hub_json.h"
#include "app/download/hub_names.h"
#include "app/download/model_choices.h"
#include "app/download/range_set.h"
#include "app/network/http_fields.h"
#include "app/network/proxy.h"
#include "tests/support/test.h"

using namespace fovea::app;

namespace {

const std::string sha(64, 'a'), oid(40, 'b');

// Single quotes stand for double ones: moc does not read raw strings well.
std::string quoted(std::string text) {
  std::ranges::replace(text, '\'', '"');
  return text;
}

HubRepository repository(const std::vector<std::pair<std::string, std::int64_t>>& files) {
  HubRepository made{
      .id = "org/Some-30B-GGUF", .revision = "main", .commit = oid, .gated = false, .files = {}};
  for (const auto& [path, bytes] : files) made.files.push_back({path, bytes, oid, sha});
  return made;
}

}  // namespace

class FieldsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void contentRange_data() {
    QTest::addColumn<QByteArray>("field");
    QTest::addColumn<QByteArray>("read");  // "first last total", or empty
    const auto row = [](const char* field, const char* read) {
      QTest::newRow(field) << QByteArray(field) << QByteArray(read);
    };
    row("bytes 0-99/1234", "0 99 1234");
    row("Bytes 5-5/*", "5 5 -1");
    row("bytes */1234", "-1 -1 1234");
    row("bytes */*", "");
    row("bytes 9-5/10", "");
    row("bytes 0-10/10", "");
    row("bytes -1-5/10", "");
    row("bytes 0-99999999999999999999/*", "");
    row("bytes 0-9", "");
    row("items 0-9/10", "");
    row("bytes 0 -9/10", "");
    row("", "");
  }
  void contentRange() {
    QFETCH(QByteArray, field);
    const auto range = parse_content_range(field.toStdString());
    const QByteArray text = range ? QByteArray::number(qlonglong(range->first)) + " " +
                                        QByteArray::number(qlonglong(range->last)) + " " +
                                        QByteArray::number(qlonglong(range->total))
                                  : QByteArray();
    QTEST(text, "read");
  }

  void retryAfter() {
    // 784111777 is RFC 9110's own example of a date.
    QCOMPARE(parse_retry_after("120", 0).value_or(-1), 120);
    QCOMPARE(parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", 784111777 - 30).value_or(-1), 30);
    QCOMPARE(parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", 784111777 + 30).value_or(-1), 0);
    QVERIFY(!parse_retry_after("soon", 0));
    QVERIFY(!parse_retry_after("-5", 0));
    QVERIFY(parse_retry_after("9000000000000000000", 0).value_or(-1) < (std::int64_t{1} << 31));
  }

  void links() {
    QCOMPARE(next_link(quoted("<https://h/api?cursor=a>; rel='next'")),
             std::string("https://h/api?cursor=a"));
    QCOMPARE(next_link(quoted("<https://h/1>; rel='prev', <https://h/2>; rel='next'")),
             std::string("https://h/2"));
    QCOMPARE(next_link(quoted("<https://h/1>; rel='prev'")), std::string());
    QCOMPARE(next_link("<"), std::string());
  }

  void entityTags() {
    QCOMPARE(strong_etag("\"abc\""), std::string("abc"));
    QCOMPARE(strong_etag("W/\"abc\""), std::string());
    QCOMPARE(plain_etag("W/\"abc\""), std::string("abc"));
    QCOMPARE(plain_etag("abc"), std::string());
    QCOMPARE(plain_etag("\"a\r\nX: y\""), std::string());
  }

  void origins() {
    const QUrl hub(QStringLiteral("https://hub.example"));
    QVERIFY(same_origin(hub, QUrl(QStringLiteral("https://HUB.example:443/a"))));
    QVERIFY(!same_origin(hub, QUrl(QStringLiteral("http://hub.example/a"))));
    QVERIFY(!same_origin(hub, QUrl(QStringLiteral("https://hub.example:8443/a"))));
    QVERIFY(!same_origin(hub, QUrl(QStringLiteral("https://hub.example.evil/a"))));
    QVERIFY(may_carry_token(hub));
    QVERIFY(may_carry_token(QUrl(QStringLiteral("http://127.0.0.1:8000"))));
    QVERIFY(!may_carry_token(QUrl(QStringLiteral("http://hub.example"))));
  }

  void nothingSecretIsShown() {
    const std::string text =
        shown(QUrl(QStringLiteral("https://user:word@h.example/a/b?X-Amz-Signature=secret#part")));
    QCOMPARE(text, std::string("https://h.example/a/b"));
  }

  void proxies_data() {
    QTest::addColumn<QString>("url");
    QTest::addColumn<QString>("proxy");
    QTest::newRow("tls") << QStringLiteral("https://a.example/") << QStringLiteral("secure.proxy:3128");
    QTest::newRow("plain") << QStringLiteral("http://a.example/") << QStringLiteral("plain.proxy:8080");
    QTest::newRow("a domain without") << QStringLiteral("https://x.corp.example/") << QString();
    QTest::newRow("another with its end")
        << QStringLiteral("https://xcorp.example/") << QStringLiteral("secure.proxy:3128");
    QTest::newRow("a host without") << QStringLiteral("https://only.example/") << QString();
    QTest::newRow("this machine") << QStringLiteral("http://127.0.0.1:99/") << QString();
  }
  void proxies() {
    QFETCH(QString, url);
    EnvironmentProxies proxies([](const char* name) {
      const QByteArray variable(name);
      if (variable == "HTTPS_PROXY") return QStringLiteral("http://me:word@secure.proxy:3128");
      if (variable == "http_proxy") return QStringLiteral("plain.proxy");
      if (variable == "NO_PROXY") return QStringLiteral(".corp.example, only.example");
      return QString();
    });
    const QUrl address(url);
    const QNetworkProxyQuery query(address, QNetworkProxyQuery::UrlRequest);
    const QNetworkProxy proxy = proxies.queryProxy(query).value(0);
    const bool direct = proxy.type() == QNetworkProxy::NoProxy;
    QTEST(direct ? QString() : proxy.hostName() + QLatin1Char(':') + QString::number(proxy.port()), "proxy");
  }

  // Longer with each failure up to the most, and by chance: what failed together does not come back together.
  void waitsGrowAndDiffer() {
    constexpr int base = 100, most = 5000;
    for (const int failures : {0, 1, 3, 5, 6, 40, 1000}) {
      const int limit = failures < 6 ? base << failures : most;
      std::set<int> seen;
      for (int i = 0; i < 200; ++i) {
        const int wait = backoff_ms(failures, base, most);
        QVERIFY2(wait >= limit / 2 && wait <= limit, qPrintable(QString::number(wait)));
        seen.insert(wait);
      }
      QVERIFY(seen.size() > 20);
      QVERIFY(*seen.rbegin() - *seen.begin() > limit / 4);
    }
  }

  void names() {
    for (const char* id : {"org/name", "gpt2", "a-b/c_d.e-1"}) QVERIFY2(is_repository_id(id), id);
    for (const char* id :
         {"", "/", "a/", "/b", "a/b/c", "../b", "a/..", "a--b/c", "a b", "a/b?c", "-a/b", "a/b.", "a/b.git"})
      QVERIFY2(!is_repository_id(id), id);
    for (const char* path : {"a.gguf", "Q4/a b.gguf", "ä/…"}) QVERIFY2(is_repository_path(path), path);
    for (const char* path : {"", "/a", "a//b", "../a", "a/../b", "a/.", "a\\b", "a\nb", "a/", "\xFF"})
      QVERIFY2(!is_repository_path(path), path);
    QVERIFY(is_revision("refs/pr/1") && !is_revision("../x") && !is_revision("-x") && !is_revision("a b"));
  }

  // Against a bitmap, from random orders.
  void rangesAreAsABitmapSays() {
    std::mt19937 random(fovea::tests::seed());
    for (int round = 0; round < fovea::tests::rounds(200); ++round) {
      RangeSet set;
      std::vector<bool> bits(64);
      for (int i = 0; i < 12; ++i) {
        const int begin = static_cast<int>(random() % 64),
                  end = begin + static_cast<int>(random() % (65 - begin));
        set.add({begin, end});
        std::fill(bits.begin() + begin, bits.begin() + end, true);
        const auto prefix = std::ranges::find(bits, false) - bits.begin();
        QCOMPARE(set.prefix(), prefix);
        QCOMPARE(set.bytes(), std::ranges::count(bits, true));
        const int from = static_cast<int>(random() % 64);
        const auto gap = std::find(bits.begin() + from, bits.end(), false);
        const ByteRange found = set.first_gap(from, 64);
        if (gap == bits.end()) {
          QCOMPARE(found.bytes(), 0);
        } else {
          QCOMPARE(found.begin, gap - bits.begin());
          QCOMPARE(found.end, std::find(gap, bits.end(), true) - bits.begin());
        }
      }
    }
  }

  void quantizations_data() {
    QTest::addColumn<QString>("found");
    const auto row = [](const char* name, const char* found) {
      QTest::newRow(name) << QString::fromLatin1(found);
    };
    row("Qwen3-30B-A3B-Q4_K_M", "Q4_K_M");
    row("Qwen3-30B-A3B-UD-Q4_K_XL", "UD-Q4_K_XL");
    row("model.Q8_0", "Q8_0");
    row("mixtral-8x7b-instruct-v0.1.q5_k_s", "Q5_K_S");
    row("x-IQ2_XXS", "IQ2_XXS");
    row("x-bf16", "BF16");
    row("gpt-oss-120b-mxfp4", "MXFP4");
    row("gpt-oss-20b-MXFP4_MOE", "MXFP4_MOE");
    row("x-TQ1_0", "TQ1_0");
    row("Q8-tuned-model-Q4_0", "Q4_0");
    row("llama-7b", "");
    row("Qwen", "");
    row("", "");
  }
  void quantizations() { QTEST(QString::fromStdString(quantization_in(QTest::currentDataTag())), "found"); }

  void choicesOfARepository() {
    const HubRepository made = repository({{"README.md", 10},
                                           {"Some-30B-Q8_0.gguf", 800},
                                           {"Some-30B-Q4_K_M.gguf", 400},
                                           {"BF16/Some-30B-00002-of-00002.gguf", 700},
                                           {"BF16/Some-30B-00001-of-00002.gguf", 900},
                                           {"broken-Q2_K-00001-of-00003.gguf", 1},
                                           {"mmproj-Some-F16.gguf", 50}});
    const auto choices = model_choices(made);
    QCOMPARE(choices.size(), 4U);
    QCOMPARE(choices[0].quantization, std::string("Q2_K"));
    QVERIFY(!choices[0].is_complete);
    QCOMPARE(choices[1].quantization, std::string("Q4_K_M"));
    QCOMPARE(choices[3].quantization, std::string("BF16"));
    QCOMPARE(choices[3].bytes, 1600);
    QCOMPARE(choices[3].files.front().path, std::string("BF16/Some-30B-00001-of-00002.gguf"));

    QCOMPARE(choose(made, "q4_k_m").value().name, std::string("Some-30B-Q4_K_M"));
    QCOMPARE(choose(made, "Some-30B-Q8_0.gguf").value().bytes, 800);
    QCOMPARE(choose(made, "BF16/Some-30B-00002-of-00002.gguf").value().files.size(), 2U);
    QVERIFY(choose(made, "").error().message().contains("Q4_K_M, Q8_0, BF16"));
    QVERIFY(choose(made, "Q3_K").error().is(fovea::errors::hub_no_version.code));
    QVERIFY(choose(made, "Q2_K").error().is(fovea::errors::hub_part_missing.code));
    QVERIFY(choose(repository({{"README.md", 1}}), "").error().is(fovea::errors::hub_no_model.code));
    QCOMPARE(choose(repository({{"a-Q4_0.gguf", 1}}), "").value().name, std::string("a-Q4_0"));
  }

  void aFolderOfSafetensorsIsOneChoice() {
    const auto choices = model_choices(repository({{"config.json", 1},
                                                   {"model-00001-of-00002.safetensors", 10},
                                                   {"model-00002-of-00002.safetensors", 10},
                                                   {"tokenizer.json", 2},
                                                   {"original/consolidated.safetensors", 30},
                                                   {"pytorch_model.bin", 99}}));
    QCOMPARE(choices.size(), 1U);
    QVERIFY(choices[0].is_folder);
    QCOMPARE(choices[0].bytes, 23);
    QCOMPARE(choices[0].name, std::string("Some-30B-GGUF"));
  }

  void aTree() {
    const std::string text =
        "[{'type':'directory','path':'d','oid':'x','size':0},      "
        "{'type':'file','path':'a.gguf','size':130,'oid':'" +
        oid + "','lfs':{'oid':'" + sha +
        "','size':5000,'pointerSize':130}},      {'type':'file','path':'b.json','size':7,'oid':'" + oid +
        "'}]";
    const auto files = parse_tree(quoted(text), "hub").value();
    QCOMPARE(files.size(), 2U);
    QCOMPARE(files[0].bytes, 5000);
    QCOMPARE(files[0].blob(), sha);
    QCOMPARE(files[1].blob(), oid);
  }

  void hostileAnswers_data() {
    QTest::addColumn<QByteArray>("json");
    QTest::addColumn<QByteArray>("says");
    const auto row = [](const char* name, const std::string& json, const char* says) {
      QTest::newRow(name) << QByteArray::fromStdString(json) << QByteArray(says);
    };
    const auto file = [](const std::string& path, const std::string& size, const std::string& more) {
      return "[{'type':'file','path':'" + path + "','size':" + size + ",'oid':'" + oid + "'" + more + "}]";
    };
    row("nothing", "", "not JSON");
    row("a page of a proxy", "<html>Log in</html>", "not JSON");
    row("cut off", "[{", "not JSON");
    row("too deep", std::string(100000, '['), "not JSON");
    row("an object", "{}", "not a list");
    row("climbs out", file("../../x", "1", ""), "leads out");
    row("absolute", file("/etc/passwd", "1", ""), "leads out");
    row("negative", file("a", "-1", ""), "no size");
    row("a size beyond all disks", file("a", "9223372036854775807", ""), "no size");
    row("a size beyond numbers", file("a", "99999999999999999999", ""), "no size");
    row("a fraction", file("a", "1.5", ""), "no size");
    row("no hash", "[{'type':'file','path':'a','size':1}]", "Git hash");
    row("a wrong hash", file("a", "1", ",'lfs':{'oid':'zz','size':1}"), "SHA-256");
  }
  void hostileAnswers() {
    QFETCH(QByteArray, json);
    QFETCH(QByteArray, says);
    const auto files = parse_tree(quoted(json.toStdString()), "hub");
    QVERIFY(!files);
    QVERIFY2(files.error().message().contains(says.constData()), files.error().message().c_str());
  }

  void aBadEntryDoesNotSpoilASearch() {
    const auto models =
        parse_search(quoted("[{'id':'../x'},{'id':7},null,{'id':'org/a','downloads':-4,'gated':'auto'}]"),
                     "hub")
            .value();
    QCOMPARE(models.size(), 1U);
    QCOMPARE(models[0].id, std::string("org/a"));
    QCOMPARE(models[0].downloads, 0);
    QVERIFY(models[0].gated);
  }
};
FOVEA_TEST(FieldsTest)

#include "fields_test.moc"
