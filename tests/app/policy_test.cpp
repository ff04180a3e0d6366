// chat, perplexity and bench under a policy: what they tell, what they log, and what they refuse. The model
// is tiny, with two layers of four experts in F32, whose lower tier is BF16.
#include <cstdint>
#include <cstdlib>
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
Q_DECLARE_METATYPE(Arguments)

namespace {

const std::string model = golden("chat");
Arguments joined(Arguments a, const Arguments& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

class PolicyTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    folder_ = std::make_unique<fovea::tests::TemporaryFolder>();
    text_ = folder_->path() / "text";
    std::ofstream text(text_);
    for (int i = 0; i < 80; ++i) text << "one two three four " << i << ' ';
  }

  // The keys are there and in --help, whichever command ran.
  void tellsWhatThePolicyDid_data() {
    QTest::addColumn<Arguments>("arguments");
    QTest::newRow("chat") << Arguments{"chat",   model, "-p",     "one two three", "--context",    "64",
                                       "--seed", "7",   "--temp", "1.5",           "--max-tokens", "36"};
    QTest::newRow("perplexity") << Arguments{"perplexity", model, "TEXT",    "--context", "64",
                                             "--chunks",   "3",   "--chunk", "4"};
    QTest::newRow("trace") << Arguments{"trace", model,      "TEXT", "--out",   "/dev/null", "--context",
                                        "64",    "--tokens", "192",  "--chunk", "4"};
    QTest::newRow("bench") << Arguments{"bench", model, "-p", "40", "-n", "24", "-r", "2", "--chunk", "4"};
  }
  void tellsWhatThePolicyDid() {
    QFETCH(Arguments, arguments);
    std::ranges::replace(arguments, "TEXT", text_.string());
    const Outcome outcome = run(joined(arguments, {"--tiers", "file,bf16", "--json"}), data());
    QVERIFY2(outcome.code == 0, outcome.err.c_str());
    QCOMPARE(outcome.err, std::string());
    const json object = json::parse(outcome.out, nullptr, false);
    const Outcome help = run({arguments[0], "--help"});
    for (const char* key : {"budget_bytes", "accounted_bytes", "resident_peak_bytes", "promotions",
                            "demotions", "bytes_read", "hit_rate", "mean_bits_per_weight",
                            "answer_bits_per_weight", "stalls", "swaps_refused", "swaps_failed"}) {
      QVERIFY2(object.contains(key), key);
      QVERIFY2(help.out.contains(key), key);
    }
    QVERIFY(object["accounted_bytes"] <= object["budget_bytes"]);
    QVERIFY(object["resident_peak_bytes"] > object["accounted_bytes"]);
    QCOMPARE(object["mean_bits_per_weight"], 32);
    QCOMPARE(object["hit_rate"], 1);
    QCOMPARE(object["promotions"], 0);
  }

  void withoutAPolicyNoneOfItIsTold() {
    const Outcome outcome = run({"bench", model, "-p", "4", "-n", "4", "-r", "1", "--json"}, data());
    const json object = json::parse(outcome.out, nullptr, false);
    QVERIFY(object.is_object() && !object.contains("promotions") && !object.contains("budget_bytes"));
  }

