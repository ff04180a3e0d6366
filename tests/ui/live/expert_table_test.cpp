#include "ui/live/expert_table.h"

#include <QAbstractItemModelTester>

#include "tests/support/test.h"
#include "tests/ui/live/made_source.h"
#include "ui/language/number_text.h"
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

void show(ExpertTable& table, const Snapshot& snapshot, const UnitChange& change = {}) {
  tests::MadeSource source;
  source.show(snapshot);
  if (change.decision.unit >= 0) source.last[static_cast<std::size_t>(change.decision.unit)] = change;
  table.show(source.numbers(), source.frame(), source.last);
}

}  // namespace

class ExpertTableTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void isAModel() {
    ExpertTable table;
    const QAbstractItemModelTester tester(&table, QAbstractItemModelTester::FailureReportingMode::Fatal);
    Snapshot s = six_units();
    for (int i = 0; i < 3; ++i) {
      s.units[0].uses += 100;
      show(table, s);
      table.sort(i == 0 ? ExpertTable::tokens : ExpertTable::hotness, Qt::DescendingOrder);
    }
    QCOMPARE(table.rowCount(), 6);
    s.layers = 1;
    s.units.resize(3);
    show(table, s);
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
    ShownModel model;
    model.layer_numbers = {4, 9};
    table.set_model(model);
    Snapshot s = six_units();
    s.units[1].tier = 1;
    show(table, s,
         {.seconds_ago = 3,
          .decision = {.unit = 1, .from = 0, .to = 1, .reason = SwapReason::colder, .score = 0.02F},
          .explained = true});
    const auto text = [&](int row, int column) { return table.index(row, column).data().toString(); };
    QCOMPARE(text(1, ExpertTable::layer), QStringLiteral("4"));
    QCOMPARE(text(1, ExpertTable::expert), QStringLiteral("1"));
    QCOMPARE(text(1, ExpertTable::tier), QStringLiteral("2 bits"));
    QCOMPARE(text(1, ExpertTable::tokens), QStringLiteral("50"));
    QCOMPARE(text(1, ExpertTable::last_change), QStringLiteral("3.0 s ago"));
    QVERIFY(text(1, ExpertTable::why).contains(QStringLiteral("gave way")));
    QCOMPARE(text(2, ExpertTable::target), QStringLiteral("4 bits"));
    QCOMPARE(text(3, ExpertTable::layer), QStringLiteral("9"));
    QCOMPARE(text(4, ExpertTable::tier), QStringLiteral("main memory"));
    QCOMPARE(text(5, ExpertTable::tier), QStringLiteral("on disk"));
    QVERIFY(text(3, ExpertTable::last_change).isEmpty());
  }

  // Fovea's policy: what is expected, whom it changes places with, and what that saves.
  void reasonsNameTheOther() {
    ShownModel model;
    model.layer_numbers = {4, 9};
    Snapshot s = six_units();
    const auto said = [&](SwapReason reason, std::int32_t other) {
      return reason_text(model, s,
                         {.seconds_ago = 3,
                          .decision = {.unit = 1,
                                       .from = 1,
                                       .to = 0,
                                       .reason = reason,
                                       .score = 0.125F,
                                       .margin = 0.0031F,
                                       .other = other},
                          .explained = true});
    };
    s.quality.in_nats = true;
    for (const SwapReason reason : {SwapReason::expected, SwapReason::yields}) {
      const QString text = said(reason, 5);
      for (const QString& part : {percent_text(0.125, 1), QStringLiteral("layer 9, expert 2"),
                                  QStringLiteral("0.0031 nats a token")})
        QVERIFY2(text.contains(part), qPrintable(text));
    }
    QVERIFY(said(SwapReason::expected, 5) != said(SwapReason::yields, 5));
    s.quality.in_nats = false;
    QVERIFY(said(SwapReason::expected, -1).contains(QStringLiteral("another one")));
    QVERIFY(said(SwapReason::expected, 5).contains(QStringLiteral("of a token's loss")));
    QVERIFY(said(SwapReason::balanced, -1).contains(QStringLiteral("as the text needs")));
  }

  // Between the card and the processor: whom it changes places with, and no number in a measure that nobody
  // knows.
  void reasonsOfPlacesSayWhoComputes() {
    ShownModel model;
    model.layer_numbers = {4, 9};
    const Snapshot s = six_units();
    const auto said = [&](SwapReason reason, std::uint8_t from, std::uint8_t to) {
      return reason_text(model, s,
                         {.seconds_ago = 3,
                          .decision = {.unit = 1,
                                       .from = from,
                                       .to = to,
                                       .reason = reason,
                                       .score = 0.125F,
                                       .margin = 270000,
                                       .other = 5},
                          .explained = true});
    };
    const QString comes = said(SwapReason::expected, host_tier, 0),
                  goes = said(SwapReason::yields, 0, host_tier);
    for (const QString& text : {comes, goes}) {
      for (const char* part : {"layer 9, expert 2", "on the card", "the processor"})
        QVERIFY2(text.contains(QLatin1String(part)), qPrintable(text));
      QVERIFY2(text.contains(percent_text(0.125, 1)) && !text.contains(QStringLiteral("270")),
               qPrintable(text));
    }
    QVERIFY(comes != goes);
  }

  void sortsAndKeepsTheSelection() {
    ExpertTable table;
    show(table, six_units());
    const QPersistentModelIndex kept(table.index(1, 0));
    table.sort(ExpertTable::hotness, Qt::DescendingOrder);
    std::vector<std::int64_t> units;
    for (int row = 0; row < table.rowCount(); ++row) units.push_back(table.unit_at(row));
    QCOMPARE(units, (std::vector<std::int64_t>{1, 3, 2, 0, 5, 4}));
    QCOMPARE(table.unit_at(kept.row()), 1);
    QCOMPARE(table.row_of(4), 5);
    table.sort(ExpertTable::layer, Qt::AscendingOrder);
    QCOMPARE(table.unit_at(0), 0);
    // The newest change first; what never changed last.
    tests::MadeSource source;
    source.show(six_units());
    source.last[3] = {.seconds_ago = 5, .decision = {.unit = 3}};
    source.last[2] = {.seconds_ago = 1, .decision = {.unit = 2}};
    table.show(source.numbers(), source.frame(), source.last);
    table.sort(ExpertTable::last_change, Qt::DescendingOrder);
    QCOMPARE(table.unit_at(0), 2);
    QCOMPARE(table.unit_at(1), 3);
  }
};

FOVEA_TEST(ExpertTableTest)
#include "expert_table_test.moc"
