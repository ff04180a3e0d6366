// Whole tasks over small data sets, against lm-evaluation-harness: tests/golden/make_tasks.py.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/api/tasks.h"
#include "engine/tasks/data_sets.h"
#include "engine/tasks/packed_file.h"
#include "engine/tasks/prompts.h"
#include "tests/support/test.h"

using fovea::Engine;
using fovea::KvType;
using fovea::TaskOutcome;
using fovea::TaskResults;
using fovea::TaskSettings;
using nlohmann::json;

namespace {

const json& expected() {
  static const json all = [] {
    std::ifstream file(fovea::tests::golden("tasks/expected.json"));
    return json::parse(file, nullptr, false);
  }();
  return all;
}

std::unique_ptr<Engine> load_chat_model(KvType kv = KvType::f32) {
  auto engine = Engine::load({.model = fovea::tests::golden("chat"), .context = 512, .kv = kv, .threads = 2});
  if (!engine) qFatal("%s", engine.error().message().c_str());
  return *std::move(engine);
}

// As make_tasks.py has the harness run them.
TaskSettings settings_for(const std::string& task) {
  TaskSettings settings{.tasks = {task}, .data = fovea::tests::golden("tasks/data"), .max_tokens = 40};
  if (task == "gsm8k") settings.examples = 2;
  return settings;
}

bool near(double found, double wanted) {
  return std::abs(found - wanted) <= 2e-3 + 1e-4 * std::abs(wanted);
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace

class TasksTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void promptsEqualTheHarness_data() { tasks_of_the_harness(); }
  void promptsEqualTheHarness() {
    QFETCH(std::string, task);
    QFETCH(std::string, part);
    const auto& catalogue = fovea::tasks::catalogue();
    const auto found = std::ranges::find(catalogue, task, [](const auto& each) { return each.info.name; });
    QVERIFY(found != catalogue.end());
    const auto data = found->read(fovea::tests::golden("tasks/data"));
    FOVEA_VERIFY(data);
    auto writer = fovea::tasks::PromptWriter::create(
        *found, *data, settings_for(task).examples.value_or(found->info.examples));
    FOVEA_VERIFY(writer);
    const json& documents = expected()[part.empty() ? task : task + "_" + part]["documents"];
    std::size_t number = 0;
    for (const auto& document : data->documents) {
      if (document.part != part) continue;
      const auto prompt = writer->write(document);
      FOVEA_VERIFY(prompt);
      QCOMPARE(prompt->context, documents[number++]["context"].get<std::string>());
    }
    QCOMPARE(number, documents.size());
  }

  // Nothing is run: tests/golden/make_code_prompts.py.
  void promptsOfCodeEqualTheHarness_data() {
    QTest::addColumn<std::string>("task");
    for (const char* task : {"humaneval", "mbpp_plus"}) QTest::newRow(task) << std::string(task);
  }
  void promptsOfCodeEqualTheHarness() {
    QFETCH(std::string, task);
    const auto& catalogue = fovea::tasks::catalogue();
    const auto found = std::ranges::find(catalogue, task, [](const auto& each) { return each.info.name; });
    QVERIFY(found != catalogue.end());
    const auto data = found->read(fovea::tests::golden("tasks/data"));
    FOVEA_VERIFY(data);
    auto writer = fovea::tasks::PromptWriter::create(*found, *data, found->info.examples);
    FOVEA_VERIFY(writer);
    std::ifstream file(fovea::tests::golden("tasks/expected_code.json"));
    const json documents = json::parse(file, nullptr, false)[task];
    QCOMPARE(data->documents.size(), documents.size());
    QVERIFY(!documents.empty());
    for (std::size_t i = 0; i < documents.size(); ++i) {
      const auto prompt = writer->write(data->documents[i]);
      FOVEA_VERIFY(prompt);
      QCOMPARE(prompt->context, documents[i]["context"].get<std::string>());
      QCOMPARE(prompt->until, documents[i]["until"].get<std::vector<std::string>>());
    }
  }

  void outcomesAndScoresEqualTheHarness_data() { tasks_of_the_harness(); }
  void outcomesAndScoresEqualTheHarness() {
    QFETCH(std::string, task);
    QFETCH(std::string, part);
    const std::string name = part.empty() ? task : task + "_" + part;
    const auto engine = load_chat_model();
    TaskSettings settings = settings_for(task);
    settings.tasks = {name};
    const auto results = fovea::run_tasks(*engine, settings);
    FOVEA_VERIFY(results);
    const json& documents = expected()[name]["documents"];
    QCOMPARE(results->outcomes.size(), documents.size());
    for (std::size_t i = 0; i < documents.size(); ++i) {
      const TaskOutcome& outcome = results->outcomes[i];
      const json& wanted = documents[i];
      if (wanted.contains("answer")) {
        QCOMPARE(outcome.answer, wanted["answer"].get<std::string>());
        continue;
      }
      QCOMPARE(outcome.log_likelihoods.size(), wanted["log_likelihoods"].size());
      for (std::size_t k = 0; k < outcome.log_likelihoods.size(); ++k)
        QVERIFY(near(outcome.log_likelihoods[k], wanted["log_likelihoods"][k]));
    }
    int compared = 0;
    for (const fovea::TaskScore& score : fovea::task_scores(results->outcomes)) {
      const json& scores = expected()[name]["scores"];
      const bool filtered = score.metric.contains(',');
      const std::string key = filtered ? score.metric : score.metric + ",none";
      if (!scores.contains(key)) continue;  // of ours alone: the right answer's likelihood
      ++compared;
      const double value = scores[key];
      QVERIFY2(std::abs(score.value - value) <= 1e-3 * std::max(1.0, std::abs(value)), key.c_str());
      const std::string error = key.substr(0, key.find(',')) + "_stderr" + key.substr(key.find(','));
      // That of BLEU is drawn at random.
      if (score.metric != "bleu" && scores.contains(error))
        QVERIFY2(near(score.standard_error.value(), scores[error]), error.c_str());
    }
    QVERIFY(compared > 0);
  }

  // What stands in the file is not run again, whatever ended the run before.
  void aRunGoesOnWhereItStopped() {
    const fovea::tests::TemporaryFolder folder;
    const auto engine = load_chat_model();
    TaskSettings settings = settings_for("mmlu");
    settings.tasks = {"mmlu", "blimp_word_order"};
    settings.results = folder.path() / "results.jsonl";
    const auto whole = fovea::run_tasks(*engine, settings);
    FOVEA_VERIFY(whole);
    const std::string text = text_of(settings.results);
    QCOMPARE(std::ranges::count(text, '\n'), std::ssize(whole->outcomes) + 1);
    const auto read = fovea::read_task_results(settings.results);
    FOVEA_VERIFY(read);
    QVERIFY(read->outcomes == whole->outcomes);
    QVERIFY(read->conditions == whole->conditions);
    // Killed in the middle of the fourth document's line.
    std::size_t cut = 0;
    for (int line = 0; line < 4; ++line) cut = text.find('\n', cut) + 1;
    write_text(settings.results, text.substr(0, cut + 20));
    std::int64_t first_done = -1;
    const auto rest = fovea::run_tasks(*engine, settings, [&](const fovea::Progress& progress) {
      if (first_done < 0) first_done = progress.done;
      QCOMPARE(progress.total, std::ssize(whole->outcomes));
    });
    FOVEA_VERIFY(rest);
    QCOMPARE(first_done, 3);
    QCOMPARE(rest->outcomes.size(), whole->outcomes.size());
    for (std::size_t i = 0; i < rest->outcomes.size(); ++i) {
      QVERIFY(near(rest->outcomes[i].log_likelihoods[0], whole->outcomes[i].log_likelihoods[0]));
      // What was not run again took what it took then.
      if (i < 3) QVERIFY(rest->outcomes[i].cost == whole->outcomes[i].cost);
      QVERIFY(rest->outcomes[i].cost.seconds > 0);
      QCOMPARE(rest->outcomes[i].cost.bytes, engine->memory().on_device());
    }
    QCOMPARE(std::ranges::count(text_of(settings.results), '\n'), std::ssize(whole->outcomes) + 1);
    // With other settings it is another run, and nobody else's file is touched.
    settings.examples = 0;
    const auto other = fovea::run_tasks(*engine, settings);
    QVERIFY(!other && other.error().message().contains("examples usual, now it is 0"));
    write_text(settings.results, "notes of mine, without a line end");
    QVERIFY(!fovea::run_tasks(*engine, settings));
    QCOMPARE(text_of(settings.results), std::string("notes of mine, without a line end"));
  }

  void aStoppedRunKeepsWhatItHas() {
    const fovea::tests::TemporaryFolder folder;
    const auto engine = load_chat_model();
    TaskSettings settings = settings_for("blimp");
    settings.results = folder.path() / "results.jsonl";
    std::stop_source stop;
    const auto stopped = fovea::run_tasks(
        *engine, settings,
        [&](const fovea::Progress& progress) {
          if (progress.done == 2) stop.request_stop();
        },
        stop.get_token());
    QVERIFY(!stopped);
    QCOMPARE(stopped.error().kind, fovea::ErrorKind::cancelled);
    QCOMPARE(fovea::read_task_results(settings.results)->outcomes.size(), std::size_t{2});
  }

  void limitsAndPartsChooseDocuments() {
    const auto engine = load_chat_model();
    TaskSettings settings = settings_for("mmlu");
    settings.limit = 3;
    const auto limited = fovea::run_tasks(*engine, settings);
    FOVEA_VERIFY(limited);
    QCOMPARE(limited->outcomes.size(), std::size_t{6});
    const auto scores = fovea::task_scores(limited->outcomes);
    QCOMPARE(scores.front().name, std::string("mmlu"));
    QCOMPARE(scores.front().documents, 6);
    QVERIFY(scores.front().is_whole);
    QCOMPARE(scores.front().chance, std::optional(0.25));
    QCOMPARE(scores[1].name, std::string("mmlu_abstract_eyes"));
    QCOMPARE(scores.front().value, (scores[1].value + scores[2].value) / 2);
    settings.tasks = {"mmlu_the_cache", "mmlu_the_cache"};
    QCOMPARE(fovea::run_tasks(*engine, settings)->outcomes.size(), std::size_t{3});
  }

  // Against itself nothing differs; a coarser cache moves every likelihood.
  void runsAreComparedDocumentByDocument() {
    TaskSettings settings = settings_for("mmlu");
    settings.tasks = {"mmlu", "blimp", "cnn_dailymail", "wikitext"};
    const auto first = fovea::run_tasks(*load_chat_model(), settings);
    const auto second = fovea::run_tasks(*load_chat_model(KvType::q8), settings);
    FOVEA_VERIFY(first);
    FOVEA_VERIFY(second);
    const auto same = fovea::compare_tasks(*first, *first);
    FOVEA_VERIFY(same);
    QCOMPARE(same->size(), std::size_t{4});
    for (const fovea::TaskComparison& each : *same) {
      QCOMPARE(each.gold_log_likelihood->value, 0.0);
      if (each.divergence) QCOMPARE(each.divergence->value, 0.0);
      if (each.same) QCOMPARE(*each.same, 1.0);
      if (each.rouge_l) QVERIFY(each.rouge_l->value <= 1);
      for (const auto& metric : each.metrics) QCOMPARE(metric.difference.value, 0.0);
    }
    const auto other = fovea::compare_tasks(*first, *second);
    FOVEA_VERIFY(other);
    const fovea::TaskComparison& mmlu = other->front();
    QCOMPARE(mmlu.name, std::string("mmlu"));
    double sum = 0, divergence = 0;
    for (std::size_t i = 0; i < 8; ++i) {
      const auto &a = first->outcomes[i].log_likelihoods, &b = second->outcomes[i].log_likelihoods;
      const auto gold = static_cast<std::size_t>(first->outcomes[i].gold);
      sum += b[gold] - a[gold];
      double a_all = 0, b_all = 0;
      for (std::size_t k = 0; k < 4; ++k) a_all += std::exp(a[k]), b_all += std::exp(b[k]);
      for (std::size_t k = 0; k < 4; ++k)
        divergence += std::exp(a[k]) / a_all * (a[k] - std::log(a_all) - b[k] + std::log(b_all));
    }
    QVERIFY(std::abs(mmlu.gold_log_likelihood->value - sum / 8) < 1e-9);
    QVERIFY(std::abs(mmlu.divergence->value - divergence / 8) < 1e-6);
    QVERIFY(mmlu.divergence->value > 0);
    QVERIFY(!fovea::compare_tasks(*first, TaskResults()));
  }

  void whatIsMissingOrWrongIsNamed_data() {
    QTest::addColumn<std::string>("task");
    QTest::addColumn<std::string>("file");
    QTest::addColumn<std::string>("text");
    QTest::addColumn<std::string>("said");
    QTest::newRow("task") << std::string("mmul") << std::string() << std::string()
                          << std::string("no task mmul");
    QTest::newRow("folder") << std::string("gsm8k") << std::string() << std::string()
                            << std::string("gsm8k/test.jsonl");
    QTest::newRow("part") << std::string("mgsm_direct_xx") << std::string("mgsm/mgsm.tar.xz")
                          << std::string("copy") << std::string("no part xx");
    QTest::newRow("archive") << std::string("blimp") << std::string("blimp/blimp.tar.xz")
                             << std::string("no archive at all") << std::string("cannot be unpacked");
    QTest::newRow("key") << std::string("aime25") << std::string("math/aime25_test.jsonl")
                         << std::string("{\"problem\": \"?\"}\n")
                         << std::string("line 1: the object has no answer");
    QTest::newRow("value") << std::string("gsm8k") << std::string("gsm8k/test.jsonl")
                           << std::string("{\"question\": [\"?\"], \"answer\": 7}\n")
                           << std::string("line 1: its question is not a string");
    QTest::newRow("json") << std::string("aime25") << std::string("math/aime25_test.jsonl")
                          << std::string("[]\n") << std::string("line 1: it is not a JSON object");
    QTest::newRow("lines") << std::string("hellaswag") << std::string("hellaswag/hellaswag_val_full.txt")
                           << std::string("a\n4\nb\nc\nd\ne\n") << std::string("line 1");
    QTest::newRow("empty") << std::string("longwriter") << std::string("longwriter/longbench_write_en.jsonl")
                           << std::string("\n") << std::string("its data set is empty");
    QTest::newRow("answer") << std::string("longwriter") << std::string("longwriter/longbench_write_en.jsonl")
                            << std::string("{\"prompt\": \"?\"}\n")
                            << std::string("does not fit in a context of 512");
  }
  void whatIsMissingOrWrongIsNamed() {
    QFETCH(std::string, task);
    QFETCH(std::string, file);
    QFETCH(std::string, text);
    QFETCH(std::string, said);
    const fovea::tests::TemporaryFolder folder;
    if (text == "copy") {
      std::filesystem::create_directories((folder.path() / file).parent_path());
      std::filesystem::copy_file(fovea::tests::golden("tasks/data/" + file), folder.path() / file);
    } else if (!file.empty()) {
      write_text(folder.path() / file, text);
    }
    TaskSettings settings{.tasks = {task}, .data = folder.path()};
    if (said != "does not fit in a context of 512") settings.max_tokens = 8;
    const auto results = fovea::run_tasks(*load_chat_model(), settings);
    QVERIFY(!results);
    QVERIFY2(results.error().message().contains(said), results.error().message().c_str());
  }

  void whatDocumentsTookIsCompared() {
    TaskResults first, second;
    const auto add = [](TaskResults& run, std::int64_t document, double seconds, std::int64_t bytes) {
      run.outcomes.push_back({.task = "mmlu",
                              .part = "a",
                              .document = document,
                              .values = {{"acc", {1}}},
                              .cost = {.seconds = seconds, .bytes = bytes}});
    };
    for (const auto& [document, seconds] : {std::pair{0, 1.0}, {1, 2.0}, {2, 4.0}})
      add(first, document, seconds, 100);
    add(first, 3, 8, 100);
    add(second, 0, 2, 70);
    add(second, 1, 4, 70);
    add(second, 2, 8, 80);  // as another part of the run had it
    add(second, 3, 0, 0);   // of a file that does not tell
    const auto compared = fovea::compare_tasks(first, second);
    FOVEA_VERIFY(compared);
    QVERIFY(compared->front().costs);
    const auto& costs = *compared->front().costs;
    QCOMPARE(compared->front().documents, 4);
    QCOMPARE(costs.documents, 3);
    QVERIFY(std::abs(costs.first_seconds - 7.0 / 3) < 1e-12);
    QVERIFY(std::abs(costs.second_seconds - 14.0 / 3) < 1e-12);
    QCOMPARE(costs.first_bytes, 100);
    QCOMPARE(costs.second_bytes, 80);
    QVERIFY(std::abs(costs.log_ratio.value - std::log(2.0)) < 1e-12);
    QVERIFY(costs.log_ratio.standard_error.value() < 1e-9);
    for (TaskOutcome& each : second.outcomes) each.cost = {};
    QVERIFY(!fovea::compare_tasks(first, second)->front().costs);
  }

  // What somebody has changed in a file is no reason to read beyond it.
  void damagedResultsAreNamed_data() {
    QTest::addColumn<std::string>("line");
    QTest::addColumn<bool>("good");
    const auto row = [](const char* name, const char* line, bool good) {
      QTest::newRow(name) << std::string(line) << good;
    };
    row("a score", R"({"task": "mmlu", "part": "a", "document": 0, "values": {"acc": [1]}})", true);
    row("no values", R"({"task": "mmlu", "part": "a", "document": 0})", false);
    row("too few", R"({"task": "wikitext", "document": 0, "values": {"word_perplexity": [-9]}})", false);
    row("too many", R"({"task": "mmlu", "document": 0, "values": {"acc": [1, 1]}})", false);
    row("no sums", R"({"task": "wmt14-fr-en", "document": 0, "values": {"bleu": [1]}})", false);
    row("no time", R"({"task": "mmlu", "document": 0, "values": {}, "seconds": -1})", false);
    row("no such choice",
        R"({"task": "mmlu", "document": 0, "values": {}, "log_likelihoods": [-1], "gold": 1})", false);
  }
  void damagedResultsAreNamed() {
    QFETCH(std::string, line);
    QFETCH(bool, good);
    const fovea::tests::TemporaryFolder folder;
    // Another part lacks the score.
    write_text(folder.path() / "results.jsonl",
               "{\"fovea_tasks\":1}\n" + line +
                   "\n{\"task\": \"mmlu\", \"part\": \"b\", \"document\": 0, \"values\": {}}\n");
    const auto read = fovea::read_task_results(folder.path() / "results.jsonl");
    QCOMPARE(read.has_value(), good);
    if (!good) {
      QVERIFY2(read.error().message().contains("line 2: it is not the outcome"),
               read.error().message().c_str());
      return;
    }
    const auto scores = fovea::task_scores(read->outcomes);
    QCOMPARE(scores.size(), std::size_t{2});  // of the task and of the part that has it
    for (const fovea::TaskScore& score : scores) QCOMPARE(score.value, 1.0);
    QVERIFY(fovea::compare_tasks(*read, *read));
  }

  // Asked in the model's chat template; nothing is right, so nothing is scored.
  void longTextsAreKeptToBeCompared() {
    const fovea::tests::TemporaryFolder folder;
    write_text(folder.path() / "longwriter/longbench_write_en.jsonl",
               "{\"prompt\": \"Write about eyes.\"}\n");
    const auto engine = load_chat_model();
    const auto results =
        fovea::run_tasks(*engine, {.tasks = {"longwriter"}, .data = folder.path(), .max_tokens = 24});
    FOVEA_VERIFY(results);
    fovea::GenerateRequest request;
    request.messages = {{.role = "user", .content = "Write about eyes."}};
    request.sampling.temperature = 0;
    request.max_tokens = 24;
    QCOMPARE(results->outcomes.front().answer, engine->generate(request)->text);
    QVERIFY(results->outcomes.front().log_likelihoods.empty());
    QVERIFY(fovea::task_scores(results->outcomes).empty());
    const auto compared = fovea::compare_tasks(*results, *results);
    FOVEA_VERIFY(compared);
    QVERIFY(compared->front().rouge_l && !compared->front().gold_log_likelihood);
  }

 private:
  static void tasks_of_the_harness() {
    QTest::addColumn<std::string>("task");
    QTest::addColumn<std::string>("part");
    for (const auto& [name, ignored] : expected().items()) {
      std::string task = name, part;
      for (const fovea::TaskInfo& info : fovea::known_tasks()) {
        if (!name.starts_with(info.name + "_")) continue;
        task = info.name;
        part = name.substr(info.name.size() + 1);
      }
      QTest::addRow("%s", name.c_str()) << task << part;
    }
  }
};

FOVEA_TEST(TasksTest)
#include "tasks_test.moc"
