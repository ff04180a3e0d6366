// "Copy as command line": a shell and the commands' own parser read the same request from it.
#include "app/advisor/command_line.h"

#include <CLI/CLI.hpp>
#include <QProcess>

#include "app/advisor/model_setups.h"
#include "app/advisor/setup.h"
#include "app/commands/loading.h"
#include "app/commands/precision_flags.h"
#include "app/library/stores.h"
#include "tests/support/test.h"

using namespace fovea;

Q_DECLARE_METATYPE(fovea::LoadOptions)

namespace {

// The words that a shell makes of a line.
std::vector<std::string> words_of(const std::string& line) {
  QProcess shell;
  shell.start(QStringLiteral("/bin/sh"),
              {QStringLiteral("-c"),
               QStringLiteral("fovea() { printf '%s\\n' \"$@\"; }; ") + QString::fromStdString(line)});
  shell.waitForFinished();
  std::vector<std::string> words;
  for (const QByteArray& word : shell.readAllStandardOutput().split('\n'))
    if (!word.isEmpty()) words.push_back(word.toStdString());
  return words;
}

Result<LoadOptions> parsed(const std::vector<std::string>& words) {
  CLI::App program;
  std::string model;
  LoadOptions load;
  app::add_model(program, model);
  app::add_context(program, load, "");
  app::add_device(program, load.device);
  app::add_threads(program, load);
  app::add_kv(program, load);
  app::add_precision(program, load.precision);
  std::vector<const char*> argv{"fovea"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  program.parse(app::arguments_of(static_cast<int>(argv.size()), argv.data()));
  return app::load_options(model, load);
}

// What the wizard's memory page sets, in one line.
struct Set {
  std::string device = {};
  std::int64_t context = 0;
  KvType kv = KvType::f16;
  PolicyKind policy = PolicyKind::none;
  std::vector<std::string> tiers = {};
  std::int64_t budget_bytes = 0;
  std::int64_t cpu_moe_layers = 0;
  double nats_per_ms = 0;
};
LoadOptions options(const Set& set) {
  LoadOptions options{.context = set.context, .kv = set.kv, .device = set.device};
  options.precision.policy = set.policy;
  options.precision.tiers = set.tiers;
  options.precision.budget_bytes = set.budget_bytes;
  options.precision.offload.cpu_moe_layers = set.cpu_moe_layers;
  options.precision.nats_per_ms = set.nats_per_ms;
  return options;
}

}  // namespace

class WizardCommandLineTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void comesBack_data() {
    QTest::addColumn<LoadOptions>("setup");
    using enum PolicyKind;
    QTest::newRow("as the file") << options({.context = 8192});
    QTest::newRow("a card") << options({.device = "cuda:1", .context = 8192});
    QTest::newRow("a card's budget") << options({.device = "cuda:0",
                                                 .context = 8192,
                                                 .policy = dynaexq,
                                                 .tiers = {"q4", "q2"},
                                                 .budget_bytes = 12'000'000'000});
    QTest::newRow("small memory") << options({.context = 2048, .kv = KvType::q8});
    QTest::newRow("exact memory") << options({.context = 2048, .kv = KvType::f32});
    QTest::newRow("dynaexq") << options(
        {.context = 4096, .policy = dynaexq, .tiers = {"q4", "q2"}, .budget_bytes = std::int64_t{8} << 30});
    QTest::newRow("a budget in bytes") << options(
        {.context = 4096, .policy = dynaexq, .tiers = {"file", "q3"}, .budget_bytes = 187'654'321});
    QTest::newRow("a budget in GB") << options(
        {.context = 1, .policy = static_tiers, .budget_bytes = 20'000'000'000});
    QTest::newRow("static, one tier")
        << options({.context = 4096, .policy = static_tiers, .tiers = {"q3"}, .budget_bytes = 500'000'000});
    QTest::newRow("offload") << options({.context = 4096,
                                         .policy = offload,
                                         .tiers = {"q2"},
                                         .budget_bytes = 500'000'000,
                                         .cpu_moe_layers = -1});
    QTest::newRow("offload by number") << options(
        {.context = 4096, .policy = offload, .tiers = {"file"}, .budget_bytes = 1, .cpu_moe_layers = 7});
    for (const double worth : {nats_per_ms_balanced, nats_per_ms_fast, 0.0025})
      QTest::addRow("time is worth %g", worth) << options({.context = 4096,
                                                           .policy = fovea,
                                                           .tiers = {"q4", "q2"},
                                                           .budget_bytes = 3'000'000,
                                                           .nats_per_ms = worth});
    QTest::newRow("automatic") << options({.context = 4096, .policy = automatic, .budget_bytes = 3'000'000});
  }
  void comesBack() {
    QFETCH(LoadOptions, setup);
    const tests::TemporaryFolder folder;
    for (const char* name : {"plain.gguf", "with a space.gguf", "it's $HOME; `really` \"so\" \\ *.gguf"}) {
      const std::filesystem::path model = folder.path() / name;
      QFile file(QString::fromStdString(model.string()));
      QVERIFY(file.open(QFile::WriteOnly));
      file.close();
      const LoadOptions asked = app::load_options(model, setup, app::stores_folder());
      const std::string line = app::command_line(app::arguments_for(model.string(), asked));
      const auto back = parsed(words_of(line));
      FOVEA_VERIFY(back);
      QCOMPARE(back->model, model);
      QCOMPARE(back->threads, 0);
      QCOMPARE(back->precision.stores_folder, asked.precision.stores_folder);
      QVERIFY2(app::setup_of(*back) == setup, line.c_str());
    }
  }

  void looksAsOneWouldWriteIt() {
    LoadOptions request;
    request.context = 4096;
    request.precision.policy = PolicyKind::dynaexq;
    request.precision.tiers = {"q4", "q2"};
    request.precision.budget_bytes = std::int64_t{8} << 30;
    QCOMPARE(app::command_line(app::arguments_for("demo", request)),
             std::string("fovea demo --context 4096 --policy dynaexq --tiers q4,q2 --budget 8GiB"));
    QCOMPARE(app::arguments_for("-x", {}).front(), std::string("./-x"));
  }

  // A page has a choice for each policy with its tiers: what somebody left to the planner is one of them.
  void whatIsLeftToThePlannerIsNamed() {
    LoadPlan report;
    report.options.precision.policy = PolicyKind::dynaexq;
    report.plan.parts.experts = {{.name = "file"}, {.name = "q2"}};
    const std::vector<std::string> both{"file", "q2"};
    const auto named = [&](const Set& set) { return app::named(options(set), report); };
    QVERIFY(named({.policy = PolicyKind::automatic}) ==
            options({.policy = PolicyKind::dynaexq, .tiers = both}));
    QVERIFY(named({.policy = PolicyKind::dynaexq}) ==
            options({.policy = PolicyKind::dynaexq, .tiers = both}));
    const Set chosen{.policy = PolicyKind::dynaexq, .tiers = {"q4", "q2"}};
    QVERIFY(named(chosen) == options(chosen));
    QVERIFY(named({}) == LoadOptions{});
    report.options.precision.policy = PolicyKind::static_tiers;  // the best mix of them
    QVERIFY(named({.policy = PolicyKind::automatic}) == options({.policy = PolicyKind::static_tiers}));
  }

  // The same setups through the settings file's form.
  void settingsKeepIt_data() { comesBack_data(); }
  void settingsKeepIt() {
    QFETCH(LoadOptions, setup);
    if (setup.precision.policy == PolicyKind::automatic) return;  // the wizard names what it means
    const LoadOptions asked = app::load_options("/models/a.gguf", setup, "/stores");
    std::vector<LoadOptions> setups;
    app::keep_setup(setups, app::load_options("/models/b.gguf", options({.context = 1}), "/stores"));
    app::keep_setup(setups, app::load_options("/models/a.gguf", options({.context = 2}), "/stores"));
    app::keep_setup(setups, asked);
    const bool on_card = !setup.device.empty();  // what holds for one device says nothing of the other
    QCOMPARE(setups.size(), std::size_t{on_card ? 3U : 2U});
    LoadOptions opened;
    opened.device = setup.device;
    opened.model = "/models/a.gguf";
    opened.threads = 3;
    opened.precision.stores_folder = "/stores";
    app::apply_setup(setups, opened);
    QVERIFY(app::setup_of(opened) == setup);
    QCOMPARE(opened.threads, 3);
    QCOMPARE(opened.precision.stores_folder, std::filesystem::path("/stores"));
    if (on_card) {
      LoadOptions on_processor;
      on_processor.model = "/models/a.gguf";
      QVERIFY(app::apply_setup(setups, on_processor));
      QCOMPARE(on_processor.context, std::int64_t{2});
    }
    LoadOptions other;
    other.model = "/models/c.gguf";
    other.context = 77;
    app::apply_setup(setups, other);
    QCOMPARE(other.context, std::int64_t{77});
  }
};
FOVEA_TEST(WizardCommandLineTest)

#include "command_line_test.moc"
