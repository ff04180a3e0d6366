// Damaged files given to the program: one line and exit code 1, whatever they hold.
#include <QRandomGenerator>
#include <fstream>
#include <regex>

#include "tests/support/test.h"

#include "process.h"

using fovea::tests::content;
using fovea::tests::golden;
using fovea::tests::Outcome;
using fovea::tests::run;

class HostileInputTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void cutOffGguf_data() {
    QTest::addColumn<int>("bytes");
    const auto whole = static_cast<int>(content(golden("models/llama-0-gguf.gguf")).size());
    for (const int bytes : {0, 1, 4, 8, 16, 24, 31, 100, 400, whole / 2, whole - 1}) {
      QTest::addRow("%d bytes", bytes) << bytes;
    }
  }
  void cutOffGguf() {
    QFETCH(int, bytes);
    const fovea::tests::TemporaryFolder folder;
    const std::string file = folder.path() / "cut.gguf";
    std::ofstream(file, std::ios::binary)
        << content(golden("models/llama-0-gguf.gguf")).substr(0, static_cast<std::size_t>(bytes));
    for (const std::vector<std::string>& arguments : {std::vector<std::string>{"inspect", file},
                                                      {"tokenize", file, "--text", "x"},
                                                      {"logits", file, "--tokens", "1", "--out", "/dev/null"},
                                                      {"chat", file, "-p", "x"}}) {
      refused(run(arguments), "cut.gguf");
    }
  }

  void mutatedModels() {
    const unsigned seed = fovea::tests::seed();
    QRandomGenerator random(seed);
    const std::string whole = content(golden("models/llama-0-gguf.gguf"));
    const fovea::tests::TemporaryFolder folder;
    const std::string file = folder.path() / "mutated.gguf";
    for (int round = 0; round < fovea::tests::rounds(20); ++round) {
      std::string bytes = whole;
      for (int i = 0; i < 3; ++i) {
        bytes[random.bounded(1200U) % bytes.size()] = static_cast<char>(random.bounded(256));
      }
      std::ofstream(file, std::ios::binary) << bytes;
      const Outcome outcome = run({"inspect", file, "--json"});
      const bool fine =
          outcome.code == 0 || (outcome.code == 1 && std::ranges::count(outcome.err, '\n') == 1);
      QVERIFY2(fine, qPrintable(QStringLiteral("code %1; FOVEA_TEST_SEED=%2, round %3")
                                    .arg(outcome.code)
                                    .arg(seed)
                                    .arg(round)));
    }
  }

  void foldersWithOddFiles_data() {
    QTest::addColumn<QByteArray>("config");
    QTest::newRow("empty") << QByteArray();
    QTest::newRow("no JSON") << QByteArray("{");
    QTest::newRow("a list") << QByteArray("[]");
    QTest::newRow("nothing in it") << QByteArray("{}");
    QTest::newRow("unknown architecture") << QByteArray(R"({"model_type": "mamba"})");
    QTest::newRow("absurd sizes") << QByteArray(
        R"({"model_type": "llama", "hidden_size": 1e300, "num_hidden_layers": -1})");
    QTest::newRow("deep") << QByteArray(20000, '[');
    QTest::newRow("control characters") << QByteArray("{\"model_type\": \"\\u001b[31mred\\nline\"}");
  }
  void foldersWithOddFiles() {
    QFETCH(QByteArray, config);
    const fovea::tests::TemporaryFolder folder;
    std::ofstream(folder.path() / "config.json", std::ios::binary) << config.toStdString();
    const Outcome outcome = run({"inspect", folder.path()});
    refused(outcome, "");
    QVERIFY(!outcome.err.contains('\033'));
  }

  void brokenTemplates_data() {
    QTest::addColumn<QByteArray>("source");
    QTest::newRow("not closed") << QByteArray("a\n{% if x %}");
    QTest::newRow("unknown filter") << QByteArray("{{ 1 | nosuchfilter }}");
    QTest::newRow("endless") << QByteArray("{% for i in range(100000000000) %}x{% endfor %}");
    QTest::newRow("deep") << QByteArray("{{ ") + QByteArray(50000, '(') + QByteArray("1 }}");
    QTest::newRow("raises") << QByteArray("{{ raise_exception('two\nlines') }}");
  }
  void brokenTemplates() {
    QFETCH(QByteArray, source);
    const fovea::tests::TemporaryFolder folder;
    const std::string file = folder.path() / "t.jinja";
    std::ofstream(file, std::ios::binary) << source.toStdString();
    refused(run({"template", "--template", file, "--messages", "-"}, {.input = "[]"}), "");
  }

 private:
  static void refused(const Outcome& outcome, const std::string& names) {
    QVERIFY2(outcome.code == 1, std::to_string(outcome.code).c_str());
    QCOMPARE(outcome.out, std::string());
    QVERIFY2(std::ranges::count(outcome.err, '\n') == 1, outcome.err.c_str());
    QVERIFY2(outcome.err.contains(names), outcome.err.c_str());
    // It ends with what to do.
    QVERIFY2(std::regex_search(outcome.err, std::regex(R"(: .*\. [A-Z.][^\n]+\n$)")), outcome.err.c_str());
  }
};
FOVEA_TEST(HostileInputTest)

#include "hostile_input_test.moc"
