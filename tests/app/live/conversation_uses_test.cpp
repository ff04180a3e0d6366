#include "app/live/conversation_uses.h"

#include "tests/support/test.h"

using namespace fovea;
using namespace fovea::app;

class ConversationUsesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void conversationsAreKeptApart() {
    ConversationUses uses;
    SnapshotRing ring;
    Snapshot s;
    s.layers = 2;
    s.units_per_layer = 3;
    s.units.resize(6);
    for (std::size_t unit = 0; unit < 6; ++unit) s.units[unit].uses = static_cast<std::uint32_t>(10 * unit);
    ring.add(s, 0);
    MapFrame before = ring.last_frame();
    const auto step = [&](const char* key, std::size_t unit, std::uint32_t tokens) {
      uses.set_current(QString::fromLatin1(key), QStringLiteral("title ") + QLatin1String(key));
      s.units[unit].uses += tokens;
      ++s.tokens;
      ring.add(s, static_cast<double>(s.tokens));
      uses.add(before, ring.last_frame());
      before = ring.last_frame();
    };
    step("a", 1, 100);
    step("b", 2, 40);
    step("b", 3, 30);
    step("a", 3, 7);
    const auto rows = uses.rows();
    QCOMPARE(rows.size(), std::size_t{2});
    QCOMPARE(rows[0].key, QStringLiteral("a"));
    QCOMPARE(rows[0].uses, 107);
    QVERIFY(rows[0].current);
    QCOMPARE(rows[1].uses, 70);
    QCOMPARE(rows[1].experts, 2);
    // One busiest expert in each layer: b's are 2 and 3, a's are 1 and 3.
    QCOMPARE(rows[1].overlap, std::optional(0.5));
    QCOMPARE(uses.busiest(QStringLiteral("b")), (std::vector<std::uint8_t>{0, 0, 1, 1, 0, 0}));
    QVERIFY(uses.busiest(QStringLiteral("c")).empty());
    // While another chat is answered, what is used is that one's, and not that of the chat in view.
    uses.set_answering(QStringLiteral("b"), QStringLiteral("title b"));
    step("a", 5, 9);
    uses.set_answering({}, {});
    QCOMPARE(uses.rows()[0].uses, 107);
    QCOMPARE(uses.rows()[1].uses, 79);
    QVERIFY(uses.rows()[0].current);
    // A new chat has used none, so there is nothing to be in common with.
    uses.set_current(QStringLiteral("new"), QStringLiteral("new"));
    for (const auto& row : uses.rows()) QVERIFY(!row.current && !row.overlap);
    for (int i = 0; i < 20; ++i) step(QByteArray::number(i).constData(), 0, 1);
    QCOMPARE(uses.rows().size(), ConversationUses::max_kept);
    QCOMPARE(uses.rows().back().uses, 1);
  }
};

FOVEA_TEST(ConversationUsesTest)
#include "conversation_uses_test.moc"
