#include "engine/api/evaluate.h"
#include "engine/eval/statistics.h"
#include "tests/support/test.h"

using fovea::Engine;
using fovea::ErrorKind;

namespace {

std::unique_ptr<Engine> load() {
  auto engine =
      Engine::load({.model = fovea::tests::golden("chat"), .context = 64, .threads = 1, .chunk = 16});
  if (!engine) qFatal("%s", engine.error().message().c_str());
  return *std::move(engine);
}

}  // namespace

class BenchTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void orderStatistics() {
    const std::vector<double> values{9, 1, 8, 2, 7, 3, 6, 4, 5, 10};
    QCOMPARE(fovea::eval::median(values), 5.5);
    QCOMPARE(fovea::eval::median({3, 7}), 5.0);
    QCOMPARE(fovea::eval::median({9, 1, 4}), 4.0);
    QCOMPARE(fovea::eval::median({3}), 3.0);
    QCOMPARE(fovea::eval::percentile(values, 0.5), 5.0);
    QCOMPARE(fovea::eval::percentile(values, 0.9), 9.0);
    QCOMPARE(fovea::eval::percentile(values, 0.99), 10.0);
    QCOMPARE(fovea::eval::percentile({3}, 0.9), 3.0);
    const fovea::Spread spread = fovea::spread(values);
    QCOMPARE(spread.min, 1.0);
    QCOMPARE(spread.median, 5.5);
    QCOMPARE(spread.max, 10.0);
    QCOMPARE(fovea::eval::percentiles(values).median, 5.5);
  }

  void measuresWhatWasAsked() {
    const auto engine = load();
    const auto result =
        fovea::bench(*engine, {.prompt_tokens = 40, .generated_tokens = 10, .repetitions = 3});
    FOVEA_VERIFY(result);
    QCOMPARE(result->prefill.tokens, 40);
    QCOMPARE(result->decode.tokens, 10);
    for (const auto* speed : {&result->prefill, &result->decode}) {
      const auto& [median, min, max] = speed->tokens_per_second;
      QVERIFY(min > 0 && min <= median && median <= max);
      QVERIFY(speed->ceiling_share > 0);
    }
    for (const auto* times : {&result->ttft_ms, &result->tpot_ms})
      QVERIFY(times->median > 0 && times->median <= times->p90 && times->p90 <= times->p99);
    // One repetition's seconds twice: as a speed and as a time.
    QVERIFY(qFuzzyCompare(40'000 / result->ttft_ms.median, result->prefill.tokens_per_second.median));
    QVERIFY(result->bandwidth_gb_per_s > 0 && result->peak_gop_per_s > 0);
  }

  // What lies before takes time once, and is no part of any speed.
  void measuresBehindOtherTokens() {
    const auto engine = load();
    const auto result =
        fovea::bench(*engine, {.prompt_tokens = 10, .generated_tokens = 4, .depth = 50, .repetitions = 2});
    FOVEA_VERIFY(result);
    QCOMPARE(result->depth, 50);
    QCOMPARE(result->prefill.tokens, 10);
    QVERIFY(result->prefill.tokens_per_second.min > 0 && result->decode.tokens_per_second.min > 0);
    const auto beyond = fovea::bench(*engine, {.prompt_tokens = 10, .generated_tokens = 4, .depth = 55});
    QVERIFY(!beyond);
    QCOMPARE(beyond.error().kind, ErrorKind::context_full);
  }

  void aTokensCostFollowsFromTheShapes() {
    const fovea::TokenCost cost = load()->cost();
    // For each of 2 layers: q [64, 48], k and v [32, 48], output [48, 64], router [4, 48], two experts of
    // three [32, 48].
    QCOMPARE(cost.multiply_adds, 2 * (64 * 48 + 2 * 32 * 48 + 48 * 64 + 4 * 48 + 2 * 3 * 32 * 48));
    QCOMPARE(cost.output_multiply_adds, 340 * 48);
  }

  void oneOfBothMayBeLeftOut() {
    const auto engine = load();
    const auto prefill =
        fovea::bench(*engine, {.prompt_tokens = 10, .generated_tokens = 0, .repetitions = 1});
    FOVEA_VERIFY(prefill);
    QCOMPARE(prefill->decode.tokens, 0);
    const auto decode = fovea::bench(*engine, {.prompt_tokens = 0, .generated_tokens = 4, .repetitions = 1});
    FOVEA_VERIFY(decode);
    QCOMPARE(decode->prefill.tokens, 0);
  }

  void wrongSettingsAreTypedErrors() {
    const auto engine = load();
    QCOMPARE(fovea::bench(*engine, {.repetitions = 0}).error().kind, ErrorKind::invalid);
    QCOMPARE(fovea::bench(*engine, {.prompt_tokens = 0, .generated_tokens = 0}).error().kind,
             ErrorKind::invalid);
    QCOMPARE(fovea::bench(*engine, {.prompt_tokens = 65}).error().kind, ErrorKind::context_full);
    std::stop_source stopped;
    stopped.request_stop();
    QCOMPARE(fovea::bench(*engine, {.prompt_tokens = 4, .generated_tokens = 4}, {}, stopped.get_token())
                 .error()
                 .kind,
             ErrorKind::cancelled);
  }
};
FOVEA_TEST(BenchTest)

#include "bench_test.moc"
