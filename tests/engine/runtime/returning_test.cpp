// Models whose layers keep something else than all keys and values, a recurrent state or what a window sees:
// going back to an earlier turn computes little again, and gives what a conversation gives that never went
// on.
#include <algorithm>
#include <cstring>

#include "engine/api/engine.h"
#include "engine/layers/forward.h"
#include "engine/models/model.h"
#include "engine/runtime/kv_cache.h"
#include "engine/runtime/load_settings.h"
#include "kernels/cpu/device.h"
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

constexpr const char* recurrent_models[] = {"qwen3_next-1.gguf", "qwen3_5-1.gguf", "qwen3_5_moe-1.gguf"};
constexpr const char* models_with_windows[] = {"mellum-1.gguf", "gpt_oss-0.gguf", "gemma3-1.gguf",
                                               "gemma4-0.gguf"};

// The same without the engine, to look at the logits.
class Computed {
 public:
  explicit Computed(const char* name)
      : model_(*models::Model::load(*checkpoint::Checkpoint::open(tests::golden("families") / name), device_,
                                    1, {}, {})),
        stream_(device_.make_stream({.threads = 1})),
        settings_(
            runtime::kv_settings(model_.config(), {.context = context, .kv = KvType::f32, .chunk = chunk})),
        cache_(*runtime::KvCache::create(settings_, device_, *stream_)),
        forward_(*layers::Forward::create(model_, device_,
                                          {.tokens = chunk, .pages = runtime::KvCache::pages(settings_)})) {}

  const runtime::KvCache& cache() const { return *cache_; }

  // The likeliest tokens behind these, and every row of logits that led to them.
  struct Answer {
    std::vector<TokenId> tokens;
    std::vector<float> logits;
    std::int64_t reused = 0;
  };
  Answer answer(const std::vector<TokenId>& prompt, int count) {
    Answer result;
    runtime::Sequence sequence = cache_->begin(prompt, std::ssize(prompt) - 1);
    result.reused = sequence.length();
    std::span<const TokenId> rest = std::span(prompt).subspan(static_cast<std::size_t>(result.reused));
    while (!rest.empty()) {
      const auto some = rest.first(std::min<std::size_t>(rest.size(), chunk));
      run(sequence, some, result);
      rest = rest.subspan(some.size());
    }
    for (; count > 0; --count) {
      const auto row = std::span(result.logits).last(static_cast<std::size_t>(model_.config().vocabulary));
      result.tokens.push_back(static_cast<TokenId>(std::ranges::max_element(row) - row.begin()));
      run(sequence, std::span(result.tokens).last(1), result);
    }
    sequence.save_state();
    return result;
  }

 private:
  static constexpr std::int64_t chunk = 64, context = 4096;

  void run(runtime::Sequence& sequence, std::span<const TokenId> tokens, Answer& result) {
    if (const auto room = sequence.reserve(std::ssize(tokens)); !room)
      qFatal("%s", room.error().message().c_str());
    const std::span<const float> logits = forward_.run({.segments = {{.tokens = tokens,
                                                                      .first = sequence.length(),
                                                                      .pages = sequence.pages(),
                                                                      .state = sequence.state()}},
                                                        .context = context},
                                                       *stream_);
    result.logits.insert(result.logits.end(), logits.begin(), logits.end());
    sequence.commit(tokens);
    if (sequence.length() % spacing == 0) sequence.save_state();
  }

  const kernels::Device& device_ = *kernels::cpu::default_device();
  models::Model model_;
  std::unique_ptr<kernels::Stream> stream_;
  runtime::KvCache::Settings settings_;
  std::unique_ptr<runtime::KvCache> cache_;
  layers::Forward forward_;
};

std::vector<TokenId> tokens_of(const std::string& text) {
  return {text.begin(), text.end()};  // letters' bytes are tokens of these models
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
  std::string text = (letter == 'a' ? "\nTurn " : " Edited ") + std::to_string(turn) + ":";
  for (int i = 0; i < 90 + 13 * turn; ++i) text += static_cast<char>(letter + (i * i + turn * i) % 26);
  return text;
}

std::string turns(int count) {
  std::string text;
  for (int turn = 1; turn <= count; ++turn) text += turn_of(turn);
  return text;
}

}  // namespace

class ReturningTest : public QObject {
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
    for (const char* model : recurrent_models) QTest::newRow(model) << QString(model);
    for (const char* model : models_with_windows) QTest::newRow(model) << QString(model);
  }
  void goingBackComputesLittleAgain() {
    QFETCH(QString, model);
    const auto engine = load(qPrintable(model));
    QVERIFY((engine->memory().states > 0) != (engine->memory().windows > 0));
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

  // Ten turns, each once more with other words, from the last to the first.
  void returningChangesNoBit_data() { goingBackComputesLittleAgain_data(); }
  void returningChangesNoBit() {
    QFETCH(QString, model);
    Computed computed(qPrintable(model));
    for (int turn = 1; turn <= 10; ++turn) computed.answer(tokens_of(turns(turn)), 6);
    for (int edited = 10; edited >= 1; --edited) {
      const auto prompt = tokens_of(turns(edited - 1) + turn_of(edited, 'A'));
      const auto found = computed.answer(prompt, 6);
      QVERIFY(found.reused + spacing > ssize(turns(edited - 1)));
      Computed other(qPrintable(model));
      for (int turn = 1; turn < edited; ++turn) other.answer(tokens_of(turns(turn)), 6);
      const auto expected = other.answer(prompt, 6);
      QCOMPARE(found.reused, expected.reused);
      QCOMPARE(found.logits.size(), expected.logits.size());
      QVERIFY(std::memcmp(found.logits.data(), expected.logits.data(), found.logits.size() * 4) == 0);
    }
  }

  // What windows have passed is in the host's memory, and little of it where passes compute.
  void windowsAreSmall() {
    Computed computed("gpt_oss-0.gguf");
    computed.answer(tokens_of(turns(6)), 1);
    const auto& settings = computed.cache().settings();
    QVERIFY(10 * settings.windows.places < runtime::KvCache::pages(settings));
    QVERIFY(computed.cache().statistics().saved > 5);
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
FOVEA_TEST(ReturningTest)

#include "returning_test.moc"
