// fovea eval: what it prints, keeps, compares and refuses. tests/engine/tasks looks at the numbers.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/test.h"

#include "process.h"

using fovea::tests::golden;
using fovea::tests::Outcome;
using fovea::tests::run;
using nlohmann::json;

namespace {

using Arguments = std::vector<std::string>;

const std::string& eval_model() {
  static const std::string path = golden("chat");
  return path;
}

Arguments eval_arguments(const std::string& tasks, const Arguments& more = {}) {
  Arguments all{"eval", eval_model(), "--tasks", tasks, "--data", golden("tasks/data"), "--context", "512"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

class EvalTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void scoresAreTables() {
    const Outcome plain = run(eval_arguments("mmlu,hellaswag", {"--kv", "f32"}));
    QCOMPARE(plain.err, std::string());
    QCOMPARE(plain.code, 0);
    // As tests/golden/tasks/expected.json has them.
    QVERIFY2(plain.out.contains("mmlu       acc                  0.6250 ± 0.1"), plain.out.c_str());
    QVERIFY2(plain.out.contains("hellaswag  acc                  0.4000 ± 0.2449 "), plain.out.c_str());
    QVERIFY(!plain.out.contains("mmlu_the_cache"));
    const Outcome parts = run(eval_arguments("mmlu", {"--kv", "f32", "--parts", "--markdown"}));
    QVERIFY2(parts.out.contains("| mmlu_the_cache     | acc                 | 0.2500 ± 0.2500 "),
             parts.out.c_str());
    QVERIFY(parts.out.contains("| --- | --- | --- | --- | --- |\n"));
  }

  void scoresAreJson() {
    const Outcome outcome = run(eval_arguments("mmlu_the_cache", {"--kv", "f32", "--limit", "2", "--json"}));
    const json found = json::parse(outcome.out, nullptr, false);
    QCOMPARE(found["conditions"]["model"], json("chat"));
    QCOMPARE(found["conditions"]["kv"], json("f32"));
    const json& task = found["tasks"]["mmlu_the_cache"];
    QCOMPARE(task["documents"], json(2));
    QCOMPARE(task["metrics"]["acc"]["chance"], json(0.25));
    QVERIFY(task["metrics"]["acc"]["standard_error"].is_number());
    QVERIFY(task["metrics"]["gold_log_likelihood"]["value"] < 0);
  }

  void twoRunsAreCompared() {
    const fovea::tests::TemporaryFolder folder;
    const std::string first = folder.path() / "first", second = folder.path() / "second";
    QCOMPARE(
        run(eval_arguments("mmlu,cnn_dailymail", {"--max-tokens", "20", "--kv", "f32", "--results", first}))
            .code,
        0);
    QCOMPARE(run(eval_arguments("mmlu", {"--max-tokens", "20", "--kv", "q8", "--results", second})).code, 0);
    const Outcome outcome = run({"eval", "--compare", first, second});
    QCOMPARE(outcome.err, std::string());
    QVERIFY2(outcome.out.contains("KL divergence, nats"), outcome.out.c_str());
    QVERIFY2(outcome.out.contains("In nats of the right answer's log-likelihood, the second run "),
             outcome.out.c_str());
    const json found = json::parse(run({"eval", "--compare", first, second, "--json"}).out, nullptr, false);
    QCOMPARE(found["first"]["kv"], json("f32"));
    QCOMPARE(found["second"]["kv"], json("q8"));
    QCOMPARE(found["tasks"].size(), std::size_t{1});
    QCOMPARE(found["tasks"]["mmlu"]["documents"], json(8));
    QVERIFY(found["tasks"]["mmlu"]["kl"]["value"] > 0);
    const json& costs = found["tasks"]["mmlu"]["costs"];
    QCOMPARE(costs["documents"], json(8));
    QVERIFY(costs["first"]["seconds"] > 0 && costs["second"]["seconds"] > 0);
    QVERIFY(costs["second"]["bytes"] < costs["first"]["bytes"]);  // the cache has a quarter of the bits
    QVERIFY2(outcome.out.contains(" instead of ") && outcome.out.contains(" s for a document"),
             outcome.out.c_str());
    QVERIFY(found["tasks"]["mmlu"]["metrics"]["acc"]["difference"].contains("standard_error"));
    const std::string same = run({"eval", "--compare", first, first}).out;
    QVERIFY2(
        same.contains("differs by no more than chance on mmlu and cnn_dailymail; the second takes as much "
                      "memory ("),
        same.c_str());
    QVERIFY(same.contains("and as much time as far as can be told"));
    // Files of older programs do not tell.
    std::string text = fovea::tests::content(first);
    for (std::size_t at = 0; (at = text.find("\"seconds\"", at)) != std::string::npos; ++at)
      text.replace(at, 9, "\"elapsed\"");
    std::ofstream(second) << text;
    QVERIFY(run({"eval", "--compare", first, second}).out.contains("the files do not tell time and memory."));
  }

  // A file goes on with the settings that it was begun with, a policy's own ones included.
  void aFileKeepsItsSettings() {
    const fovea::tests::TemporaryFolder folder;
    const fovea::tests::RunOptions data{.environment = {{"FOVEA_DATA", folder.path()}}};
    const std::string file = folder.path() / "results";
    const auto with_schedule = [&](const char* tokens) {
      return run(eval_arguments("mmlu", {"--policy", "pmpd", "--tiers", "file,bf16", "--pmpd-schedule",
                                         tokens, "--results", file}),
                 data);
    };
    const Outcome first = with_schedule("8");
    QVERIFY2(first.code == 0, first.err.c_str());
    QCOMPARE(with_schedule("8").code, 0);
    const Outcome refused = with_schedule("9");
    QCOMPARE(refused.code, 1);
    QVERIFY2(refused.err.contains("policy_settings"), refused.err.c_str());
  }

  // Likelihoods of a text are no distributions: another command has these.
  void wikitextPointsToTheWholeVocabulary() {
    const fovea::tests::TemporaryFolder folder;
    const std::string file = folder.path() / "results";
    QCOMPARE(run(eval_arguments("wikitext", {"--results", file})).code, 0);
    const Outcome outcome = run({"eval", "--compare", file, file});
    QCOMPARE(outcome.code, 0);
    QVERIFY2(outcome.err.contains("fovea perplexity MODEL"), outcome.err.c_str());
  }

  void tasksAreListed() {
    const Outcome plain = run({"eval", "--list"});
    for (const char* name :
         {"mmlu", "hellaswag", "blimp", "wikitext", "gsm8k", "mgsm_direct", "aime25", "cnn_dailymail",
          "dialogsum", "wmt14-fr-en", "humaneval", "mbpp_plus", "longwriter"})
      QVERIFY2(plain.out.contains("\n" + std::string(name) + " "), name);
    const json found = json::parse(run({"eval", "--list", "--json"}).out, nullptr, false);
    QCOMPARE(found["gsm8k"]["files"], json({"gsm8k/test.jsonl", "gsm8k/train.jsonl.xz"}));
  }

  void wrongUseIsNamed_data() {
    QTest::addColumn<Arguments>("arguments");
    QTest::addColumn<int>("code");
    QTest::addColumn<std::string>("said");
    QTest::newRow("nothing") << Arguments{"eval"} << 1 << std::string("there must be a model");
    QTest::newRow("no data") << Arguments{"eval", eval_model(), "--tasks", "mmlu"} << 1
                             << std::string("there must be a model");
    QTest::newRow("one file") << Arguments{"eval", "--compare", "a"} << 2 << std::string("--compare");
    QTest::newRow("a model to compare")
        << Arguments{"eval", eval_model(), "--compare", "a", "b"} << 2 << std::string("excludes");
    QTest::newRow("no task results") << Arguments{"eval", "--compare", "/no/such", "/no/such"} << 1
                                     << std::string("there is no such file");
    QTest::newRow("no task") << eval_arguments("mmul") << 1 << std::string("there is no task mmul");
    QTest::newRow("too many examples") << eval_arguments("mmlu", {"--num-fewshot", "9"}) << 1
                                       << std::string("has 5 examples for prompts, 9 were asked for");
    QTest::newRow("code") << eval_arguments("humaneval") << 1 << std::string("Allow it with --allow-code");
    QTest::newRow("no limit") << eval_arguments("mmlu", {"--limit", "0"}) << 2
                              << std::string("0 is not a number from 1");
  }
  void wrongUseIsNamed() {
    QFETCH(Arguments, arguments);
    QFETCH(int, code);
    QFETCH(std::string, said);
    const Outcome outcome = run(arguments);
    QVERIFY2(outcome.err.contains(said), outcome.err.c_str());
    QCOMPARE(outcome.code, code);
    QCOMPARE(outcome.out, std::string());
  }
};

FOVEA_TEST(EvalTest)
#include "eval_test.moc"
