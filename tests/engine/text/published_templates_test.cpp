// The chat templates of published models, which scripts/test downloads, against what transformers makes of
// them (tests/golden/make_published.py).
#include <QCryptographicHash>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/text/chat_template.h"
#include "engine/text/errors.h"
#include "tests/support/test.h"

using fovea::tests::content;
using nlohmann::ordered_json;

namespace {

std::string short_hash(const std::string& text) {
  const auto hash = QCryptographicHash::hash(QByteArray::fromStdString(text), QCryptographicHash::Sha256);
  return hash.toHex().left(8).toStdString();
}

const ordered_json& published() {
  static const ordered_json all =
      ordered_json::parse(content(fovea::tests::golden("published_templates.json")), nullptr, false);
  if (all.is_discarded()) qFatal("the golden file of published templates cannot be read");
  return all;
}

}  // namespace

class PublishedTemplatesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    qputenv("TZ", "UTC");
    tzset();
    if (fovea::tests::published_templates().empty())
      QSKIP("the published templates are not there; ./scripts/test downloads them");
  }

  void renderAsTransformersDoes_data() {
    QTest::addColumn<QString>("name");
    for (const auto& [name, ignored] : published()["templates"].items())
      QTest::newRow(name.c_str()) << QString::fromStdString(name);
  }
  void renderAsTransformersDoes() {
    QFETCH(QString, name);
    const std::string source = content(fovea::tests::published_templates() / name.toStdString());
    const ordered_json& one = published()["templates"][name.toStdString()];
    QCOMPARE(short_hash(source), one["template"].get<std::string>());
    const auto parsed = fovea::text::ChatTemplate::parse(source, fovea::phrases::name_place("test"));
    FOVEA_VERIFY(parsed);
    std::istringstream cases(one["cases"].get<std::string>());
    std::size_t index = 0;
    for (std::string wanted; cases >> wanted; ++index) {
      const ordered_json& variables = published()["variables"][index];
      const auto text = parsed->render(variables);
      const std::string found = text ? short_hash(*text) : "error";
      QVERIFY2(found == wanted, (std::to_string(index) + ": " + variables.dump() + "\n" +
                                 (text ? *text : text.error().message()))
                                    .c_str());
    }
    QCOMPARE(index, published()["variables"].size());
  }
};
FOVEA_TEST(PublishedTemplatesTest)

#include "published_templates_test.moc"
