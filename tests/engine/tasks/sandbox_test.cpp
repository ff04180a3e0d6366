#include <cstdlib>
#include <fstream>
#include <iterator>

#include "engine/api/tasks.h"
#include "engine/tasks/catalogue.h"
#include "engine/tasks/sandbox.h"
#include "tests/support/test.h"

using fovea::ErrorKind;
using fovea::tasks::Sandbox;

class SandboxTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void programsPassOrFail_data() {
    QTest::addColumn<std::string>("program");
    QTest::addColumn<bool>("passes");
    const auto row = [](const char* name, const char* program, bool passes) {
      QTest::newRow(name) << std::string(program) << passes;
    };
    row("sum", "assert sum([1, 2]) == 3", true);
    row("wrong", "assert sum([1, 2]) == 4", false);
    row("no program", "def f(:", false);
    row("leaves early", "import sys\nsys.exit(0)\nassert False", false);
    row("leaves at once", "import os\nos._exit(0)", false);
    row("prints much", "for i in range(100000): print(i)", true);
    row("reads nothing", "import sys\nassert sys.stdin.read() == ''", true);
    row("network", "import socket\nsocket.create_connection(('127.0.0.1', 9), 1)", false);
    row("only lo", "import socket\nassert [n for _, n in socket.if_nameindex()] == ['lo']", true);
    row("files", "import os\nassert not os.path.exists('/root') and not os.path.exists('/etc/passwd')", true);
    row("writes outside", "open('/usr/fovea-was-here', 'w')", false);
    row("writes inside", "open('/tmp/a', 'w').write('x')", true);
    row("writes too much", "open('/tmp/a', 'wb').write(b'x' * (20 << 20))", false);
    row("memory", "b'x' * (2 << 30)", false);
    row("environment", "import os\nassert 'HOME' not in os.environ", true);
    row("alone", "import os\nassert len([p for p in os.listdir('/proc') if p.isdigit()]) <= 3", true);
    row("processor", "while True: pass", false);
  }
  void programsPassOrFail() {
    QFETCH(std::string, program);
    QFETCH(bool, passes);
    const auto sandbox = Sandbox::open();
    if (!sandbox) QSKIP("bubblewrap cannot start here");
    const auto found = sandbox->passes(program, {});
    FOVEA_VERIFY(found);
    QCOMPARE(*found, passes);
    QVERIFY(!std::filesystem::exists("/usr/fovea-was-here"));
  }

  void aProgramIsStopped() {
    const auto sandbox = Sandbox::open();
    if (!sandbox) QSKIP("bubblewrap cannot start here");
    std::stop_source stop;
    stop.request_stop();
    const auto found = sandbox->passes("while True: pass", stop.get_token());
    QVERIFY(!found);
    QCOMPARE(found.error().kind, ErrorKind::cancelled);
  }

  void withoutBubblewrapItIsRefused() {
    const QByteArray path = qgetenv("PATH");
    qputenv("PATH", "/no/such/folder");
    const auto sandbox = Sandbox::open();
    qputenv("PATH", path);
    QVERIFY(!sandbox);
    QCOMPARE(sandbox.error().kind, ErrorKind::unsupported);
    QVERIFY(sandbox.error().message().contains("bubblewrap"));
  }

  // A right and a wrong answer to a problem in each data set's form.
  void answersAreRunAsTheTaskSays() {
    const auto sandbox = Sandbox::open();
    if (!sandbox) QSKIP("bubblewrap cannot start here");
    const auto task = [](const std::string& name) {
      const auto& all = fovea::tasks::catalogue();
      return *std::ranges::find(all, name, [](const auto& each) { return each.info.name; });
    };
    const nlohmann::ordered_json humaneval = {{"prompt", "def twice(x):\n"},
                                              {"test", "def check(f):\n    assert f(2) == 4\n"},
                                              {"entry_point", "twice"}};
    const nlohmann::ordered_json mbpp = {{"tests", "assert twice(2) == 4\nassert twice(0) == 0"}};
    const auto passes = [&](const char* name, const auto& fields, const char* answer) {
      return sandbox->passes(task(name).program(fields, answer), {}).value();
    };
    QVERIFY(passes("humaneval", humaneval, "    return 2 * x\n"));
    QVERIFY(!passes("humaneval", humaneval, "    return x\n"));
    QVERIFY(passes("mbpp_plus", mbpp, "def twice(x):\n  return 2 * x\n"));
    QVERIFY(!passes("mbpp_plus", mbpp, "def twice(x):\n  return x + 2\n"));
  }

  void codeIsRunOnlyWhereItIsAllowed() {
    const fovea::tests::TemporaryFolder folder;
    std::filesystem::create_directories(folder.path() / "humaneval");
    std::ofstream(folder.path() / "humaneval/HumanEval.jsonl")
        << R"({"prompt": "def one():\n", "test": "def check(f):\n    assert f() == 1\n", "entry_point": "one", )"
        << R"("canonical_solution": "    return 1\n"})" << "\n";
    const auto engine = fovea::Engine::load(
        {.model = fovea::tests::golden("chat"), .context = 512, .kv = fovea::KvType::f32, .threads = 2});
    FOVEA_VERIFY(engine);
    fovea::TaskSettings settings{.tasks = {"humaneval"}, .data = folder.path(), .max_tokens = 8};
    const auto refused = fovea::run_tasks(**engine, settings);
    QVERIFY(!refused && refused.error().message().contains("--allow-code"));
    if (!Sandbox::open()) QSKIP("bubblewrap cannot start here");
    settings.run_code = true;
    const auto results = fovea::run_tasks(**engine, settings);
    FOVEA_VERIFY(results);
    QCOMPARE(results->outcomes.front().values.at("pass@1"), std::vector<double>{0});
    QCOMPARE(results->outcomes.front().log_likelihoods.size(), std::size_t{1});
    QCOMPARE(fovea::task_scores(results->outcomes).front().metric, std::string("pass@1"));
  }
};

FOVEA_TEST(SandboxTest)
#include "sandbox_test.moc"
