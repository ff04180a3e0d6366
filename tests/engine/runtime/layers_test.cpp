// Policies that lower linear layers while an answer is written, on a dense model and beside the experts of a
// mixture.
#include <QTemporaryDir>
#include <cmath>

#include "engine/runtime/load.h"

#include "tests/engine/chat/chat_model.h"
#include "expert_model.h"

using namespace fovea::tests;
using namespace fovea::tests::expert_model;
using fovea::Engine;
using fovea::LoadOptions;
using fovea::PolicyKind;
using fovea::TokenId;

namespace {

// Keeps what it was told.
class Ear final : public fovea::precision::Policy {
 public:
  struct Heard {
    std::int64_t tokens = 0;
    bool prefill = false;
    std::size_t entropies = 0;
    bool operator==(const Heard&) const = default;
  };
  Ear(const fovea::precision::PolicyWorld& world, std::vector<Heard>& heard)
      : tiers_(static_cast<std::size_t>(world.units())), heard_(heard) {}
  std::string_view name() const override { return "ear"; }
  std::vector<std::uint8_t> initial() const override { return tiers_; }
  bool wants_entropy() const override { return true; }
  std::int64_t prompt_tokens_watched() const override { return 5; }
  void observe(const fovea::precision::Observation& seen) override {
    heard_.push_back({seen.tokens, seen.prefill, seen.entropies.size()});
  }
  void propose(std::span<const std::uint8_t>, std::int32_t,
               std::vector<fovea::precision::Decision>&) override {}
  std::span<const float> hotness() const override { return {}; }

 private:
  std::vector<std::uint8_t> tiers_;
  std::vector<Heard>& heard_;
};

double pple(std::span<const float> logits) {
  double sum = 0, entropy = 0;
  for (const float logit : logits) sum += std::exp(double(logit));
  for (const float logit : logits)
    entropy -= std::exp(double(logit)) / sum * std::log(std::exp(double(logit)) / sum);
  return std::exp(entropy);
}

}  // namespace

class LayersTest : public QObject {
  Q_OBJECT

  QTemporaryDir folder_;

  // Goes all the way down behind the first token of an answer, whatever it says.
  LoadOptions goes_down(LoadOptions options) const {
    options.precision.policy = PolicyKind::flexquant;
    options.precision.tiers = {"file", "bf16"};
    options.precision.stores_folder = folder_.path().toStdString();
    options.precision.traffic_gb_per_s = 1;  // not measured
    options.precision.publish_after_passes = 0;
    options.precision.flexquant = {.threshold = 1e6, .window_tokens = 1, .wait_tokens = 1, .layers = 1000};
    return options;
  }
  LoadOptions dense() const {
    LoadOptions options = plain_request();
    options.model = golden("models/qwen3-0");
    return options;
  }

 private Q_SLOTS:
  // The last five of a prompt of seven in passes of three, wherever the passes end; then
  // each token of the answer.
  void aPromptsLastTokensAreHeard() {
    std::vector<Ear::Heard> heard;
    auto engine = fovea::runtime::load(goes_down(dense()),
                                       [&](const fovea::precision::PolicyWorld& world)
                                           -> fovea::Result<std::unique_ptr<fovea::precision::Policy>> {
                                         return std::make_unique<Ear>(world, heard);
                                       });
    FOVEA_VERIFY(engine);
    FOVEA_VERIFY((*engine)->time_decode(7, 2));
    QCOMPARE(heard, (std::vector<Ear::Heard>{
                        {3, true, 1}, {3, true, 3}, {1, true, 1}, {1, false, 1}, {1, false, 1}}));
    heard.clear();
    FOVEA_VERIFY((*engine)->time_prefill(2));
    QCOMPARE(heard, (std::vector<Ear::Heard>{{2, true, 2}}));
    heard.clear();
    FOVEA_VERIFY((*engine)->logits(some_tokens(6), [](std::int64_t, std::span<const float>) {}, {}, 4));
    QCOMPARE(heard, (std::vector<Ear::Heard>{{3, true, 3}, {1, true, 1}, {1, false, 1}, {1, false, 1}}));
  }

  // While nobody has gone down the logits are those of the file; behind the answer all layers are down, and
  // the next prompt is read at the top again.
  void downAndUpAgain() {
    const auto plain = load(dense());
    const auto engine = load(goes_down(dense()));
    const auto tokens = some_tokens(12);
    const std::vector<float> expected = logits(*plain, tokens);
    std::vector<float> first;
    for (int turn = 0; turn < 3; ++turn) {
      const std::vector<float> found = logits(*engine, tokens);  // all of it an answer
      QVERIFY(std::equal(expected.begin(), expected.begin() + vocabulary, found.begin()));
      if (turn == 0) first = found;
      QVERIFY(found == first);
      const auto use = engine->precision();
      const std::int64_t units = engine->plan().units();
      QCOMPARE(use->demotions, units * (turn + 1));
      QCOMPARE(use->promotions, units * turn);
      QCOMPARE(use->swaps_refused + use->swaps_failed, 0);
      QCOMPARE(use->mean_bits_per_weight, 16.0);
      // Four layers go at once, and another four behind each token.
      QVERIFY(use->answer_bits_per_weight > 16 && use->answer_bits_per_weight < 32);
      QVERIFY(use->accounted_bytes <= use->budget_bytes);
    }
  }