  // Read and then ignored would be worse than refused.
  void flagsThatNothingHeeds_data() {
    QTest::addColumn<Arguments>("flags");
    QTest::addColumn<QByteArray>("says");
    const auto row = [](const Arguments& flags, const char* says) {
      QTest::newRow(flags.front().c_str()) << flags << QByteArray(says);
    };
    row({"--events", "/tmp/e"}, "--events: without a policy, every weight stays");
    row({"--store", "/tmp/s"}, "--store: without a policy");
    row({"--swap-bandwidth", "1"}, "--swap-bandwidth: without a policy");
    row({"--publish-after", "1"}, "--publish-after: without a policy");
    row({"--first-token-layers", "1"}, "--first-token-layers: only fovea and dynaexq move experts");
    row({"--first-token-layers", "1", "--policy", "dynaexq", "--as-published"},
        "--as-published leaves a first token's where they are");
    row({"--dynaexq-alpha", "0.5"}, "dynaexq settings do not apply to none");
    row({"--as-published"}, "--as-published: dynaexq settings do not apply to none");
    row({"--dynaexq-alpha", "0.5", "--as-published=later", "--policy", "dynaexq"},
        "--as-published=later: it sets --dynaexq-alpha");
    row({"--flex-threshold", "2"}, "--flex-…: flexquant settings do not apply to none");
    row({"--pmpd-schedule", "9", "--policy", "flexquant"}, "a pmpd schedule does not apply to flexquant");
    row({"--context", "64", "--policy", "pmpd", "--tiers", "file,bf16"},
        "--pmpd-schedule: 0 numbers are given, and 1 tier is");
    row({"--tiers", "file", "--policy", "flexquant"}, "--tiers: layers go down from one tier to the next");
    row({"--policy", "static", "--dynaexq-interval", "9"}, "dynaexq settings do not apply to static");
    row({"--n-cpu-moe", "1", "--policy", "offload", "--dynaexq-in-flight", "9"},
        "dynaexq settings do not apply to offload");
  }
  void flagsThatNothingHeeds() {
    QFETCH(Arguments, flags);
    QFETCH(QByteArray, says);
    const Outcome outcome = run(joined({"chat", model, "-p", "one"}, flags), data());
    QCOMPARE(outcome.code, 1);
    QVERIFY2(outcome.err.contains(says.toStdString()), outcome.err.c_str());
    QCOMPARE(std::ranges::count(outcome.err, '\n'), 1);
    QVERIFY(!fs::exists(folder_->path() / "stores"));
  }

  void aBudgetTooSmallNamesTheOneThatWouldDo() {
    const auto with = [&](const std::string& budget) {
      return run({"chat", model, "-p", "one", "--max-tokens", "2", "--context", "64", "--tiers", "file,bf16",
                  "--budget", budget},
                 data());
    };
    const Outcome refused = with("100000");
    QCOMPARE(refused.code, 1);
    const std::size_t give = refused.err.find("Give ");
    QVERIFY2(give != std::string::npos, refused.err.c_str());
    const long long least = std::atoll(refused.err.c_str() + give + 5);
    QCOMPARE(with(std::to_string(least)).code, 0);
    QCOMPARE(with(std::to_string(least - 1)).code, 1);
  }

