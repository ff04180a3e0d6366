// The catalogue: sound as committed, and an error that names what is wrong in one that is not.
#include "app/advisor/catalogue.h"

#include <algorithm>

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
    row("no JSON", "{", "is no JSON object");
    row("no list", R"({"models":3})", "is no JSON object");
    row("no object", list("3"), "entry 1");
    row("no id", without(R"("id":"a")", R"("x":"a")"), "\"id\"");
    row("no licence", without(R"("licence":"MIT")", R"("x":1)"), "\"licence\"");
    row("bytes", without(R"("bytes":9)", R"("bytes":-9)"), "\"bytes\"");
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
