// fovea trace --report: what it prints of traces that the program recorded. The model is tiny, with two
// layers of four experts in F32, of which a token uses two, and whose lower tier is BF16.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/test.h"

#include "process.h"

namespace fs = std::filesystem;
using fovea::tests::golden;
using fovea::tests::Outcome;
using fovea::tests::run;
using nlohmann::json;
using Arguments = std::vector<std::string>;

class TraceReportTest : public QObject {
  Q_OBJECT

 private:
  // Its path.
  std::string recorded(const std::string& name, const std::string& text, const Arguments& more = {}) {
    const fs::path file = folder_.path() / (name + ".txt"), trace = folder_.path() / (name + ".trace");
    std::ofstream(file) << text;
    Arguments arguments{"trace", golden("chat"), file.string(), "--out", trace.string(), "--decode"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run(arguments, {.environment = {{"FOVEA_DATA", folder_.path().string()}}});
    return outcome.code == 0 ? trace.string() : outcome.err;
  }

  fovea::tests::TemporaryFolder folder_;
  const std::string numbers_ = "one two three four five six seven eight nine ten",
                    letters_ = "a b c d e f g h i j k l m n o p q r s t u v w x y z";

 private Q_SLOTS:
  void tellsWhatTheRoutersDid() {
    const std::string numbers = recorded("numbers", numbers_), letters = recorded("letters", letters_);
    const Outcome outcome = run({"trace", "--report", numbers, letters, "--reference", numbers, "--json"});
    // The other text's choices cannot be compared.
    QCOMPARE(outcome.code, 1);
    QVERIFY2(outcome.err.contains("letters.trace: it covers other tokens than"), outcome.err.c_str());
    const Outcome done = run({"trace", "--report", numbers, letters, "--hottest", "1", "--json"});
    QVERIFY2(done.code == 0, done.err.c_str());
    const json report = json::parse(done.out);
    const std::string help = run({"trace", "--help"}).out;
    for (const json& part : {report, report["traces"][0], report["traces"][0]["layers"][0],
                             report["overlaps"][0], report["specialisation"][0], report["preferred"][0]}) {
      for (const auto& [key, value] : part.items()) QVERIFY2(help.contains(key), key.c_str());
    }
    QCOMPARE(report["experts_used"], 2);
    QCOMPARE(report["hottest"], 1);
    QCOMPARE(report["traces"].size(), std::size_t{2});
    QCOMPARE(report["traces"][1]["name"], "letters");
    for (const json& trace : report["traces"]) {
      QCOMPARE(trace["layers"].size(), std::size_t{2});
      for (const json& layer : trace["layers"]) {
        std::int64_t uses = 0;
        for (const json& each : layer["uses"]) uses += each.get<std::int64_t>();
        QCOMPARE(uses, 2 * trace["tokens"].get<std::int64_t>());
      }
    }
    QCOMPARE(report["overlaps"].size(), std::size_t{1});
    QCOMPARE(report["overlaps"][0]["layers"][1]["hottest_by_chance"], 0.25);
    QCOMPARE(report["specialisation"].size(), std::size_t{2});
    QCOMPARE(report["preferred"].size(), std::size_t{6});
    QVERIFY(!report.contains("fidelity"));
    const Outcome words = run({"trace", "--report", numbers, letters});
    for (const char* said :
         {"specialisation", "numbers and letters:", "letters prefers expert", "balance loss"})
      QVERIFY2(words.out.contains(said), words.out.c_str());
  }

  // Of the same text: all choices equal themselves, nearly all those with weights rounded to BF16, and the
  // tiers are really other ones.
  void fidelityOfTiers() {
    const fs::path map = folder_.path() / "low.map";
    std::ofstream(map) << "default bf16\n";
    const std::string whole = recorded("whole", numbers_);
    const std::string low =
        recorded("low", numbers_, {"--policy", "static", "--tiers", "file,bf16", "--tier-map", map.string()});
    const Outcome done = run({"trace", "--report", whole, low, "--reference", whole, "--json"});
    QVERIFY2(done.code == 0, done.err.c_str());
    const json fidelity = json::parse(done.out)["fidelity"];
    QCOMPARE(fidelity[0]["share"], 1.0);
    QCOMPARE(fidelity[0]["whole_sets"], 1.0);
    QCOMPARE(fidelity[1]["name"], "low");
    QCOMPARE(fidelity[1]["layers"].size(), std::size_t{2});
    // What the first router sees no expert has touched.
    QCOMPARE(fidelity[1]["layers"][0]["share"], 1.0);
    const double share = fidelity[1]["share"];
    QVERIFY2(share > 0.8 && share > fidelity[1]["by_chance"].get<double>(), done.out.c_str());
    const auto bytes = [](const std::string& path) {
      std::ifstream file(path, std::ios::binary);
      return std::string(std::istreambuf_iterator<char>(file), {});
    };
    QVERIFY(bytes(whole) != bytes(low));
    const Outcome words = run({"trace", "--report", whole, "--reference", whole});
    QVERIFY2(words.out.starts_with("whole chooses as whole: 100.0 % of the experts"), words.out.c_str());
    QVERIFY2(!run({"trace", "--report", whole, low, "--reference", whole}).out.contains("specialisation"),
             "of one text");
  }

  // Two of one name are told apart by their paths.
  void namesAreTheFiles() {
    const std::string one = recorded("same", numbers_);
    fs::create_directory(folder_.path() / "other");
    const std::string two = (folder_.path() / "other" / "same.trace").string();
    fs::copy_file(one, two);
    const Outcome done = run({"trace", "--report", one, two, "--json"});
    QVERIFY2(done.code == 0, done.err.c_str());
    const json report = json::parse(done.out);
    QCOMPARE(report["traces"][0]["name"], one);
    QCOMPARE(report["traces"][1]["name"], two);
  }
};

FOVEA_TEST(TraceReportTest)
#include "trace_report_test.moc"
