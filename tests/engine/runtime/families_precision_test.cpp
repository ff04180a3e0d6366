// The units of every family change precision: experts with biases, beside a dense part or in layers of other
// mixers, and linear layers of each kind.
#include <QTemporaryDir>
#include <chrono>
#include <numeric>
#include <thread>

#include "engine/api/prepare.h"
#include "tests/support/test.h"

#include "expert_model.h"
#include "family_models.h"

using fovea::LoadOptions;
using fovea::PolicyKind;
using namespace fovea::tests::expert_model;
using namespace fovea::tests::family_models;

namespace fs = std::filesystem;

class FamiliesPrecisionTest : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir folder_;

  // With every tier that the subject has, in a store of the folder.
  LoadOptions request(const Subject& subject, PolicyKind policy) const {
    const fs::path folder = folder_.path().toStdString();
    LoadOptions load = with_policy(folder, policy, {"file", subject.low});
    load.model = folder / subject.file;
    if (!fs::exists(load.model)) Copy(subject.file, load.model);
    load.context = 128;
    load.chunk = 7;
    return load;
  }

  static void add_subjects(bool dense = true) {
    QTest::addColumn<int>("index");
    for (std::size_t i = 0; i < std::size(subjects); ++i)
      if (dense || subjects[i].experts > 0) QTest::newRow(subjects[i].file) << static_cast<int>(i);
  }

 private Q_SLOTS:
  void everyUnitAtTheFilesTierIsTheModelWithoutOthers_data() { add_subjects(); }
  void everyUnitAtTheFilesTierIsTheModelWithoutOthers() {
    QFETCH(int, index);
    const Subject& subject = subjects[index];
    const auto tokens = some_tokens(60);
    LoadOptions plain = request(subject, PolicyKind::static_tiers);
    plain.precision = {};
    const auto wanted = logits(*load(plain), tokens);
    LoadOptions pinned =
        request(subject, subject.experts > 0 ? PolicyKind::dynaexq : PolicyKind::static_tiers);
    if (subject.experts == 0) pinned.precision.tiers = {"file"};
    const auto engine = load(pinned);
    QVERIFY(logits(*engine, tokens) == wanted);  // bit for bit
    QCOMPARE(engine->precision()->hit_rate, 1.0);
    LoadOptions low = request(subject, PolicyKind::static_tiers);
    low.precision.tiers = {subject.low};
    const auto other = logits(*load(low), tokens);
    QVERIFY(other != wanted);
    // … and is the same model still.
    double error = 0, size = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      error += std::pow(double(other[i]) - double(wanted[i]), 2);
      size += std::pow(double(wanted[i]), 2);
    }
    QVERIFY2(error < 0.5 * size, qPrintable(QString::number(error / size)));
  }

  // Hot experts are promoted and others demoted while it answers, within the budget.
  void expertsMove_data() { add_subjects(false); }
  void expertsMove() {
    QFETCH(int, index);
    const Subject& subject = subjects[index];
    LoadOptions moving = request(subject, PolicyKind::dynaexq);
    moving.precision.budget_bytes = budget_of_some_high(moving);
    moving.precision.dynaexq.interval_tokens = 4;
    moving.precision.dynaexq.warm_up_tokens = 4;
    moving.precision.dynaexq.hysteresis = 0;
    moving.precision.publish_after_passes = 1;
    const auto engine = load(moving);
    fovea::Snapshot snapshot;
    engine->read_snapshot(snapshot);
    for (int turn = 0; turn < 4; ++turn) logits(*engine, some_tokens(100 + turn));
    const auto use = *engine->precision();
    QVERIFY(use.promotions > 0);
    QCOMPARE(use.promotions, use.demotions);
    QCOMPARE(use.swaps_failed, 0);
    QVERIFY(use.hit_rate > 0 && use.hit_rate < 1);
    QVERIFY(use.accounted_bytes <= use.budget_bytes);
    // The panel's data: every expert is there, some at each tier, some hotter than others.
    QVERIFY(engine->read_snapshot(snapshot));
    QCOMPARE(snapshot.tiers[0].units + snapshot.tiers[1].units, subject.experts);
    QVERIFY(snapshot.tiers[0].units > 0 && snapshot.tiers[1].units > 0);
    const auto hotness = [](const auto& a, const auto& b) { return a.hotness < b.hotness; };
    const auto [coldest, hottest] = std::ranges::minmax_element(snapshot.units, hotness);
    QVERIFY(hottest->hotness > coldest->hotness);
  }

  // Also where the advice would be a cache that these heads do not fit into.
  void aRefusedBudgetIsAnError_data() { add_subjects(); }
  void aRefusedBudgetIsAnError() {
    QFETCH(int, index);
    LoadOptions little = request(subjects[index], PolicyKind::static_tiers);
    little.kv = fovea::KvType::f16;
    little.precision.budget_bytes = 1000;
    const auto refused = fovea::Engine::load(little);
    QVERIFY(!refused && refused.error().kind == fovea::ErrorKind::memory);
    little.kv = fovea::KvType::q8;
    const auto planned = fovea::plan_model(little);
    QVERIFY(!planned && planned.error().kind == fovea::ErrorKind::unsupported);
  }

  // In the first layers its experts are read at the highest tier, wherever they are; those of later tokens
  // are not.
  void theFirstTokenIsExact_data() { add_subjects(false); }
  void theFirstTokenIsExact() {
    QFETCH(int, index);
    const Subject& subject = subjects[index];
    const auto tokens = some_tokens(20);
    LoadOptions whole = request(subject, PolicyKind::static_tiers);
    whole.precision.tiers = {"file"};
    const auto wanted = logits(*load(whole), tokens);
    const auto row = static_cast<std::ptrdiff_t>(wanted.size() / tokens.size());
    LoadOptions moving = request(subject, PolicyKind::fovea);
    const auto plan = fovea::plan_model(moving);
    FOVEA_VERIFY(plan);
    moving.precision.budget_bytes = plan->plan.min_bytes;
    constexpr std::int64_t all_layers = 99;
    for (const std::int64_t layers : {std::int64_t{0}, all_layers}) {
      moving.precision.first_token_layers = layers;
      const auto engine = load(moving);
      for (int sequence = 0; sequence < (layers == all_layers ? 2 : 1); ++sequence) {
        const auto found = logits(*engine, tokens);
        QCOMPARE(std::equal(found.begin(), found.begin() + row, wanted.begin()), layers == all_layers);
        QVERIFY(!std::equal(found.begin() + row, found.end(), wanted.begin() + row));
      }
    }
    // The paper has none of it.
    moving.precision.policy = PolicyKind::dynaexq;
    moving.precision.dynaexq = fovea::dynaexq_as_published(fovea::DynaExqVersion::v1);
    const auto published = logits(*load(moving), tokens);
    QVERIFY(!std::equal(published.begin(), published.begin() + row, wanted.begin()));
  }

  // At one tier its bits, at two something between; in experts, and in linear layers.
  void anAnswerSaysHowPreciseItWas_data() {
    QTest::addColumn<int>("index");
    for (const int index : {0, 6}) QTest::newRow(subjects[index].file) << index;
  }
  void anAnswerSaysHowPreciseItWas() {
    QFETCH(int, index);
    const Subject& subject = subjects[index];
    const auto bits_of = [&](LoadOptions options) {
      options.need_tokenizer = true;
      const auto engine = load(options);
      fovea::GenerateRequest question;
      question.raw_prompt = "abcdefgh";
      question.max_tokens = 20;
      question.sampling.seed = 3;
      const auto answer = engine->generate(question);
      if (!answer) qFatal("%s", answer.error().message().c_str());
      fovea::Snapshot snapshot;
      engine->read_snapshot(snapshot);
      if (answer->tokens.size() < 2) qFatal("a short answer");
      return std::pair(answer->bits_per_use,
                       snapshot.tiers.empty() ? 0.0 : snapshot.tiers.back().bits_per_weight);
    };
    LoadOptions options = request(subject, PolicyKind::static_tiers);
    std::vector<double> of_tiers;
    for (const char* const tier : {"file", subject.low}) {
      options.precision.tiers = {tier};
      const auto [bits, tiers] = bits_of(options);
      QVERIFY2(bits > 0 && std::abs(bits - tiers) < 1e-6, qPrintable(QString::number(bits)));
      of_tiers.push_back(bits);
    }
    QVERIFY(of_tiers[0] > of_tiers[1]);
    if (subject.experts > 0) {
      options.precision.tiers = {"file", subject.low};
      options.precision.budget_bytes = budget_of_some_high(options);
      const double mixed = bits_of(options).first;
      QVERIFY2(mixed < of_tiers[0] && mixed > of_tiers[1], qPrintable(QString::number(mixed)));
    }
    options.precision = {};
    QCOMPARE(bits_of(options).first, 0.0);
  }

  // What a conversation used is known when it is opened again, in another program: its experts stand where
  // they stood, before a token is read.
  void aConversationIsRecalled() {
    LoadOptions moving = request(subjects[0], PolicyKind::fovea);
    moving.need_tokenizer = true;
    moving.context = 256;
    moving.precision.budget_bytes = budget_of_some_high(moving);
    moving.precision.fovea.interval_tokens = 4;
    moving.precision.fovea.margin = 0;
    moving.precision.fovea.half_lives = {16};
    const auto tiers_of = [](fovea::Engine& engine) {
      while (engine.rest()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      fovea::Snapshot snapshot;
      engine.read_snapshot(snapshot);
      std::vector<int> tiers;
      for (const auto& unit : snapshot.units) tiers.push_back(unit.tier);
      return tiers;
    };
    const auto engine = load(moving);
    const auto first = tiers_of(*engine);
    fovea::GenerateRequest question;
    question.raw_prompt = std::string(90, 'a') + std::string(90, 'b');
    question.max_tokens = 1;
    const auto answer = engine->generate(question);
    FOVEA_VERIFY(answer);
    QVERIFY(!answer->use_profile.empty());
    const auto followed = tiers_of(*engine);
    QVERIFY(followed != first);

    const auto again = load(moving);
    QCOMPARE(tiers_of(*again), first);
    std::string damaged = answer->use_profile;
    damaged.back() = static_cast<char>(damaged.back() ^ 1);
    QVERIFY(!again->recall(damaged) && !again->recall({}));
    QVERIFY(again->recall(answer->use_profile));
    const auto recalled = tiers_of(*again);
    const auto differ = [&](const std::vector<int>& tiers) {
      int units = 0;
      for (std::size_t unit = 0; unit < tiers.size(); ++unit) units += tiers[unit] != followed[unit];
      return units;
    };
    QVERIFY2(differ(recalled) < differ(first),
             qPrintable(QString("%1 of %2").arg(differ(recalled)).arg(differ(first))));
    QCOMPARE(again->precision()->uses, 0);
    moving.precision = {};
    QVERIFY(!load(moving)->recall(answer->use_profile));  // no policy wants it
  }

  // A text reaches all units, by which their versions are made and their harm is measured.
  void aTextCalibrates_data() { add_subjects(); }
  void aTextCalibrates() {
    QFETCH(int, index);
    const Subject& subject = subjects[index];
    LoadOptions chat = request(subject, PolicyKind::static_tiers);
    chat.need_tokenizer = true;
    chat.precision.store = folder_.filePath(subject.file + QString(".calibrated")).toStdString();
    std::string text;
    for (int i = 0; i < 400; ++i) text += static_cast<char>('a' + (i * i + i / 7) % 26);
    const auto prepared = fovea::prepare(
        {.model = chat.model,
         .store = chat.precision.store,
         .tiers = chat.precision.tiers,
         .threads = 2,
         .calibration = {.text = text, .tokens = 200, .window = 100, .divergence_tokens = 60}});
    FOVEA_VERIFY(prepared);
    QCOMPARE(prepared->calibrated_units, prepared->units);
    if (subject.experts > 0) QCOMPARE(prepared->units, subject.experts);
    QCOMPARE(prepared->tiers.front().output_error_mean, 0.0);
    QVERIFY(prepared->tiers.back().output_error_mean > 0);
    QVERIFY(prepared->tiers.back().divergence_mean > 0);
    const auto engine = load(chat);
    const auto uses = engine->calibrated_uses();
    QCOMPARE(std::ssize(uses), subject.experts);
    logits(*engine, some_tokens(20));
  }
};
FOVEA_TEST(FamiliesPrecisionTest)

#include "families_precision_test.moc"
