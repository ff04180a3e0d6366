// docs/server.md says what the server does: every path, and every parameter with its kind.
#include <QRegularExpression>
#include <QSet>

#include "app/server/service.h"
#include "tests/support/test.h"

using namespace fovea;

namespace {

QString page() {
  return QString::fromStdString(tests::content(std::filesystem::path(FOVEA_SOURCE_DIR) / "docs/server.md"));
}

QSet<QString> names_in(const QString& text) {
  QSet<QString> names;
  static const QRegularExpression name("`([^`]+)`");
  for (auto each = name.globalMatch(text); each.hasNext();) names << each.next().captured(1);
  return names;
}

QSet<QString> set_of(const std::vector<std::string_view>& list) {
  QSet<QString> names;
  for (const std::string_view name : list)
    names << QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
  return names;
}

}  // namespace

class ServerPageTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everyPathIsTold() {
    const QString text = page();
    const QString table = text.section("## What it answers", 1).section("\n## ", 0, 0);
    QSet<QString> told;
    for (const QString& name : names_in(table))
      if (name.contains(QRegularExpression("^[A-Z]+ /"))) told << name;
    QSet<QString> there;
    for (const std::string& endpoint : app::service_endpoints()) there << QString::fromStdString(endpoint);
    QCOMPARE(told, there);
  }

  void everyParameterIsTold_data() {
    QTest::addColumn<QString>("endpoint");
    QTest::addColumn<int>("number");
    const auto all = app::service_parameters();
    for (std::size_t i = 0; i < all.size(); ++i)
      QTest::newRow(all[i].first.c_str()) << QString::fromStdString(all[i].first) << static_cast<int>(i);
  }
  void everyParameterIsTold() {
    QFETCH(QString, endpoint);
    QFETCH(int, number);
    const QString head = "\n### " + (endpoint.startsWith('`') ? endpoint : "`" + endpoint + "`") + "\n";
    const QString section = page().section(head, 1).section("\n##", 0, 0);
    const app::ParameterKinds& kinds = *app::service_parameters()[static_cast<std::size_t>(number)].second;
    const auto told = [&](const QString& kind) {
      return names_in(section.section("\n" + kind + ": ", 1).section("\n\n", 0, 0));
    };
    QCOMPARE(told("Honoured"), set_of(kinds.honoured));
    QCOMPARE(told("Without effect"), set_of(kinds.without_effect));
    QCOMPARE(told("Refused"), set_of(kinds.refused));
  }
};

FOVEA_TEST(ServerPageTest)
#include "page_test.moc"
