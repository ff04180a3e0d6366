#include "engine/runtime/sampler.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "engine/text/tokenizer.h"
#include "kernels/reference/device.h"
#include "tests/support/test.h"

using fovea::ErrorKind;
using fovea::SamplingSettings;
using fovea::TokenId;
using fovea::runtime::Random;
using fovea::runtime::Sampler;
namespace kernels = fovea::kernels;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

SamplingSettings everything_off() {
  SamplingSettings settings;
  settings.temperature = 1;
  settings.top_k = 0;
  settings.top_p = 1;
  settings.min_p = 0;
  settings.penalty_window = -1;
  settings.seed = 1;
  return settings;
}

SamplingSettings from_json(const nlohmann::json& json) {
  SamplingSettings settings = everything_off();
  settings.temperature = json["temperature"];
  settings.top_k = json["top_k"];
  settings.top_p = json["top_p"];
  settings.min_p = json["min_p"];
  settings.repetition_penalty = json["repetition_penalty"];
  settings.presence_penalty = json["presence_penalty"];
  settings.frequency_penalty = json["frequency_penalty"];
  return settings;
}

std::map<TokenId, double> probabilities(Sampler& sampler, std::span<const float> logits) {
  std::map<TokenId, double> result;
  for (const auto& candidate : sampler.filter(logits)) result[candidate.token] = candidate.probability;
  return result;
}

// Pearson's statistic of `draws` samples against `expected`, divided by the value that a fair sample exceeds
// about once in a million (Wilson and Hilferty's approximation): above 1 the distributions differ.
double chi_square_share(Sampler& sampler, std::span<const float> logits,
                        const std::map<TokenId, double>& expected, int draws) {
  std::map<TokenId, int> counts;
  for (int draw = 0; draw < draws; ++draw) ++counts[sampler.sample(logits)];
  double statistic = 0;
  for (const auto& [token, probability] : expected) {
    const double wanted = probability * draws;
    statistic += (counts[token] - wanted) * (counts[token] - wanted) / wanted;
  }
  for (const auto& [token, count] : counts) {
    if (!expected.contains(token) && count > 0) return infinity;
  }
  const double freedom = static_cast<double>(expected.size()) - 1;
  const double a = 2 / (9 * freedom);
  return statistic / (freedom * std::pow(1 - a + 4.75 * std::sqrt(a), 3));
}

std::vector<float> normal_logits(std::size_t count, unsigned seed, float scale) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, scale);
  std::vector<float> logits(count);
  for (float& logit : logits) logit = normal(random);
  return logits;
}

// What a device lists of logits.
class Listed {
 public:
  Listed(const std::vector<float>& logits, float temperature)
      : ids_(std::min(logits.size(), static_cast<std::size_t>(kernels::max_top_k))), values_(ids_.size()) {
    const float inverse_temperature = temperature > 0 ? 1 / temperature : 1;
    const auto& device = kernels::reference::device();
    device.operations().top_k({.logits = logits.data(),
                               .count = std::ssize(logits),
                               .inverse_temperature = &inverse_temperature,
                               .listed = std::ssize(ids_),
                               .ids = ids_.data(),
                               .values = values_.data(),
                               .sums = sums_},
                              *device.make_stream({}));
  }
  fovea::layers::TopKLogits likely() const {
    return {.ids = ids_, .logits = values_, .weight = static_cast<double>(sums_[0]), .entropy = 0};
  }

 private:
  std::vector<TokenId> ids_;
  std::vector<float> values_;
  float sums_[3] = {};
};

}  // namespace

class SamplerTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // The sequence that the generator's authors and others publish for this seed.
  void randomNumbersAreSplitMix64() {
    Random random(1234567);
    for (const std::uint64_t expected : {6457827717110365317U, 3203168211198807973U, 9817491932198370423U,
                                         4593380528125082431U, 16408922859458223821U})
      QCOMPARE(random.next(), expected);
    for (int round = 0; round < 1000; ++round) {
      const double uniform = random.uniform();
      QVERIFY(uniform >= 0 && uniform < 1);
    }
  }

  void filteredProbabilitiesEqualTransformers_data() {
    QTest::addColumn<int>("group");
    QTest::addColumn<int>("entry");
    const auto cases = golden_cases();
    QVERIFY(cases.is_array());
    for (std::size_t group = 0; group < cases.size(); ++group) {
      for (std::size_t entry = 0; entry < cases[group]["entries"].size(); ++entry) {
        QTest::addRow("%zu %s", group, cases[group]["entries"][entry]["settings"].dump().c_str())
            << static_cast<int>(group) << static_cast<int>(entry);
      }
    }
  }
  void filteredProbabilitiesEqualTransformers() {
    QFETCH(int, group);
    QFETCH(int, entry);
    const nlohmann::json cases = golden_cases();
    const auto& golden = cases[static_cast<std::size_t>(group)];
    const auto& wanted = golden["entries"][static_cast<std::size_t>(entry)];
    const auto logits = golden["logits"].get<std::vector<float>>();
    auto sampler = Sampler::create(from_json(wanted["settings"]), static_cast<std::int64_t>(logits.size()));
    FOVEA_VERIFY(sampler);
    for (const TokenId token : golden["history"]) sampler->accept(token);

    const auto found = probabilities(*sampler, logits);
    QCOMPARE(found.size(), wanted["probabilities"].size());
    for (const auto& [id, probability] : wanted["probabilities"].items()) {
      const auto it = found.find(std::stoi(id));
      QVERIFY2(it != found.end(), id.c_str());
      const double expected = probability.get<double>();
      QVERIFY2(std::abs(it->second - expected) <= 2e-5 * expected + 1e-9, id.c_str());
    }
  }

  // Of logits that are all alike, what is left of each says what it lost.
  void dryTakesWhatItsDefinitionSays() {
    std::ifstream file(fovea::tests::golden("dry.json"));
    const auto cases = nlohmann::json::parse(file, nullptr, false);
    QVERIFY(cases.is_array() && cases.size() > 50);
    constexpr std::int64_t vocabulary = 13;  // one more than occurs
    for (const auto& golden : cases) {
      const auto& given = golden["settings"];
      SamplingSettings settings = everything_off();
      settings.temperature = 100;  // so that none is too unlikely to be listed
      settings.dry_multiplier = given["multiplier"];
      settings.dry_base = given["base"];
      settings.dry_allowed_length = given["allowed_length"];
      settings.dry_window = given["window"];
      const auto breakers = given["breakers"].get<std::unordered_set<TokenId>>();
      auto sampler = Sampler::create(settings, vocabulary, &breakers);
      FOVEA_VERIFY(sampler);
      for (const TokenId token : golden["history"]) sampler->accept(token);
      for (const auto& candidate : sampler->filter(std::vector<float>(vocabulary, 0))) {
        const double expected = golden["penalties"].value(std::to_string(candidate.token), 0.0);
        const double found = -static_cast<double>(candidate.logit);
        const bool listed = expected < 8000;
        QVERIFY2(!listed || std::abs(found - expected) <= 1e-5 * expected, golden.dump().c_str());
      }
    }
  }

  // "2" stood behind "0 1" once; the larger window is the smallest that still sees it.
  void dryForgetsWhatLeftTheWindow() {
    for (const int window : {5, 4}) {
      SamplingSettings settings = everything_off();
      settings.dry_multiplier = 3;
      settings.dry_window = window;
      auto sampler = Sampler::create(settings, 5);
      FOVEA_VERIFY(sampler);
      for (const TokenId token : {3, 3, 0, 1, 2, 0, 1}) sampler->accept(token);
      std::map<TokenId, float> found;
      for (const auto& candidate : sampler->filter(std::vector<float>(5, 0)))
        if (candidate.logit < 0) found[candidate.token] = candidate.logit;
      QCOMPARE(found, window == 4 ? (std::map<TokenId, float>{}) : (std::map<TokenId, float>{{2, -3.0F}}));
    }
  }

  // Off, it needs no logits but the likeliest; on, another token may come forward.
  void drySeesAllLogits() {
    SamplingSettings settings = everything_off();
    settings.temperature = 0;
    settings.dry_base = 3;
    settings.dry_allowed_length = 1;
    QVERIFY(Sampler::create(settings, 9)->may_need_few());
    settings.dry_multiplier = 1;
    settings.dry_window = 0;
    QVERIFY(Sampler::create(settings, 9)->may_need_few());
    settings.dry_window = -1;
    auto sampler = Sampler::create(settings, 9);
    QVERIFY(!sampler->may_need_few());
    std::vector<float> logits(9, 0);
    logits[4] = 10;
    logits[7] = 9.5F;
    QVERIFY(sampler->filter(Listed(logits, 0).likely()).empty());
    std::vector<TokenId> said;
    for (int i = 0; i < 4; ++i) sampler->accept(said.emplace_back(sampler->sample(logits)));
    QCOMPARE(said, (std::vector<TokenId>{4, 4, 7, 4}));  // a third 4 would go on with "4 4"
  }

  // The longest passage costs more than a float can hold.
  void dryOfAnEndlessCircle() {
    SamplingSettings settings = everything_off();
    settings.dry_multiplier = 100;
    settings.dry_base = 100;
    auto sampler = Sampler::create(settings, 4);
    FOVEA_VERIFY(sampler);
    for (int i = 0; i < 20'000; ++i) sampler->accept(1);
    const auto found = probabilities(*sampler, std::vector<float>{0, 50, 0, 0});
    QCOMPARE(found.size(), std::size_t{3});
    QVERIFY(!found.contains(1));
    for (TokenId token = 0; token < 4; ++token) sampler->accept(token);
    QVERIFY(probabilities(*sampler, std::vector<float>{0, 50, 0, 0})[1] > 0.99);  // 3 was never said before
  }

  void dryBeginsAnewAtFourCharactersAndControlTokens() {
    const auto checkpoint = fovea::checkpoint::Checkpoint::open(fovea::tests::golden("chat"));
    FOVEA_VERIFY(checkpoint);
    const auto tokenizer = fovea::text::Tokenizer::open(*checkpoint);
    FOVEA_VERIFY(tokenizer);
    const auto breakers = fovea::runtime::sequence_breakers(*tokenizer);
    for (const char* text : {"\n", "\n\n", ":", "\"", "*", "?\"", "<|im_end|>"}) {
      const auto tokens = tokenizer->encode(text, {.parse_special = true});
      QVERIFY2(std::ranges::all_of(tokens, [&](TokenId token) { return breakers.contains(token); }) ||
                   std::string_view(text) == "?\"",
               text);
      QVERIFY2(breakers.contains(tokens.back()), text);
    }
    for (const TokenId token : tokenizer->encode("The cat's 9 lives; a (mixed) story, ended.\t#"))
      QVERIFY2(!breakers.contains(token), std::string(tokenizer->name(token)).c_str());
  }

  void drawsFollowTheDistribution_data() {
    QTest::addColumn<float>("temperature");
    QTest::addColumn<int>("top_k");
    QTest::addColumn<float>("top_p");
    QTest::newRow("all") << 1.0F << 0 << 1.0F;
    QTest::newRow("hot") << 3.0F << 0 << 1.0F;
    QTest::newRow("top-k") << 1.0F << 9 << 1.0F;
    QTest::newRow("top-p") << 0.8F << 0 << 0.8F;
  }
  void drawsFollowTheDistribution() {
    QFETCH(float, temperature);
    QFETCH(int, top_k);
    QFETCH(float, top_p);
    SamplingSettings settings = everything_off();
    settings.temperature = temperature;
    settings.top_k = top_k;
    settings.top_p = top_p;
    settings.seed = 42;
    const auto logits = normal_logits(24, fovea::tests::seed(), 1);
    auto sampler = Sampler::create(settings, 24);
    FOVEA_VERIFY(sampler);
    auto expected = probabilities(*sampler, logits);  // checked against transformers above
    const double fair = chi_square_share(*sampler, logits, expected, 40'000);
    QVERIFY2(fair < 1, std::to_string(fair).c_str());

    // The same check sees a distribution that is wrong by a tenth of its largest member.
    const auto largest = std::max_element(expected.begin(), expected.end(),
                                          [](const auto& a, const auto& b) { return a.second < b.second; });
    const double moved = 0.1 * largest->second;
    largest->second -= moved;
    (largest == expected.begin() ? std::next(largest) : expected.begin())->second += moved;
    QVERIFY(chi_square_share(*sampler, logits, expected, 40'000) > 1);
  }

  void greedyTakesTheLowestOfEqualIds() {
    SamplingSettings settings;
    settings.temperature = 0;
    auto sampler = Sampler::create(settings, 6);
    FOVEA_VERIFY(sampler);
    const std::vector<float> logits{1, 5, std::nanf(""), 5, -infinity, 4};
    QCOMPARE(sampler->sample(logits), 1);
    const std::vector<float> none(6, -infinity);
    QCOMPARE(sampler->sample(none), 0);
  }

  // One over it is beyond the largest number.
  void theSmallestTemperatureTakesTheLargest() {
    for (const int top_k : {0, 3}) {
      SamplingSettings settings = everything_off();
      settings.temperature = 1e-40F;
      settings.top_k = top_k;
      auto sampler = Sampler::create(settings, 40);
      FOVEA_VERIFY(sampler);
      std::vector<float> logits = normal_logits(40, 1, 1);
      logits[30] = 9;
      QCOMPARE(probabilities(*sampler, logits)[30], 1.0);
      QCOMPARE(sampler->sample(logits), 30);
    }
  }

  void exactlyKOfEqualLogitsPassTopK() {
    SamplingSettings settings = everything_off();
    settings.top_k = 5;
    auto sampler = Sampler::create(settings, 100);
    FOVEA_VERIFY(sampler);
    std::vector<float> logits(100, 1);
    logits[77] = 2;
    const auto found = probabilities(*sampler, logits);
    std::vector<TokenId> ids;
    for (const auto& [id, probability] : found) ids.push_back(id);
    QCOMPARE(ids, (std::vector<TokenId>{0, 1, 2, 3, 77}));
  }

  void hostileLogitsStillGiveAToken_data() {
    QTest::addColumn<float>("fill");
    QTest::addColumn<float>("one");
    QTest::newRow("not a number") << std::nanf("") << std::nanf("");
    QTest::newRow("minus infinity") << -infinity << -infinity;
    QTest::newRow("one infinity") << 0.0F << infinity;
    QTest::newRow("all infinity") << infinity << infinity;
    QTest::newRow("one number") << std::nanf("") << 3.0F;
  }
  void hostileLogitsStillGiveAToken() {
    QFETCH(float, fill);
    QFETCH(float, one);
    for (const int top_k : {0, 3}) {
      SamplingSettings settings;
      settings.top_k = top_k;
      settings.temperature = 1;
      auto sampler = Sampler::create(settings, 50);
      FOVEA_VERIFY(sampler);
      std::vector<float> logits(50, fill);
      logits[20] = one;
      const TokenId token = sampler->sample(logits);
      QVERIFY(token >= 0 && token < 50);
      if (one > 0 && !(fill == one)) QCOMPARE(token, 20);
    }
  }

  void penaltiesForgetWhatLeftTheWindow() {
    SamplingSettings settings = everything_off();
    settings.temperature = 0;
    settings.presence_penalty = 10;
    settings.penalty_window = 2;
    auto sampler = Sampler::create(settings, 4);
    FOVEA_VERIFY(sampler);
    const std::vector<float> logits{3, 2, 1, 0};
    QCOMPARE(sampler->sample(logits), 0);
    sampler->accept(0);
    QCOMPARE(sampler->sample(logits), 1);
    sampler->accept(1);
    QCOMPARE(sampler->sample(logits), 2);
    sampler->accept(2);
    QCOMPARE(sampler->sample(logits), 0);
  }

  void topPAgreesWithASortOfEverything() {
    for (int round = 0; round < fovea::tests::rounds(5); ++round) {
      const unsigned seed = fovea::tests::seed() + static_cast<unsigned>(round);
      const auto logits = normal_logits(20'000, seed, 2.5F);
      SamplingSettings settings = everything_off();
      settings.top_p = 0.9F;
      auto sampler = Sampler::create(settings, 20'000);
      FOVEA_VERIFY(sampler);
      const auto found = probabilities(*sampler, logits);

      std::vector<std::size_t> order(logits.size());
      std::iota(order.begin(), order.end(), 0);
      std::sort(order.begin(), order.end(), [&](auto a, auto b) { return logits[a] > logits[b]; });
      double total = 0;
      for (const float logit : logits) total += std::exp(static_cast<double>(logit));
      double sum = 0;
      std::size_t wanted = 0;
      while (sum < 0.9F) sum += std::exp(static_cast<double>(logits[order[wanted++]])) / total;
      const auto difference = static_cast<std::int64_t>(found.size()) - static_cast<std::int64_t>(wanted);
      QVERIFY2(std::abs(difference) <= 1, qPrintable(QString("seed %1: %2").arg(seed).arg(difference)));
      for (std::size_t rank = 0; rank + 1 < std::min(wanted, found.size()); ++rank)
        QVERIFY(found.contains(static_cast<TokenId>(order[rank])));
    }
  }

  void theSameSeedDrawsTheSameTokens() {
    const auto logits = normal_logits(500, 3, 1);
    const auto draw = [&](std::uint64_t seed) {
      SamplingSettings settings;
      settings.seed = seed;
      auto sampler = Sampler::create(settings, 500);
      std::vector<TokenId> tokens;
      for (int i = 0; i < 100; ++i) tokens.push_back(sampler->sample(logits));
      return tokens;
    };
    QCOMPARE(draw(5), draw(5));
    QVERIFY(draw(5) != draw(6));
  }

  // As of a model that is sure: e^-200 is less than a float can hold.
  void farBehindIsNever() {
    SamplingSettings settings = everything_off();
    std::vector<float> logits(40, -200);
    logits[7] = 0;
    logits[8] = -20000;
    logits[39] = -infinity;
    for (const float temperature : {0.01F, 1.0F}) {
      settings.temperature = temperature;
      auto sampler = Sampler::create(settings, 40);
      FOVEA_VERIFY(sampler);
      const auto found = probabilities(*sampler, logits);
      QCOMPARE(found.size(), std::size_t{1});
      QCOMPARE(found.at(7), 1.0);
    }
  }

  // The fewest that reach it, and they may reach it exactly.
  void topPIsReachedExactly() {
    SamplingSettings settings = everything_off();
    settings.top_p = 0.5F;
    auto sampler = Sampler::create(settings, 4);
    FOVEA_VERIFY(sampler);
    const auto found = probabilities(*sampler, std::vector<float>(4, 1));
    QCOMPARE(found.size(), std::size_t{2});
    QVERIFY(found.contains(0) && found.contains(1));
  }

  // 128 tokens are listed of many that min-p or top-p may keep as well.
  void aListThatMayLackOneDecidesNothing() {
    constexpr std::size_t vocabulary = 5000;
    SamplingSettings settings = everything_off();
    settings.min_p = 0.1F;
    std::vector<float> logits(vocabulary, std::log(0.15F));  // above the bound, as the last of the list is
    logits[0] = 0;
    QVERIFY(Sampler::create(settings, vocabulary)->filter(Listed(logits, 1).likely()).empty());
    settings.min_p = 0;
    settings.top_p = 0.9F;
    std::ranges::fill(logits, -5.413F);  // 4,872 of them have 14.5 % of the weight
    std::fill_n(logits.begin(), 128, 0.0F);
    QVERIFY(Sampler::create(settings, vocabulary)->filter(Listed(logits, 1).likely()).empty());
    settings.top_p = 0.85F;
    QVERIFY(!Sampler::create(settings, vocabulary)->filter(Listed(logits, 1).likely()).empty());
  }

  // The top-k logits of another device decide as all logits do, or says that it cannot.
  void topKLogitsDecideAsAllLogitsDo_data() {
    QTest::addColumn<float>("temperature");
    QTest::addColumn<int>("top_k");
    QTest::addColumn<float>("top_p");
    QTest::addColumn<float>("min_p");
    QTest::addColumn<float>("penalty");
    QTest::addColumn<float>("spread");  // of the logits
    QTest::addColumn<bool>("decide");
    const float off = 1;
    QTest::newRow("greedy") << 0.0F << 0 << off << 0.0F << off << 1.0F << true;
    QTest::newRow("top-k") << 0.6F << 20 << off << 0.0F << off << 1.0F << true;
    QTest::newRow("top-k, top-p and min-p") << 0.7F << 40 << 0.8F << 0.05F << off << 2.0F << true;
    QTest::newRow("top-k beyond the list") << 1.0F << 129 << off << 0.0F << off << 6.0F << false;
    QTest::newRow("top-p") << 1.0F << 0 << 0.9F << 0.0F << off << 6.0F << true;
    QTest::newRow("top-p of an undecided model") << 1.0F << 0 << 0.9F << 0.0F << off << 1.0F << false;
    QTest::newRow("min-p") << 0.8F << 0 << off << 0.1F << off << 4.0F << true;
    QTest::newRow("min-p, and a top-p that it comes before")
        << 1.0F << 0 << 0.999F << 0.1F << off << 4.0F << true;
    QTest::newRow("min-p that leaves many") << 1.0F << 0 << off << 0.1F << off << 0.5F << false;
    QTest::newRow("all") << 1.0F << 0 << off << 0.0F << off << 6.0F << false;
    QTest::newRow("a penalty") << 0.0F << 0 << off << 0.0F << 1.1F << 6.0F << false;
  }
  void topKLogitsDecideAsAllLogitsDo() {
    QFETCH(float, temperature);
    QFETCH(int, top_k);
    QFETCH(float, top_p);
    QFETCH(float, min_p);
    QFETCH(float, penalty);
    QFETCH(float, spread);
    QFETCH(bool, decide);
    constexpr std::int64_t vocabulary = 5000;
    SamplingSettings settings = everything_off();
    settings.temperature = temperature;
    settings.top_k = top_k;
    settings.top_p = top_p;
    settings.min_p = min_p;
    settings.repetition_penalty = penalty;
    auto here = Sampler::create(settings, vocabulary), there = Sampler::create(settings, vocabulary);
    FOVEA_VERIFY(here);
    FOVEA_VERIFY(there);
    for (unsigned round = 0; round < 40; ++round) {
      const auto logits = normal_logits(vocabulary, fovea::tests::seed() + round, spread);
      const Listed list(logits, temperature);
      const auto few = there->filter(list.likely());
      QCOMPARE(!few.empty(), decide);
      if (decide) {
        std::map<TokenId, double> found;
        for (const auto& candidate : few) found[candidate.token] = candidate.probability;
        const auto expected = probabilities(*here, logits);
        QCOMPARE(found.size(), expected.size());
        for (const auto& [token, probability] : expected)
          QVERIFY(std::abs(found[token] - probability) <= 1e-5 * probability);
      }
      const auto token = there->sample(list.likely());
      QCOMPARE(token.has_value(), decide);
      // Where it was not decided nothing was drawn.
      QCOMPARE(token ? *token : there->sample(logits), here->sample(logits));
    }
  }

  void topKOfHostileLogits() {
    for (const float fill : {std::nanf(""), -infinity, infinity, 0.0F}) {
      for (const float temperature : {0.0F, 1.0F}) {
        SamplingSettings settings = everything_off();
        settings.temperature = temperature;
        settings.top_k = 3;
        auto here = Sampler::create(settings, 50), there = Sampler::create(settings, 50);
        std::vector<float> logits(50, fill);
        for (const float one : {fill, infinity}) {
          logits[20] = one;
          const Listed list(logits, temperature);
          const auto token = there->sample(list.likely());
          QCOMPARE(token ? *token : there->sample(logits), here->sample(logits));
        }
      }
    }
  }

  void aSeedOfZeroIsReplacedAndReported() {
    auto sampler = Sampler::create(SamplingSettings{}, 10);
    FOVEA_VERIFY(sampler);
    QVERIFY(sampler->seed() != 0);
  }

  void settingsOutOfRangeAreNamed_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<float>("value");
    for (const auto& [name, value] :
         std::vector<std::pair<const char*, float>>{{"temperature", -1.0F},
                                                    {"temperature", std::nanf("")},
                                                    {"temperature", infinity},
                                                    {"top_k", -1.0F},
                                                    {"top_p", 0.0F},
                                                    {"top_p", 1.5F},
                                                    {"min_p", -0.1F},
                                                    {"min_p", 2.0F},
                                                    {"repetition_penalty", 0.0F},
                                                    {"presence_penalty", std::nanf("")},
                                                    {"frequency_penalty", 1e9F},
                                                    {"penalty_window", -2.0F},
                                                    {"dry_multiplier", -0.1F},
                                                    {"dry_multiplier", infinity},
                                                    {"dry_base", 0.9F},
                                                    {"dry_base", std::nanf("")},
                                                    {"dry_allowed_length", 0.0F},
                                                    {"dry_window", -2.0F}})
      QTest::addRow("%s %g", name, static_cast<double>(value)) << QString(name) << value;
  }
  void settingsOutOfRangeAreNamed() {
    QFETCH(QString, name);
    QFETCH(float, value);
    SamplingSettings settings;
    if (name == "temperature") settings.temperature = value;
    if (name == "top_k") settings.top_k = static_cast<int>(value);
    if (name == "top_p") settings.top_p = value;
    if (name == "min_p") settings.min_p = value;
    if (name == "repetition_penalty") settings.repetition_penalty = value;
    if (name == "presence_penalty") settings.presence_penalty = value;
    if (name == "frequency_penalty") settings.frequency_penalty = value;
    if (name == "penalty_window") settings.penalty_window = static_cast<int>(value);
    if (name == "dry_multiplier") settings.dry_multiplier = value;
    if (name == "dry_base") settings.dry_base = value;
    if (name == "dry_allowed_length") settings.dry_allowed_length = static_cast<int>(value);
    if (name == "dry_window") settings.dry_window = static_cast<int>(value);
    const auto sampler = Sampler::create(settings, 10);
    QVERIFY(!sampler);
    QCOMPARE(sampler.error().kind, ErrorKind::invalid);
    QCOMPARE(QString::fromStdString(sampler.error().where_words()), name);
  }

 private:
  static nlohmann::json golden_cases() {
    std::ifstream file(fovea::tests::golden("sampling.json"));
    return nlohmann::json::parse(file, nullptr, false);
  }
};
FOVEA_TEST(SamplerTest)

#include "sampler_test.moc"
