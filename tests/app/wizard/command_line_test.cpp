// "Copy as command line": a shell and the commands' own parser read the same request from it.
#include "app/wizard/command_line.h"

#include <CLI/CLI.hpp>
#include <QProcess>

#include "app/commands/loading.h"
#include "app/commands/precision_flags.h"
#include "app/library/stores.h"
#include "app/wizard/model_setups.h"
#include "app/wizard/setup.h"
#include "tests/support/test.h"

using namespace fovea;

Q_DECLARE_METATYPE(fovea::app::Setup)

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

Result<LoadRequest> parsed(const std::vector<std::string>& words) {
  CLI::App program;
  std::string model;
  app::LoadFlags load;
  app::PrecisionFlags precision;
  app::add_model(program, model);
  app::add_context(program, load, "");
  app::add_device(program, load.device);
  app::add_threads(program, load);
  app::add_kv(program, load);
  app::add_precision(program, precision);
  std::vector<const char*> argv{"fovea"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  program.parse(app::arguments_of(static_cast<int>(argv.size()), argv.data()));
  return app::load_request(model, load, precision);
}

}  // namespace

class WizardCommandLineTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void comesBack_data() {
    QTest::addColumn<app::Setup>("setup");
    using enum PolicyKind;
    QTest::newRow("as the file") << app::Setup{.context = 8192};
    QTest::newRow("a card") << app::Setup{.device = "cuda:1", .context = 8192};
    QTest::newRow("a card's budget") << app::Setup{.device = "cuda:0",
                                                   .context = 8192,
                                                   .policy = dynaexq,
                                                   .tiers = {"q4", "q2"},
                                                   .budget_bytes = 12'000'000'000};
    QTest::newRow("small memory") << app::Setup{.context = 2048, .kv = KvType::q8};
    QTest::newRow("exact memory") << app::Setup{.context = 2048, .kv = KvType::f32};
    QTest::newRow("dynaexq") << app::Setup{
        .context = 4096, .policy = dynaexq, .tiers = {"q4", "q2"}, .budget_bytes = std::int64_t{8} << 30};
    QTest::newRow("a budget in bytes") << app::Setup{
        .context = 4096, .policy = dynaexq, .tiers = {"file", "q3"}, .budget_bytes = 187'654'321};
    QTest::newRow("a budget in GB") << app::Setup{
        .context = 1, .policy = static_tiers, .budget_bytes = 20'000'000'000};
    QTest::newRow("static, one tier")
        << app::Setup{.context = 4096, .policy = static_tiers, .tiers = {"q3"}, .budget_bytes = 500'000'000};
    QTest::newRow("offload") << app::Setup{.context = 4096,
                                           .policy = offload,
                                           .tiers = {"q2"},
                                           .budget_bytes = 500'000'000,
                                           .cpu_moe_layers = -1};
    QTest::newRow("offload by number") << app::Setup{
        .context = 4096, .policy = offload, .tiers = {"file"}, .budget_bytes = 1, .cpu_moe_layers = 7};
    QTest::newRow("automatic") << app::Setup{.context = 4096, .policy = automatic, .budget_bytes = 3'000'000};
  }
  void comesBack() {
    QFETCH(app::Setup, setup);
    const tests::TemporaryFolder folder;
    for (const char* name : {"plain.gguf", "with a space.gguf", "it's $HOME; `really` \"so\" \\ *.gguf"}) {
      const std::filesystem::path model = folder.path() / name;
      QFile file(QString::fromStdString(model.string()));
      QVERIFY(file.open(QFile::WriteOnly));
      file.close();
      const LoadRequest asked = app::load_request(model, setup, app::stores_folder());
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
    LoadRequest request;
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
    PlanReport report;
    report.policy = PolicyKind::dynaexq;
    report.plan.parts.experts = {{.name = "file"}, {.name = "q2"}};
    const std::vector<std::string> both{"file", "q2"};
    QVERIFY(app::named({.policy = PolicyKind::automatic}, report) ==
            (app::Setup{.policy = PolicyKind::dynaexq, .tiers = both}));
    QVERIFY(app::named({.policy = PolicyKind::dynaexq}, report) ==
            (app::Setup{.policy = PolicyKind::dynaexq, .tiers = both}));
    const app::Setup chosen{.policy = PolicyKind::dynaexq, .tiers = {"q4", "q2"}};
    QVERIFY(app::named(chosen, report) == chosen);
    QVERIFY(app::named({}, report) == app::Setup{});
    report.policy = PolicyKind::static_tiers;  // the best mix of them
    QVERIFY(app::named({.policy = PolicyKind::automatic}, report) ==
            app::Setup{.policy = PolicyKind::static_tiers});
  }

  // The same setups through the settings file's form.
  void settingsKeepIt_data() { comesBack_data(); }
  void settingsKeepIt() {
    QFETCH(app::Setup, setup);
    if (setup.policy == PolicyKind::automatic) return;  // the wizard names what it means
    const LoadRequest asked = app::load_request("/models/a.gguf", setup, "/stores");
    std::vector<app::ModelSetup> setups;
    app::keep_setup(setups, app::load_request("/models/b.gguf", {.context = 1}, "/stores"));
    app::keep_setup(setups, app::load_request("/models/a.gguf", {.context = 2}, "/stores"));
    app::keep_setup(setups, asked);
    const bool on_card = !setup.device.empty();  // what holds for one device says nothing of the other
    QCOMPARE(setups.size(), std::size_t{on_card ? 3U : 2U});
    LoadRequest opened;
    opened.device = setup.device;
    opened.model = "/models/a.gguf";
    opened.threads = 3;
    opened.precision.stores_folder = "/stores";
    app::apply_setup(setups, opened);
    QVERIFY(app::setup_of(opened) == setup);
    QCOMPARE(opened.threads, 3);
    QCOMPARE(opened.precision.stores_folder, std::filesystem::path("/stores"));
    if (on_card) {
      LoadRequest on_processor;
      on_processor.model = "/models/a.gguf";
      QVERIFY(app::apply_setup(setups, on_processor));
      QCOMPARE(on_processor.context, std::int64_t{2});
    }
    LoadRequest other;
    other.model = "/models/c.gguf";
    other.context = 77;
    app::apply_setup(setups, other);
    QCOMPARE(other.context, std::int64_t{77});
  }
};
FOVEA_TEST(WizardCommandLineTest)

#include "command_line_test.moc"
