#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/api/evaluate.h"
#include "tests/support/test.h"

using fovea::ContinuationScores;
using fovea::Engine;
using fovea::KvType;
using fovea::LoadOptions;
using nlohmann::json;

namespace {

// tests/golden/make_likelihoods.py says where they come from.
json harness(const char* kind) {
  std::ifstream file(fovea::tests::golden("likelihoods.json"));
  return json::parse(file, nullptr, false)[kind];
}

std::unique_ptr<Engine> load_scorer(std::int64_t context, std::int64_t chunk = 64,
                                    bool need_tokenizer = true) {
  auto engine = Engine::load({.model = fovea::tests::golden("chat"),
                              .context = context,
                              .kv = KvType::f32,
                              .threads = 2,
                              .chunk = chunk,
                              .need_tokenizer = need_tokenizer});
  if (!engine) qFatal("%s", engine.error().message().c_str());
  return *std::move(engine);
}

bool near(double found, double wanted) {
  return std::abs(found - wanted) <= 2e-3 + 1e-4 * std::abs(wanted);
}

std::string both(double found, double wanted) {
  return std::to_string(found) + " instead of " + std::to_string(wanted);
}

}  // namespace

class ContinuationsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void equalTheHarness_data() {
    QTest::addColumn<int>("chunk");
    for (const int chunk : {3, 64}) QTest::addRow("chunk %d", chunk) << chunk;
  }
  void equalTheHarness() {
    QFETCH(int, chunk);
    const json cases = harness("continuations");
    QVERIFY(cases.size() >= 10);
    for (const json& each : cases) {
      const auto engine = load_scorer(each["context"], chunk);
      const auto found = fovea::score_continuations(*engine, each["text"].get<std::string>(),
                                                    each["continuations"].get<std::vector<std::string>>());
      FOVEA_VERIFY(found);
      QCOMPARE(found->dropped_tokens > 0, each["context"] == 48);
      for (std::size_t i = 0; i < found->scores.size(); ++i) {
        const double wanted = each["log_likelihoods"][i];
        QVERIFY2(near(found->scores[i].log_likelihood, wanted),
                 both(found->scores[i].log_likelihood, wanted).c_str());
        QCOMPARE(found->scores[i].greedy, each["greedy"][i].get<bool>());
        QVERIFY(!near(found->scores[i].log_likelihood, wanted * 1.01 - 0.01));  // the check can fail
      }
    }
  }

  void wholeTextsEqualTheHarness() {
    for (const json& each : harness("rolling")) {
      const auto engine = load_scorer(each["context"]);
      const auto found = fovea::rolling_log_likelihood(*engine, each["text"].get<std::string>());
      FOVEA_VERIFY(found);
      QVERIFY2(near(*found, each["log_likelihood"]), both(*found, each["log_likelihood"]).c_str());
    }
  }

  // What one call leaves in the cache changes nothing that a later one finds, and a context that was there
  // before is not computed again.
  void sharedContextsAreComputedOnce() {
    const auto engine = load_scorer(512);
    const std::vector<std::string> choices = {" yes", " no, and that is all", " perhaps not"};
    const std::string context =
        "Reading weights takes longer than multiplying with them, so a machine waits for its memory. "
        "Does it wait?";
    const auto alone = fovea::score_continuations(*engine, context, choices);
    FOVEA_VERIFY(alone);
    FOVEA_VERIFY(fovea::score_continuations(*engine, "Something else stands here.", choices));
    const auto again = fovea::score_continuations(*engine, context, choices);
    FOVEA_VERIFY(again);
    for (std::size_t i = 0; i < choices.size(); ++i)
      QVERIFY(near(again->scores[i].log_likelihood, alone->scores[i].log_likelihood));
    fovea::GenerateRequest request;
    request.raw_prompt = context;
    request.max_tokens = 1;
    const auto answer = engine->generate(request);
    FOVEA_VERIFY(answer);
    QCOMPARE(answer->timings.reused_tokens, answer->timings.prompt_tokens - 1);
  }

  void whatCannotBeScoredIsRefused() {
    const auto engine = load_scorer(24);
    const auto refused = [&](const std::string& context, const std::vector<std::string>& continuations) {
      const auto found = fovea::score_continuations(*engine, context, continuations);
      return found ? std::string() : found.error().message();
    };
    QVERIFY(refused("A question", {" yes", ""}).contains("continuation 2"));
    QVERIFY(refused("A question", {std::string(200, 'x')}).contains("loaded for 24"));
    QVERIFY(!fovea::rolling_log_likelihood(*load_scorer(24, 64, false), "text"));
    const auto none = fovea::score_continuations(*engine, "A question", {});
    FOVEA_VERIFY(none);
    QVERIFY(none->scores.empty());
  }
};

FOVEA_TEST(ContinuationsTest)
#include "continuations_test.moc"
