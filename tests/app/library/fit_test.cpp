// How models fit: the planner decides, and the words tell its numbers.
#include "app/library/fit.h"

#include "app/library/fit_words.h"
#include "engine/api/engine.h"
#include "tests/support/test.h"
#include "ui/language/number_text.h"

using namespace fovea;
using namespace fovea::app;
using tests::golden;

namespace {

constexpr std::int64_t gibibyte = std::int64_t{1} << 30;

struct Card {
  LoadOptions room;
  MachineFacts machine;
};
Card card(std::int64_t gibibytes) {
  Card card;
  card.room.precision.budget_bytes = card.machine.device_memory_bytes = gibibytes * gibibyte;
  return card;
}

LoadOptions room(std::int64_t budget_bytes) {
  return {.context = 200, .precision = {.budget_bytes = budget_bytes}};
}

// What `fovea plan --shape SHAPE --device-memory …GiB` says.
std::int64_t high_of(const std::string& shape, std::int64_t gibibytes) {
  Card asked = card(gibibytes);
  asked.room.precision.policy = PolicyKind::automatic;
  const auto report = plan_shape({.name = shape}, asked.room, asked.machine);
  return report ? report->plan.high_per_layer : -1;
}

}  // namespace

class FitTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // The kinds of docs/swaps.md; the numbers of the planner.
  void publishedModelsOnCards_data() {
    QTest::addColumn<QByteArray>("shape");
    QTest::addColumn<int>("gibibytes");
    QTest::addColumn<int>("kind");
    QTest::addColumn<int>("layers_elsewhere");
    const auto row = [](const char* shape, int gibibytes, FitKind kind, int layers) {
      QTest::addRow("%s on %d", shape, gibibytes)
          << QByteArray(shape) << gibibytes << static_cast<int>(kind) << layers;
    };
    row("qwen3-30b-a3b", 24, FitKind::lower_precision, 0);
    row("qwen3-30b-a3b", 48, FitKind::lower_precision, 0);
    row("qwen3-30b-a3b", 80, FitKind::fits, 0);
    row("qwen3-next-80b-a3b", 24, FitKind::experts_elsewhere, 6);
    row("gpt-oss-120b", 24, FitKind::experts_elsewhere, 15);
    row("qwen3-30b-a3b", 4, FitKind::does_not_fit, -1);
  }
  void publishedModelsOnCards() {
    QFETCH(QByteArray, shape);
    QFETCH(int, gibibytes);
    QFETCH(int, kind);
    QFETCH(int, layers_elsewhere);
    const auto fit = fit_of_shape(shape.toStdString(), card(gibibytes).room, card(gibibytes).machine);
    FOVEA_VERIFY(fit);
    QCOMPARE(static_cast<int>(fit->kind), kind);
    QVERIFY(!fit->is_estimate && fit->on_card);
    if (fit->kind == FitKind::lower_precision)
      QCOMPARE(fit->report.plan.high_per_layer, high_of(shape.toStdString(), gibibytes));
    if (layers_elsewhere >= 0) QCOMPARE(fit->report.cpu_moe_layers, layers_elsewhere);
    if (fit->kind == FitKind::does_not_fit) {
      QVERIFY(fit->min_bytes > fit->budget_bytes);
    } else {
      QVERIFY(fit->report.plan.fits && fit->report.plan.total_bytes <= gibibytes * gibibyte);
    }
  }

  // Walking the budget down, the answer only becomes worse, and each edge is where the fit says it is.
  void edges_data() {
    QTest::addColumn<QString>("model");
    for (const char* model : {"qwen3_moe-0", "qwen3_moe-0-gguf.gguf", "llama-0", "mixtral-1-split-gguf.gguf"})
      QTest::newRow(model) << QString(model);
  }
  void edges() {
    QFETCH(QString, model);
    const auto path = golden("models") / model.toStdString();
    const auto at = [&path](std::int64_t budget) { return fit_of_model(path, room(budget)); };
    const auto plenty = at(gibibyte);
    FOVEA_VERIFY(plenty);
    QCOMPARE(plenty->kind, FitKind::fits);
    QCOMPARE(plenty->precision.policy, PolicyKind::none);
    QVERIFY(plenty->needed_bytes > 0 && plenty->needed_bytes < gibibyte);
    const auto exact = at(plenty->needed_bytes);
    FOVEA_VERIFY(exact);
    QCOMPARE(exact->kind, FitKind::fits);
    const auto less = at(plenty->needed_bytes - 1);
    FOVEA_VERIFY(less);
    QVERIFY(less->kind != FitKind::fits);
    const auto little = at(1000);
    FOVEA_VERIFY(little);
    QCOMPARE(little->kind, FitKind::does_not_fit);
    const auto least = at(little->min_bytes);
    FOVEA_VERIFY(least);
    QVERIFY(least->kind != FitKind::does_not_fit);
    const auto below = at(little->min_bytes - 1);
    FOVEA_VERIFY(below);
    QCOMPARE(below->kind, FitKind::does_not_fit);
  }

  // What the fit says to open the model with does open it, within the budget.
  void whatItSaysOpensTheModel_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<int>("kind");
    QTest::newRow("experts at lower tiers")
        << QStringLiteral("experts.gguf") << static_cast<int>(FitKind::lower_precision);
    QTest::newRow("as it is") << QStringLiteral("qwen3_moe-0-gguf.gguf") << static_cast<int>(FitKind::fits);
  }
  void whatItSaysOpensTheModel() {
    QFETCH(QString, model);
    QFETCH(int, kind);
    const auto path = golden("models") / model.toStdString();
    const auto plenty = fit_of_model(path, room(gibibyte));
    FOVEA_VERIFY(plenty);
    const bool is_lower = kind != static_cast<int>(FitKind::fits);
    const std::int64_t budget = is_lower ? plenty->needed_bytes - 1 : gibibyte;
    const auto fit = fit_of_model(path, room(budget));
    FOVEA_VERIFY(fit);
    QCOMPARE(static_cast<int>(fit->kind), kind);
    const tests::TemporaryFolder stores;
    LoadOptions load{.model = path, .context = 200, .threads = 1, .need_tokenizer = false};
    load.precision = fit->precision;
    load.precision.stores_folder = stores.path();
    const auto engine = Engine::load(load);
    FOVEA_VERIFY(engine);
    if (is_lower) QVERIFY((*engine)->precision()->accounted_bytes <= budget);
  }

  void errorsAreTheFiles() {
    QVERIFY(!fit_of_model("/no/such.gguf", card(24).room, card(24).machine));
    QVERIFY(!fit_of_shape("gpt-5", card(24).room, card(24).machine));
  }

  void estimates() {
    const auto small = estimate_fit("some-7b-Q4_K_M", 4 * gibibyte, card(24).room, card(24).machine);
    QCOMPARE(small.kind, FitKind::fits);
    QVERIFY(small.is_estimate);
    const auto large = estimate_fit("some-70b-Q8_0", 70 * gibibyte, card(24).room, card(24).machine);
    QCOMPARE(large.kind, FitKind::does_not_fit);
    QVERIFY(large.min_bytes > 70 * gibibyte);
    QVERIFY(fit_reason(large).contains(QStringLiteral("Estimated from")));
    // A name that the planner knows.
    const auto known =
        estimate_fit("Qwen3_30B-A3B-Instruct-2507-Q8_0", 31 * gibibyte, card(24).room, card(24).machine);
    QCOMPARE(known.kind, FitKind::lower_precision);
    QVERIFY(known.is_estimate);
    QCOMPARE(known.report.plan.high_per_layer, high_of("qwen3-30b-a3b", 24));
  }

  void thisMachineHasMemory() {
    const auto machine = this_machine();
    FOVEA_VERIFY(machine);
    QVERIFY(machine->options.precision.budget_bytes > 0);
    const auto more = this_machine(gibibyte);
    FOVEA_VERIFY(more);
    QVERIFY(more->options.precision.budget_bytes > 0);
  }

  void words() {
    const auto lower = fit_of_shape("qwen3-30b-a3b", card(24).room, card(24).machine);
    FOVEA_VERIFY(lower);
    QCOMPARE(fit_words(*lower), QStringLiteral("Fits with experts at lower precision"));
    const std::int64_t high = lower->report.plan.parts.experts.front().units;
    QVERIFY(high > 0 && high < 6144);
    const QString tiers = QStringLiteral("%1 of %2 experts at the file's precision, the others at 4 bits")
                              .arg(ui::count_text(high), ui::count_text(6144));
    QVERIFY2(fit_reason(*lower).contains(tiers), qPrintable(fit_reason(*lower)));
    auto three = *lower;
    auto& experts = three.report.plan.parts.experts;
    QCOMPARE(experts.size(), std::size_t{3});
    experts[1].units -= 100;
    experts[2].units += 100;
    QVERIFY2(fit_reason(three).contains(QStringLiteral("experts at the file's precision, %1 at 4 bits, the "
                                                       "others at 2 bits")
                                            .arg(ui::count_text(experts[1].units))),
             qPrintable(fit_reason(three)));
    const auto away = fit_of_shape("gpt-oss-120b", card(24).room, card(24).machine);
    FOVEA_VERIFY(away);
    QCOMPARE(fit_words(*away), QStringLiteral("Fits with experts on the processor"));
    QVERIFY(fit_reason(*away).contains(QStringLiteral("15 layers")) ||
            fit_reason(*away).contains(QStringLiteral("15 layer(s)")));
    const auto none = fit_of_shape("qwen3-30b-a3b", card(4).room, card(4).machine);
    FOVEA_VERIFY(none);
    QCOMPARE(fit_words(*none), QStringLiteral("Does not fit"));
    QVERIFY(fit_number(*none).contains(ui::bytes_text(none->min_bytes)));
    const auto all = fit_of_shape("qwen3-30b-a3b", card(80).room, card(80).machine);
    FOVEA_VERIFY(all);
    const Plan& plan = all->report.plan;  // with 1 GiB kept free, which the model does not take
    QCOMPARE(plan.parts.safety, gibibyte);
    QVERIFY(fit_number(*all).startsWith(ui::bytes_text(plan.total_bytes - gibibyte)));
  }
};
FOVEA_TEST(FitTest)

#include "fit_test.moc"
