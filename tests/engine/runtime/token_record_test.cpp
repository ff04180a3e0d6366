// What is recorded of an answer's tokens, against log-probabilities, logits, routing and tiers that are asked
// for otherwise; and that nobody's answer changes by it.
#include <QTemporaryDir>
#include <cmath>
#include <thread>

#include "tests/support/test.h"

#include "expert_model.h"
#include "family_models.h"

using fovea::Engine;
using fovea::GenerateRequest;
using fovea::GenerateResult;
using fovea::LoadOptions;
using fovea::PolicyKind;
using fovea::TokenId;
using fovea::TokenRecord;
using namespace fovea::tests::expert_model;
using namespace fovea::tests::family_models;

class TokenRecordTest : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir folder_;
  static constexpr const Subject& subject = subjects[0];
  static constexpr const char* prompt = "abcdefgh";

  LoadOptions options(PolicyKind policy) const {
    const std::filesystem::path folder = folder_.path().toStdString();
    LoadOptions load = with_policy(folder, policy, {"file", subject.low});
    load.model = folder / subject.file;
    if (!std::filesystem::exists(load.model)) Copy(subject.file, load.model);
    load.context = 128;
    load.chunk = 3;
    load.need_tokenizer = true;
    if (policy == PolicyKind::none) load.precision = {};
    return load;
  }

  static GenerateRequest question(float temperature = 0, std::uint64_t seed = 3) {
    GenerateRequest request;
    request.raw_prompt = prompt;
    request.max_tokens = 20;
    request.sampling.temperature = temperature;
    request.sampling.seed = seed;
    return request;
  }

  struct Recorded {
    GenerateResult result;
    std::vector<TokenRecord> records;
  };
  static Recorded recorded(Engine& engine, const GenerateRequest& request) {
    Recorded all;
    auto result = engine.generate(request, {}, {}, {}, [&](std::span<const TokenRecord> more) {
      all.records.insert(all.records.end(), more.begin(), more.end());
    });
    if (!result) qFatal("%s", result.error().message().c_str());
    all.result = *std::move(result);
    return all;
  }
  static std::vector<TokenId> all_tokens(const Engine& engine, const GenerateResult& answer) {
    std::vector<TokenId> tokens = engine.text()->encode(prompt, {.add_special = true});
    tokens.insert(tokens.end(), answer.tokens.begin(), answer.tokens.end());
    return tokens;
  }

 private Q_SLOTS:
  void theyAreWhatTheModelThought() {
    const auto engine = load(options(PolicyKind::none));
    GenerateRequest request = question(1.5F);
    request.top_logprobs = TokenRecord::most_likely;
    const auto [answer, records] = recorded(*engine, request);
    QVERIFY(answer.tokens.size() > 5);
    QCOMPARE(records.size(), answer.tokens.size());
    const auto tokens = all_tokens(*engine, answer);
    const auto rows = logits(*engine, tokens);
    const std::size_t width = rows.size() / tokens.size();
    for (std::size_t i = 0; i < records.size(); ++i) {
      const TokenRecord& record = records[i];
      const fovea::TokenChoice& choice = answer.choices[i];
      QCOMPARE(record.token, answer.tokens[i]);
      QVERIFY(std::abs(record.logprob - choice.logprob) < 1e-5F);
      QCOMPARE(record.text_end, choice.text_end);
      for (std::size_t k = 0; k < TokenRecord::most_likely; ++k) {
        QCOMPARE(record.likeliest[k].token, choice.likeliest[k].token);
        QVERIFY(std::abs(record.likeliest[k].logprob - choice.likeliest[k].logprob) < 1e-5F);
      }
      const std::size_t row = tokens.size() - records.size() + i - 1;
      double sum = 0, entropy = 0;
      for (std::size_t id = 0; id < width; ++id) sum += std::exp(double(rows[row * width + id]));
      for (std::size_t id = 0; id < width; ++id) {
        const double p = std::exp(double(rows[row * width + id])) / sum;
        entropy -= p * std::log(p);
      }
      QVERIFY(std::abs(double(record.entropy) - entropy) < 1e-4);
    }
  }

  // The pass that chose a token is the one that read the token before.
  void theyUsedWhatTheRoutersChose() {
    const auto engine = load(options(PolicyKind::none));
    const auto [answer, records] = recorded(*engine, question());
    const auto tokens = all_tokens(*engine, answer);
    const std::size_t before = tokens.size() - records.size();
    std::vector<std::vector<std::pair<int, float>>> chosen(tokens.size());  // [tokens][layers · used]
    std::size_t position = 0;
    const auto routed =
        engine->routing(tokens, 1, [&](const fovea::PassRouting& pass) -> fovea::Result<void> {
          for (const fovea::LayerRouting& layer : pass.layers)
            for (std::size_t i = 0; i < layer.ids.size(); ++i)
              chosen[position].emplace_back(layer.ids[i], layer.weights[i]);
          ++position;
          return {};
        });
    FOVEA_VERIFY(routed);
    QCOMPARE(position, tokens.size());
    for (std::size_t i = 0; i < records.size(); ++i) {
      const auto& wanted = chosen[before + i - 1];
      const auto& uses = records[i].uses;
      QVERIFY(!uses.empty());
      QCOMPARE(uses.size(), wanted.size());
      const std::size_t of_layer = uses.size() / engine->expert_layers().size();
      for (std::size_t k = 0; k < uses.size(); ++k) {
        QCOMPARE(int(uses[k].expert), wanted[k].first);
        QCOMPARE(int(uses[k].tier), 0);
        float sum = 0;
        for (std::size_t j = k / of_layer * of_layer; j < (k / of_layer + 1) * of_layer; ++j)
          sum += wanted[j].second;
        QVERIFY(std::abs(float(uses[k].share) / 255 - wanted[k].second / sum) < 0.003F);
      }
      QCOMPARE(records[i].pass_end, std::int64_t(before + i));  // all passes so far, a token each
    }
  }

  // Bit for bit the same, greedy and drawn, with records and without.
  void theAnswerStaysTheSame() {
    for (const PolicyKind policy : {PolicyKind::none, PolicyKind::static_tiers}) {
      const auto engine = load(options(policy));
      for (const float temperature : {0.0F, 1.2F}) {
        GenerateRequest request = question(temperature);
        request.top_logprobs = 3;
        const auto without = engine->generate(request);
        FOVEA_VERIFY(without);
        const auto [with, records] = recorded(*engine, request);
        QVERIFY(!records.empty());
        QCOMPARE(with.tokens, without->tokens);
        QCOMPARE(with.text, without->text);
        QVERIFY(with.choices == without->choices);
      }
    }
  }

  // Tiers that stay: as a snapshot shows them. Some experts are met at each.
  void tiersAreThoseOfTheMap() {
    LoadOptions mixed = options(PolicyKind::static_tiers);
    mixed.precision.budget_bytes = budget_of_some_high(mixed);
    const auto engine = load(mixed);
    const auto [answer, records] = recorded(*engine, question());
    fovea::Snapshot snapshot;
    QVERIFY(engine->read_snapshot(snapshot));
    std::array<int, 2> met{};
    for (const TokenRecord& record : records) {
      const auto of_layer = std::ssize(record.uses) / snapshot.layers;
      for (std::int64_t k = 0; k < std::ssize(record.uses); ++k) {
        const fovea::TokenUse& use = record.uses[std::size_t(k)];
        const auto unit = std::size_t(k / of_layer * snapshot.units_per_layer + use.expert);
        QCOMPARE(use.tier, snapshot.units[unit].tier);
        ++met[use.tier];
      }
    }
    QVERIFY(met[0] > 0 && met[1] > 0);
  }

  // Tiers that change: as the passes met them, which the answer's mean of bits is made of.
  void tiersAreThoseThatServed() {
    LoadOptions moving = options(PolicyKind::dynaexq);
    moving.precision.budget_bytes = budget_of_some_high(moving);
    moving.precision.dynaexq.interval_tokens = 2;
    moving.precision.dynaexq.warm_up_tokens = 2;
    moving.precision.dynaexq.hysteresis = 0;
    moving.precision.publish_after_passes = 1;
    const auto engine = load(moving);
    fovea::Snapshot snapshot;
    engine->read_snapshot(snapshot);
    const auto [answer, records] = recorded(*engine, question(1.2F));
    QVERIFY(engine->precision()->promotions > 0);
    QVERIFY(engine->read_snapshot(snapshot));
    double bits = 0;
    std::int64_t uses = 0;
    for (std::size_t i = 1; i < records.size(); ++i) {  // the prompt's last pass chose the first
      for (const fovea::TokenUse& use : records[i].uses) {
        bits += snapshot.tiers[use.tier].bits_per_weight;
        ++uses;
      }
    }
    QVERIFY(uses > 0);
    QVERIFY(std::abs(bits / double(uses) - answer.bits_per_use) < 1e-9);
  }

  // Answers that share passes are told apart.
  void answersAtOnceAreRecordedApart() {
    LoadOptions both = options(PolicyKind::none);
    both.sequences = 2;
    const auto engine = load(both);
    const GenerateRequest questions[] = {question(1, 5), question(1, 6)};
    Recorded alone[2], together[2];
    for (int i = 0; i < 2; ++i) alone[i] = recorded(*engine, questions[i]);
    {
      const std::jthread other([&] { together[1] = recorded(*engine, questions[1]); });
      together[0] = recorded(*engine, questions[0]);
    }
    QVERIFY(alone[0].result.tokens != alone[1].result.tokens);
    for (int i = 0; i < 2; ++i) {
      QCOMPARE(together[i].result.tokens, alone[i].result.tokens);
      QCOMPARE(together[i].records.size(), alone[i].records.size());
      for (std::size_t k = 0; k < alone[i].records.size(); ++k) {
        together[i].records[k].pass_end = alone[i].records[k].pass_end;  // counts the other's, too
        QVERIFY(together[i].records[k] == alone[i].records[k]);
      }
    }
  }

  // A dense model has no experts to record, also where its layers are what changes precision; what it thought
  // is recorded all the same.
  void aDenseModelUsesNone_data() {
    QTest::addColumn<int>("policy");
    for (const PolicyKind policy : {PolicyKind::none, PolicyKind::static_tiers})
      QTest::addRow("%d", static_cast<int>(policy)) << static_cast<int>(policy);
  }
  void aDenseModelUsesNone() {
    QFETCH(int, policy);
    const Subject& linear = subjects[6];
    LoadOptions dense = options(static_cast<PolicyKind>(policy));
    dense.model = dense.model.parent_path() / linear.file;
    if (!std::filesystem::exists(dense.model)) Copy(linear.file, dense.model);
    if (policy != 0) dense.precision.tiers = {linear.low};
    const auto [answer, records] = recorded(*load(dense), question());
    QVERIFY(!records.empty());
    QVERIFY(std::ranges::all_of(records, [](const TokenRecord& record) { return record.uses.empty(); }));
    QVERIFY(records.front().entropy > 0);
  }
};
FOVEA_TEST(TokenRecordTest)

#include "token_record_test.moc"
