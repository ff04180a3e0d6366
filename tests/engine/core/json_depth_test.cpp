#include "engine/core/json_depth.h"

#include "tests/support/test.h"

class JsonDepthTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void levels_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<int>("depth");
    QTest::newRow("nothing") << QByteArray() << 0;
    QTest::newRow("a number") << QByteArray("12") << 0;
    QTest::newRow("side by side") << QByteArray("[[], {}, [1]]") << 2;
    QTest::newRow("both kinds") << QByteArray("{\"a\": [{\"b\": []}]}") << 4;
    QTest::newRow("brackets in a text") << QByteArray("[\"[[[\", \"{\\\"[{\", \"\\\\\", []]") << 2;
    QTest::newRow("not closed") << QByteArray("[[[") << 3;
    QTest::newRow("a text that does not end") << QByteArray("[\"[[[\\") << 1;
  }
  void levels() {
    QFETCH(QByteArray, text);
    QTEST(fovea::json_depth({text.constData(), static_cast<std::size_t>(text.size())}), "depth");
  }
};
FOVEA_TEST(JsonDepthTest)

#include "json_depth_test.moc"