  // What it says to do about a store that does not serve, does it.
  void theAdviceMakesTheStoreAgain_data() {
    QTest::addColumn<int>("wrong");
    QTest::newRow("damaged") << 0;
    QTest::newRow("cut off") << 1;
    QTest::newRow("other tiers") << 2;
    QTest::newRow("another model's") << 3;
    QTest::newRow("a later version") << 4;
  }
  void theAdviceMakesTheStoreAgain() {
    QFETCH(int, wrong);
    const fs::path store = folder_->path() / "it's a.store";
    const Arguments bench{"bench", model, "-p",      "4",         "-n",      "4",
                          "-r",    "1",   "--tiers", "file,bf16", "--store", store};
    if (wrong < 2 || wrong == 4) QCOMPARE(run(bench).code, 0);
    const auto put = [&](std::streamoff at, char byte) {
      std::fstream file(store, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(at);
      file.put(byte);
    };
    if (wrong == 0) put(100, 'x');
    if (wrong == 1) fs::resize_file(store, fs::file_size(store) - 4096);
    if (wrong == 2) QCOMPARE(run({"prepare", model, "--tiers", "file", "--out", store}).code, 0);
    if (wrong == 3)
      QCOMPARE(run({"prepare", golden("models/mixtral-0"), "--tiers", "file,bf16", "--out", store}).code, 0);
    if (wrong == 4) put(8, 9);
    const Outcome refused = run(bench);
    QCOMPARE(refused.code, 1);
    QVERIFY2(refused.err.contains(store.string()), refused.err.c_str());
    const std::string before = "Make it again: fovea ";
    const std::size_t at = refused.err.find(before);
    QVERIFY2(at != std::string::npos, refused.err.c_str());
    const std::string command =
        FOVEA_BINARY_DIR "/fovea " + refused.err.substr(at + before.size(), std::string::npos);
    QCOMPARE(std::system((command.substr(0, command.find('\n')) + " >/dev/null 2>&1").c_str()), 0);
    const Outcome again = run(bench);
    QVERIFY2(again.code == 0, again.err.c_str());
  }

  // One answer and no screen to draw on: the numbers come behind it.
  void statsOfOneAnswer() {
    const Outcome outcome = run({"chat", model, "-p", "one two three", "--context", "64", "--max-tokens", "4",
                                 "--tiers", "file,bf16", "--stats"},
                                data());
    QCOMPARE(outcome.code, 0);
    QVERIFY2(
        outcome.err.starts_with("quality kept 100.0 %, 32.00 bits per weight, 32.00 per use, 0 promotions, "),
        outcome.err.c_str());
    QCOMPARE(std::ranges::count(outcome.err, '\n'), 1);
    QVERIFY(!outcome.out.contains("bits per weight"));
  }

  // Without a policy it says how the experts are used.
  void statsWithoutAPolicy() {
    const Outcome outcome = run(
        {"chat", model, "-p", "one two three", "--context", "64", "--max-tokens", "4", "--stats"}, data());
    QCOMPARE(outcome.code, 0);
    QVERIFY2(outcome.err.starts_with("8 at 32 bits (100 % of uses)  32.00 bits  the hottest tenth has "),
             outcome.err.c_str());
    QCOMPARE(std::ranges::count(outcome.err, '\n'), 1);
  }

  void statsOfNothing() {
    const fs::path dense = fovea::tests::demo_dense_model();
    if (dense.empty()) QSKIP("the demo model is not there; ./scripts/demo builds it");
    const Outcome refused = run({"chat", dense, "-p", "one", "--context", "64", "--stats"}, data());
    QCOMPARE(refused.code, 1);
    QVERIFY2(refused.err.contains("has no experts, and without a policy there is nothing to show"),
             refused.err.c_str());
  }

  // Whole experts move, and what fits is found; both are said by who loads the model, not by the plan alone.
  void offloadSaysWhatItDid_data() {
    QTest::addColumn<Arguments>("flags");
    QTest::addColumn<QByteArray>("says");
    QTest::newRow("a part of an expert")
        << Arguments{"-ot", "blk\\.1\\.ffn_down_exps=CPU"}
        << QByteArray("names only some of the tensors of 4 units; a unit moves as a whole");
    QTest::newRow("auto") << Arguments{"-ncmoe", "auto", "--budget", "500000"}
                          << QByteArray("Not all experts fit: they are read");
    QTest::newRow("the last layers") << Arguments{"-ngl", "2"} << QByteArray("of the first 1 layer away");
  }
  void offloadSaysWhatItDid() {
    QFETCH(Arguments, flags);
    QFETCH(QByteArray, says);
    const Outcome outcome =
        run(joined({"bench", model, "-p", "40", "-n", "24", "-r", "1", "--json"}, flags), data());
    QVERIFY2(outcome.code == 0, outcome.err.c_str());
    QVERIFY2(outcome.err.contains(says.toStdString()), outcome.err.c_str());
    const json object = json::parse(outcome.out, nullptr, false);
    if (std::ranges::find(flags, "auto") == flags.end()) QVERIFY(object["stalls"] > 0);
    QVERIFY(object["accounted_bytes"] <= object["budget_bytes"]);
  }

 private:
  fovea::tests::RunOptions data() const { return {.environment = {{"FOVEA_DATA", folder_->path()}}}; }

  std::unique_ptr<fovea::tests::TemporaryFolder> folder_;
  fs::path text_;
};
FOVEA_TEST(PolicyTest)

#include "policy_test.moc"