  // A threshold that no distribution is below keeps the whole answer as the file has it, beside the same
  // experts.
  void nobodyGoesWithoutCertainty() {
    LoadOptions certain = goes_down(chat_request());
    certain.precision.flexquant.threshold = 1;
    const auto plain = load(chat_request()), engine = load(certain),
               lowered = load(goes_down(chat_request()));
    const auto request = greedy(messages_of(expected_chat()["chats"][0]), 24);
    const auto expected = generate(*plain, request).tokens;
    QVERIFY(expected.size() > 2);
    QCOMPARE(generate(*engine, request).tokens, expected);
    QCOMPARE(engine->precision()->answer_bits_per_weight, 32.0);
    QCOMPARE(engine->precision()->demotions, 0);
    generate(*lowered, request);
    QCOMPARE(lowered->precision()->demotions, lowered->plan().units());
    QVERIFY(lowered->precision()->answer_bits_per_weight < 32);
  }

  // By the prompt's own perplexity: what the model itself said of its last tokens and of the answer's
  // decides, as Algorithm 1 has it, when each layer goes. A step is published behind the token after its
  // decision.
  void thresholdOfThePrompt() {
    constexpr std::int64_t prompt = 8, all = 60, window = 2, wait = 3;
    LoadOptions own = goes_down(dense());
    own.precision.flexquant = {.window_tokens = window, .wait_tokens = wait};
    const auto plain = load(dense()), engine = load(own);
    std::int64_t before = 0, most = 0;
    for (TokenId shift = 0; shift < 6; ++shift) {
      std::vector<TokenId> tokens;
      for (TokenId i = 0; i < all; ++i) tokens.push_back((i * i * 7 + i * shift + 3) % vocabulary);
      const std::vector<float> high = logits(*plain, std::span(tokens).first(prompt));
      double threshold = 0;
      for (std::int64_t row = prompt - window; row < prompt; ++row)
        threshold += pple(std::span(high).subspan(std::size_t(row * vocabulary), vocabulary)) / window;
      std::vector<double> answer;
      FOVEA_VERIFY(engine->logits(
          tokens, [&](std::int64_t, std::span<const float> row) { answer.push_back(pple(row)); }, {},
          prompt));
      std::int64_t down = 0, next = wait;
      for (std::int64_t n = 1; n < std::ssize(answer); ++n) {
        if (n < next || (answer[std::size_t(n - 1)] + answer[std::size_t(n - 2)]) / 2 >= threshold) continue;
        ++down;
        next = n + 1 + wait;
      }
      QCOMPARE(engine->precision()->demotions - before, std::min(down, engine->plan().units()));
      before = engine->precision()->demotions;
      most = std::max(most, down);
    }
    QVERIFY(most > 1);
  }

  void pmpdByTheTokens() {
    LoadOptions options = goes_down(dense());
    options.precision.policy = PolicyKind::pmpd;
    options.precision.flexquant = {};
    options.precision.pmpd.schedule = {10};
    const auto engine = load(options);
    logits(*engine, some_tokens(9));
    QCOMPARE(engine->precision()->demotions, 0);
    QCOMPARE(engine->precision()->answer_bits_per_weight, 32.0);
    logits(*engine, some_tokens(40));
    QCOMPARE(engine->precision()->demotions, engine->plan().units());
  }

  // It tells the least that would do, and that does.
  void aBudgetBelowTheHighestTierIsRefused() {
    LoadOptions options = goes_down(dense());
    const std::int64_t whole = load(options)->plan().plan.total_bytes;
    options.precision.budget_bytes = whole / 2;
    const auto refused = Engine::load(options);
    QVERIFY(!refused);
    QCOMPARE(refused.error().kind, fovea::ErrorKind::memory);
    QVERIFY2(refused.error().message().contains("file"), refused.error().message().c_str());
    options.precision.budget_bytes = refused.error().number("least").value_or(0);
    FOVEA_VERIFY(Engine::load(options));
  }

  // Each layer of a mixture's dense part, and none of its experts.
  void unitsOfAMixture() {
    const auto engine = load(goes_down(plain_request()));
    QCOMPARE(engine->plan().units_per_layer, 4);  // q, k, v, o
  }
};
FOVEA_TEST(LayersTest)

#include "layers_test.moc"
