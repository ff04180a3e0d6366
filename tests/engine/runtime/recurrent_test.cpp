// Models whose layers keep a recurrent state: going back to an earlier turn computes little again, and gives
// what a conversation gives that never went on.
#include <algorithm>

#include "engine/api/engine.h"
#include "engine/models/config.h"
#include "tests/support/test.h"

using namespace fovea;

namespace {

constexpr std::int64_t spacing = 256;

std::unique_ptr<Engine> load(const char* name) {
  LoadOptions options{.model = std::filesystem::path(FOVEA_SOURCE_DIR) / "tests/golden/families" / name,
                      .context = 4096,
                      .kv = KvType::f32,
                      .threads = 1};
  auto engine = Engine::load(options);
  if (!engine) qFatal("%s", engine.error().message().c_str());
  return *std::move(engine);
}

GenerateResult ask(Engine& engine, const std::string& prompt, std::int32_t tokens = 24) {
  GenerateRequest request;
  request.raw_prompt = prompt;
  request.sampling = {.temperature = 1, .top_k = 0, .top_p = 1, .min_p = 0, .seed = 11};
  request.max_tokens = tokens;
  auto result = engine.generate(request);
  if (!result) qFatal("%s", result.error().message().c_str());
  return *std::move(result);
}

// Turn `turn` of a conversation, which goes on from `before`.
std::string turn_of(int turn, char letter = 'a') {
  std::string text = "\nTurn " + std::to_string(turn) + ":";
  for (int i = 0; i < 90 + 13 * turn; ++i) text += static_cast<char>(letter + (i * i + turn * i) % 26);
  return text;
}

std::string turns(int count) {
  std::string text;
  for (int turn = 1; turn <= count; ++turn) text += turn_of(turn);
  return text;
}

}  // namespace

class RecurrentTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Memory forbids: the places are further apart, and never more than a gibibyte is taken but for eight
  // states.
  void statesArePlanned() {
    const auto plan = [](std::int64_t dim, std::int64_t context) {
      models::ModelConfig config;
      config.hidden = 64;
      config.layers.assign(
          4, {.mixer = models::GatedDeltaConfig{
                  .key_heads = 1, .value_heads = 1, .key_dim = dim, .value_dim = dim, .convolution = 1}});
      config.layers.front().mixer = models::AttentionConfig{};
      return models::plan_states(config, context);
    };
    QCOMPARE(plan(16, 4096).bytes, 3 * 4 * 16 * 16);
    QCOMPARE(plan(16, 4096).spacing, spacing);
    QCOMPARE(plan(16, 4096).saved, 16 + 16);
    QCOMPARE(plan(16, 4097).saved, 16 + 17);
    const models::StatePlan large = plan(2048, 32768);  // 50 MB
    QVERIFY(large.spacing > spacing && large.saved * large.bytes <= std::int64_t{1} << 30);
    const models::StatePlan huge = plan(16384, 32768);  // 3 GB
    QVERIFY(huge.saved <= 8 && huge.turn_ends >= 1);
    models::ModelConfig none;
    none.layers.resize(2);
    QCOMPARE(models::plan_states(none, 4096).sequence_bytes() + models::plan_states(none, 4096).saved_bytes(),
             std::int64_t{0});
  }

  void goingBackComputesLittleAgain_data() {
    QTest::addColumn<QString>("model");
    for (const char* model : {"qwen3_next-1.gguf", "qwen3_5-1.gguf", "qwen3_5_moe-1.gguf"})
      QTest::newRow(model) << QString(model);
  }
  void goingBackComputesLittleAgain() {
    QFETCH(QString, model);
    const auto engine = load(qPrintable(model));
    QVERIFY(engine->memory().states > 0);
    for (int turn = 1; turn <= 10; ++turn) {
      const GenerateResult result = ask(*engine, turns(turn));
      // The answers are left out, as by a template that drops them: at most a spacing is computed again.
      if (turn > 1) QVERIFY(result.timings.reused_tokens + spacing > ssize(turns(turn - 1)));
    }
    for (int edited = 10; edited >= 1; --edited) {
      const std::string before = turns(edited - 1), prompt = before + turn_of(edited, 'A');
      const GenerateResult found = ask(*engine, prompt);
      QVERIFY2(
          found.timings.reused_tokens + spacing > ssize(before),
          qPrintable(
              QString("turn %1: %2 of %3").arg(edited).arg(found.timings.reused_tokens).arg(ssize(before))));
      // The same turns without going back.
      const auto other = load(qPrintable(model));
      for (int turn = 1; turn < edited; ++turn) ask(*other, turns(turn));
      const GenerateResult expected = ask(*other, prompt);
      QCOMPARE(found.tokens, expected.tokens);
      QCOMPARE(found.timings.reused_tokens, expected.timings.reused_tokens);
    }
  }

  // What an answer has computed is there for the next turn, to its last token but one.
  void anAnswerIsNotComputedAgain() {
    const auto engine = load("qwen3_5_moe-1.gguf");
    GenerateRequest request;
    request.raw_prompt = turns(2);
    request.sampling = {.temperature = 1, .top_k = 1, .top_p = 1, .min_p = 0, .seed = 3};
    request.max_tokens = 40;
    const auto first = engine->generate(request);
    FOVEA_VERIFY(first);
    request.raw_prompt = turns(2) + first->text + turn_of(3);
    const auto second = engine->generate(request);
    FOVEA_VERIFY(second);
    // An answer of letters that do not become the same tokens again ends the common beginning.
    const bool same = engine->text()->encode(turns(2) + first->text + "x").size() ==
                          static_cast<std::size_t>(first->timings.prompt_tokens + ssize(first->tokens) + 1) &&
                      engine->text()->encode(first->text) == first->tokens;
    if (same) {
      QCOMPARE(second->timings.reused_tokens, first->timings.prompt_tokens + ssize(first->tokens) - 1);
    } else {
      QVERIFY(second->timings.reused_tokens + spacing > first->timings.prompt_tokens);
    }
  }

  // Another conversation in between does not take what the first one needs.
  void conversationsTakeTurns() {
    const auto engine = load("qwen3_5-1.gguf");
    ask(*engine, turns(4));
    std::string other;
    for (int turn = 1; turn <= 4; ++turn) ask(*engine, other += turn_of(turn, 'A'));
    QVERIFY(ask(*engine, turns(5)).timings.reused_tokens + spacing > ssize(turns(4)));
    QVERIFY(ask(*engine, other + "!").timings.reused_tokens + spacing > ssize(other));
  }

 private:
  static std::int64_t ssize(const auto& range) { return std::ssize(range); }
};
FOVEA_TEST(RecurrentTest)

#include "recurrent_test.moc"
