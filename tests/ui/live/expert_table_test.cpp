#include "ui/live/expert_table.h"

#include <QAbstractItemModelTester>

#include "tests/support/test.h"
#include "ui/live/conversation_uses.h"
#include "ui/live/expert_text.h"

using namespace fovea;
using namespace fovea::ui;

namespace {

Snapshot six_units() {
  Snapshot s;
  s.layers = 2;
  s.units_per_layer = 3;
  s.units = {{.hotness = 0.1F, .tier = 1, .uses = 10},
             {.hotness = 0.5F, .tier = 0, .uses = 50},
             {.hotness = 0.2F, .tier = 1, .target = 0, .uses = 20},
             {.hotness = 0.3F, .tier = 0, .uses = 30},
             {.hotness = 0, .tier = host_tier, .uses = 0},
             {.hotness = 0.05F, .tier = no_tier, .uses = 5}};
  s.tiers = {{.name = "q4", .bits_per_weight = 4.5}, {.name = "q2", .bits_per_weight = 2.25}};
  return s;
}

}  // namespace

class ExpertTableTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void isAModel() {
    ExpertTable table;
    const QAbstractItemModelTester tester(&table, QAbstractItemModelTester::FailureReportingMode::Fatal);
    SnapshotRing ring;
    Snapshot s = six_units();
    for (int i = 0; i < 3; ++i) {
      s.units[0].uses += 100;
      ring.add(s, i);
      table.show(ring, ring.last(), ring.last_frame());
      table.sort(i == 0 ? ExpertTable::tokens : ExpertTable::hotness, Qt::DescendingOrder);
    }
    QCOMPARE(table.rowCount(), 6);
    s.layers = 1;
    s.units.resize(3);
    ring.add(s, 4);
    table.show(ring, ring.last(), ring.last_frame());
    QCOMPARE(table.rowCount(), 3);
  }

  // Two digits, and no powers of ten.
  void hotnessIsReadable() {
    QCOMPARE(hotness_text(0), QStringLiteral("0"));
    QCOMPARE(hotness_text(9.3e-5F), QStringLiteral("0.000093"));
    QCOMPARE(hotness_text(1e-9F), QStringLiteral("0"));
    QCOMPARE(hotness_text(0.0584F), QStringLiteral("0.058"));
    QCOMPARE(hotness_text(12.3F), QStringLiteral("12"));
  }

  void saysWhatTheMapShows() {
    ExpertTable table;
    LiveModel model;
    model.layer_numbers = {4, 9};
    table.set_model(model);
    SnapshotRing ring;
    Snapshot s = six_units();
    ring.add(s, 0);
    s.units[1].tier = 1;
    s.decisions[0] = {.unit = 1, .from = 0, .to = 1, .reason = SwapReason::colder, .score = 0.02F};
    ring.add(s, 2);
    s.tokens = 1;
    ring.add(s, 5);
    table.show(ring, ring.last(), ring.last_frame());
    const auto text = [&](int row, int column) { return table.index(row, column).data().toString(); };
    QCOMPARE(text(1, ExpertTable::layer), QStringLiteral("4"));
    QCOMPARE(text(1, ExpertTable::expert), QStringLiteral("1"));
    QCOMPARE(text(1, ExpertTable::tier), QStringLiteral("q2"));
    QCOMPARE(text(1, ExpertTable::tokens), QStringLiteral("50"));
    QCOMPARE(text(1, ExpertTable::last_change), QStringLiteral("3.0 s ago"));
    QVERIFY(text(1, ExpertTable::why).contains(QStringLiteral("gave way")));
    QCOMPARE(text(2, ExpertTable::target), QStringLiteral("q4"));
    QCOMPARE(text(3, ExpertTable::layer), QStringLiteral("9"));
    QCOMPARE(text(4, ExpertTable::tier), QStringLiteral("main memory"));
    QCOMPARE(text(5, ExpertTable::tier), QStringLiteral("on disk"));
    QVERIFY(text(3, ExpertTable::last_change).isEmpty());
  }

  void sortsAndKeepsTheSelection() {
    ExpertTable table;
    SnapshotRing ring;
    ring.add(six_units(), 0);
    table.show(ring, ring.last(), ring.last_frame());
    const QPersistentModelIndex kept(table.index(1, 0));
    table.sort(ExpertTable::hotness, Qt::DescendingOrder);
    std::vector<std::int64_t> units;
    for (int row = 0; row < table.rowCount(); ++row) units.push_back(table.unit_at(row));
    QCOMPARE(units, (std::vector<std::int64_t>{1, 3, 2, 0, 5, 4}));
    QCOMPARE(table.unit_at(kept.row()), 1);
    QCOMPARE(table.row_of(4), 5);
    table.sort(ExpertTable::layer, Qt::AscendingOrder);
    QCOMPARE(table.unit_at(0), 0);
  }

  void conversationsAreKeptApart() {
    ConversationUses uses;
    SnapshotRing ring;
    Snapshot s = six_units();
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

FOVEA_TEST(ExpertTableTest)
#include "expert_table_test.moc"
