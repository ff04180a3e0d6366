// Against what the packages that define the metrics find: tests/golden/make_task_metrics.py.
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/tasks/bleu.h"
#include "engine/tasks/data_sets.h"
#include "engine/tasks/porter_stemmer.h"
#include "engine/tasks/python_random.h"
#include "engine/tasks/python_text.h"
#include "engine/tasks/rouge.h"
#include "engine/tasks/statistics.h"
#include "engine/tasks/values.h"
#include "tests/support/test.h"

using fovea::tasks::Observed;
using nlohmann::json;

namespace {

json packages(const char* kind) {
  std::ifstream file(fovea::tests::golden("task_metrics.json"));
  return json::parse(file, nullptr, false)[kind];
}

bool same(double found, double wanted) {
  return std::abs(found - wanted) <= 1e-9 * std::max(1.0, std::abs(wanted));
}

}  // namespace

class TaskMetricsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void stemsEqualNltks() {
    for (const json& each : packages("stems")) {
      const auto word = each[0].get<std::string>();
      QCOMPARE(word + " " + fovea::tasks::stem(word), word + " " + each[1].get<std::string>());
    }
  }

  void rougeEqualsRougeScores() {
    for (const json& each : packages("rouge")) {
      for (const bool stemmed : {false, true}) {
        const auto reference = fovea::tasks::rouge_tokens(each["reference"].get<std::string>(), stemmed);
        const auto text = fovea::tasks::rouge_tokens(each["text"].get<std::string>(), stemmed);
        const json& wanted = each[stemmed ? "stemmed" : "plain"];
        const std::string said = each.dump();
        QVERIFY2(same(fovea::tasks::rouge_n(reference, text, 1), wanted[0]), said.c_str());
        QVERIFY2(same(fovea::tasks::rouge_n(reference, text, 2), wanted[1]), said.c_str());
        QVERIFY2(same(fovea::tasks::rouge_l(reference, text), wanted[2]), said.c_str());
      }
    }
  }

  void bleuEqualsSacrebleus() {
    for (const json& each : packages("bleu_tokens")) {
      std::string joined;
      for (const std::string& token : fovea::tasks::bleu_tokens(each[0].get<std::string>()))
        joined += (joined.empty() ? "" : " ") + token;
      QCOMPARE(joined, each[1].get<std::string>());
    }
    for (const json& each : packages("bleu")) {
      std::vector<double> sums(10);
      for (const json& pair : each["pairs"]) {
        const auto counts = fovea::tasks::bleu_counts(pair[0].get<std::string>(), pair[1].get<std::string>());
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += counts[i];
      }
      QVERIFY2(same(fovea::tasks::bleu(sums), each["score"]), each.dump().c_str());
    }
  }

  void numbersAreFoundAndMatchedAsTheHarnessDoes() {
    for (const json& each : packages("numbers")) {
      const auto text = each["text"].get<std::string>(), gold = each["gold"].get<std::string>();
      QCOMPARE(text + fovea::tasks::strict_number(text), text + each["strict"].get<std::string>());
      QCOMPARE(text + fovea::tasks::flexible_number(text), text + each["flexible"].get<std::string>());
      const Observed observed{.answer = text};
      const auto gsm8k = fovea::tasks::value_gsm8k({{"answer", "steps\n#### " + gold}}, observed);
      const auto mgsm = fovea::tasks::value_mgsm({{"answer_number", gold}}, observed);
      const auto flexible = "exact_match,flexible-extract";
      const std::string said = each.dump();
      QVERIFY2(gsm8k.at("exact_match,strict-match")[0] == each["gsm8k"][0], said.c_str());
      QVERIFY2(gsm8k.at(flexible)[0] == each["gsm8k"][1], said.c_str());
      QVERIFY2(mgsm.at("exact_match,remove_whitespace")[0] == each["mgsm"][0], said.c_str());
      QVERIFY2(mgsm.at(flexible)[0] == each["mgsm"][1], said.c_str());
    }
  }

  void aimesAnswersAreComparedAsTheHarnessDoes() {
    int right = 0;
    for (const json& each : packages("aime")) {
      const bool found = fovea::tasks::is_aime_answer(each[0].get<std::string>(), each[1].get<std::string>());
      QVERIFY2(found == (each[2] == 1), each.dump().c_str());
      right += found;
    }
    QVERIFY(right > 10);
  }

  void textsAreCleanedAsTheHarnessDoes() {
    for (const json& each : packages("wikitext")) {
      const auto page = each["page"].get<std::string>();
      QCOMPARE(fovea::tasks::detokenised(page), each["text"].get<std::string>());
      QCOMPARE(fovea::tasks::count_pieces(page), each["words"].get<std::int64_t>());
    }
    for (const json& each : packages("hellaswag"))
      QCOMPARE(fovea::tasks::without_marks(each[0].get<std::string>()), each[1].get<std::string>());
  }

  void examplesAreDrawnAsPythonDoes() {
    fovea::tasks::PythonRandom random(1234);
    for (const json& each : packages("draws"))
      QCOMPARE(random.sample(each[0], each[1]), each[2].get<std::vector<std::size_t>>());
  }

  void errorsEqualTheHarness() {
    const json wanted = packages("errors");
    const auto mean = fovea::tasks::mean(wanted["sample"].get<std::vector<double>>());
    QVERIFY(same(mean.value, wanted["mean"]));
    QVERIFY(same(mean.standard_error.value(), wanted["mean_error"]));
    std::vector<std::optional<double>> errors;
    for (const json& each : wanted["part_errors"]) errors.emplace_back(each.get<double>());
    const auto pooled = fovea::tasks::pooled_error(wanted["sizes"].get<std::vector<std::int64_t>>(), errors);
    QVERIFY(same(pooled.value(), wanted["pooled"]));
    QVERIFY(!fovea::tasks::pooled_error({1, 1}, {{}, {}}));
    QVERIFY(!fovea::tasks::mean({0.5}).standard_error);
  }

  // Leaving out each document once and the linear approximation agree where documents are many.
  void errorsOfRatiosAreThoseOfTheirLinearPart() {
    std::vector<std::vector<double>> rows;
    for (int i = 0; i < 400; ++i) rows.push_back({-2.0 * (10 + i % 7) - i % 5, 10.0 + i % 7});
    const auto found = fovea::tasks::estimate(rows, [](std::span<const double> sums, std::int64_t n) {
      return fovea::tasks::score_of("word_perplexity", sums, n);
    });
    double top = 0, bottom = 0;
    for (const auto& row : rows) top += row[0], bottom += row[1];
    double squares = 0;
    for (const auto& row : rows) squares += std::pow(row[0] - top / bottom * row[1], 2);
    const double linear = std::exp(-top / bottom) * std::sqrt(squares) / bottom;
    QVERIFY(same(found.value, std::exp(-top / bottom)));
    QVERIFY(std::abs(found.standard_error.value() - linear) < 0.02 * linear);
  }
};

FOVEA_TEST(TaskMetricsTest)
#include "metrics_test.moc"
