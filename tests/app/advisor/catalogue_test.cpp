// The catalogue: sound as committed, and an error that names what is wrong in one that is not.
#include "app/advisor/catalogue.h"

#include <algorithm>
#include <cmath>

#include "tests/support/test.h"

using namespace fovea;

class CatalogueTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void oursIsSound() {
    const auto& entries = app::catalogue();
    QVERIFY(entries.size() >= 5);
    for (const char* id : {"demo", "demo-dense", "qwen3-30b-a3b"})
      QVERIFY2(std::ranges::find(entries, id, &app::CatalogueEntry::id) != entries.end(), id);
    for (const app::CatalogueEntry& entry : entries) {
      QVERIFY2(entry.parameters_active <= entry.parameters, entry.id.c_str());
      QVERIFY2(entry.good_at.contains("de"), entry.id.c_str());
      const double bits = 8.0 * static_cast<double>(entry.bytes) / static_cast<double>(entry.parameters);
      QVERIFY2(bits > 2 && bits < 17, entry.id.c_str());
      if (entry.made_by.empty()) QVERIFY2(entry.repository.find('/') != std::string::npos, entry.id.c_str());
    }
  }

  // As the hub lists the files, or the repository's card says: what is computed is near.
  void computedSizesAreNear_data() {
    QTest::addColumn<QByteArray>("id");
    QTest::addColumn<double>("gigabytes");
    QTest::newRow("gpt-oss-20b") << QByteArray("gpt-oss-20b") << 12.109'566'624;
    QTest::newRow("gpt-oss-120b") << QByteArray("gpt-oss-120b") << 63.387'346'208;
    QTest::newRow("qwen3.5-9b") << QByteArray("qwen3.5-9b") << 5.28 * 1.073'741'824;
    QTest::newRow("qwen3.6-35b-a3b") << QByteArray("qwen3.6-35b-a3b") << 22.134'528'992;
    QTest::newRow("gemma-3-27b") << QByteArray("gemma-3-27b") << 16.546'404'736;
    QTest::newRow("gemma-4-e4b") << QByteArray("gemma-4-e4b") << 4.977'171'584;
    QTest::newRow("gemma-4-31b") << QByteArray("gemma-4-31b") << 18.323'733'440;
    QTest::newRow("mellum") << QByteArray("mellum2-12b-a2.5b") << 8.1;
  }
  void computedSizesAreNear() {
    QFETCH(QByteArray, id);
    QFETCH(double, gigabytes);
    const auto& entries = app::catalogue();
    const auto entry = std::ranges::find(entries, id.toStdString(), &app::CatalogueEntry::id);
    QVERIFY(entry != entries.end());
    QVERIFY(entry->bytes_from_shape);
    const double bytes = static_cast<double>(entry->bytes);
    QVERIFY2(std::abs(bytes / (1e9 * gigabytes) - 1) < 0.09, std::to_string(entry->bytes).c_str());
  }

  void whatIsLeftOutIsTheShapes() {
    const auto read = app::parse_catalogue(
        R"({"models":[{"id":"a","name":"A","repository":"o/a","file":"a.gguf","shape":"mixtral-8x7b",
            "tier":"q8","dense":"q8","licence":"MIT","good_at":{"en":"x"}},
            {"id":"b","name":"B","repository":"o/b","file":"b.gguf","shape":"mixtral-8x7b",
            "tier":"q8","dense":"q8","bytes":9,"context":7,"licence":"MIT","good_at":{"en":"x"}}]})");
    FOVEA_VERIFY(read);
    const app::CatalogueEntry &computed = read->front(), &listed = read->back();
    QVERIFY(computed.bytes_from_shape);
    QVERIFY(std::abs(static_cast<double>(computed.bytes) / (46.7e9 * 8.5 / 8) - 1) < 0.01);
    QVERIFY(std::abs(static_cast<double>(computed.parameters) / 46.7e9 - 1) < 0.01);
    QVERIFY(std::abs(static_cast<double>(computed.parameters_active) / 12.9e9 - 1) < 0.02);
    QCOMPARE(computed.experts, std::int64_t{8});
    QCOMPARE(computed.experts_used, std::int64_t{2});
    QCOMPARE(computed.context, std::int64_t{32768});
    QVERIFY(!listed.bytes_from_shape);
    QCOMPARE(listed.bytes, std::int64_t{9});
    QCOMPARE(listed.context, std::int64_t{7});
  }

  void wordsAreInTheLanguageOrEnglish() {
    const app::CatalogueEntry entry{.good_at = {{"en", "chat"}, {"de", "Plaudern"}}};
    QCOMPARE(app::good_at(entry, "de"), std::string("Plaudern"));
    QCOMPARE(app::good_at(entry, "fr"), std::string("chat"));
  }

  void whatIsWrongIsNamed_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("complaint");
    const auto row = [](const char* name, const QByteArray& text, const char* complaint) {
      QTest::newRow(name) << text << QByteArray(complaint);
    };
    const QByteArray good =
        R"({"id":"a","name":"A","repository":"o/a","file":"a.gguf","bytes":9,"parameters":9,
            "parameters_active":9,"context":9,"licence":"MIT","good_at":{"en":"x"}})";
    const auto list = [](const QByteArray& entries) { return QByteArray(R"({"models":[)") + entries + "]}"; };
    const auto without = [&](const char* key, const char* instead) {
      return list(QByteArray(good).replace(key, instead));
    };
    row("no JSON", "{", "is not a JSON object");
    row("no list", R"({"models":3})", "is not a JSON object");
    row("not an object", list("3"), "entry 1");
    row("no id", without(R"("id":"a")", R"("x":"a")"), "\"id\"");
    row("no licence", without(R"("licence":"MIT")", R"("x":1)"), "\"licence\"");
    row("bytes", without(R"("bytes":9)", R"("bytes":-9)"), "\"bytes\"");
    row("bytes of which nothing tells", without(R"("bytes":9,)", ""), "\"bytes\"");
    row("nowhere to get it", without(R"("file":"a.gguf",)", ""), "\"repository\"");
    row("no English", without(R"("en":"x")", R"("de":"x")"), "\"good_at\"");
    row("a shape nobody knows",
        without(R"("id":"a")", R"("id":"a","shape":"gpt-9","tier":"q4","dense":"q8")"), "\"shape\"");
    row("a shape without tiers", without(R"("id":"a")", R"("id":"a","shape":"mixtral-8x7b")"), "\"tier\"");
    row("twice", list(good + "," + good), "twice");
    row("per cent", without(R"("id":"a")", R"("id":"a","mmlu_pro":101)"), "\"mmlu_pro\"");
  }
  void whatIsWrongIsNamed() {
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, complaint);
    const auto read = app::parse_catalogue(text.toStdString());
    QVERIFY(!read);
    QVERIFY2(read.error().message().find(complaint.toStdString()) != std::string::npos,
             read.error().message().c_str());
  }
};
FOVEA_TEST(CatalogueTest)

#include "catalogue_test.moc"
