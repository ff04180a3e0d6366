// One model on two cards: on devices whose memories neither the host nor the other one can touch.
#include <algorithm>

#include "engine/core/result.h"
#include "engine/precision/plan_inputs.h"
#include "engine/runtime/errors.h"
#include "engine/runtime/load.h"
#include "engine/runtime/load_plan.h"
#include "engine/runtime/processor.h"
#include "tests/support/test.h"

#include "../models/apart_device.h"
#include "tests/kernels/ptx/device.h"
#include "expert_model.h"

using namespace fovea;
using namespace fovea::tests;
namespace expert = fovea::tests::expert_model;

namespace {

const kernels::Device& host() {
  static const kernels::Device& device = **runtime::chosen_device({});
  return device;
}

LoadOptions on_two_cards() {
  LoadOptions request = expert::plain_request();
  request.device = "cuda:0,cuda:1";
  return request;
}

}  // namespace

class TwoCardsTest : public QObject {
  Q_OBJECT

  ApartDevice first_{host()}, last_{host()};

  Result<std::unique_ptr<Engine>> load(const LoadOptions& request, const MachineFacts& facts = {}) const {
    return runtime::load(request, {}, {}, {}, &last_, facts, {}, &first_);
  }

 private Q_SLOTS:
  void cleanup() {
    QCOMPARE(first_.allocated(), 0);
    QCOMPARE(last_.allocated(), 0);
  }

  // The whole model's bits, in prompts and in decoding, and each card has what the plan says.
  void theyGiveTheWholeModelsBits() {
    const auto tokens = expert::some_tokens(40);
    const auto whole = expert::logits(*expert::load(expert::plain_request()), tokens);
    for (const std::int64_t chunk : {16, 1}) {
      LoadOptions request = on_two_cards();
      request.chunk = chunk;
      const auto engine = load(request);
      FOVEA_VERIFY(engine);
      QVERIFY(expert::logits(**engine, tokens) == whole);
      const Plan& plan = (*engine)->plan().plan;
      const MemoryUse use = (*engine)->memory();
      QCOMPARE(plan.first_card.layers, 1);
      QCOMPARE(plan.units_on_host, 0);
      QCOMPARE(plan.host.weights, 0);
      QCOMPARE(use.host_weights, 0);
      QCOMPARE(use.first_card, plan.first_card.total_bytes - plan.first_card.parts.safety);
      QCOMPARE(first_.allocated(), use.first_card);
      QCOMPARE(use.on_device(), plan.total_bytes - plan.parts.safety);
      QCOMPARE(last_.allocated(), use.on_device());
      QCOMPARE(plan.host_bytes, use.host_buffers);
    }
  }

  // With what nvcc made of the GPU's kernels, on cards of unequal memory: its bits as well, as single calls
  // and as graphs.
  void gpusGiveTheWholeModelsBits() {
    FOVEA_NEEDS_PTX;
    constexpr std::int64_t gib = std::int64_t{1} << 30;
    const auto small = ptx::device({.seed = seed(), .memory_bytes = 2 * gib}),
               large = ptx::device({.seed = seed(), .order = 7, .memory_bytes = 6 * gib});
    const auto tokens = expert::some_tokens(11);
    LoadOptions request = on_two_cards(), alone = expert::plain_request();
    for (const std::int64_t chunk : {11, 1}) {
      request.chunk = alone.chunk = chunk;
      const auto whole = runtime::load(alone, {}, {}, {}, large.get());
      FOVEA_VERIFY(whole);
      const auto divided = runtime::load(request, {}, {}, {}, large.get(), {}, {}, small.get());
      FOVEA_VERIFY(divided);
      QVERIFY(expert::logits(**divided, tokens) == expert::logits(**whole, tokens));
      const Plan& plan = (*divided)->plan().plan;
      QCOMPARE(plan.first_card.layers, 1);
      QVERIFY(plan.first_card.budget_bytes < plan.budget_bytes);
      QVERIFY(plan.first_card.total_bytes <= plan.first_card.budget_bytes);
    }
    QVERIFY(ptx::kernels_run(*small) > 0 && ptx::kernels_run(*large) > ptx::kernels_run(*small));
  }

  // What is shown is what is loaded, and its times count every layer once.
  void thePlanThatIsShownIsLoaded() {
    const MachineFacts facts{.main_memory_bytes = std::int64_t{1} << 30};
    const auto shown =
        runtime::plan_file(on_two_cards(), {.device = &last_, .first = &first_, .facts = facts});
    FOVEA_VERIFY(shown);
    const auto one = runtime::plan_file(expert::plain_request(), {.device = &last_});
    FOVEA_VERIFY(one);
    QCOMPARE(shown->device_part.bytes(), one->device_part.bytes());
    QCOMPARE(shown->prompt.device.multiply_adds, one->prompt.device.multiply_adds);
    QCOMPARE(shown->prompt.before.multiply_adds, 0.0);
    const auto engine = runtime::load(*shown, IfChanged::refuse, &last_, facts, {}, {}, &first_);
    FOVEA_VERIFY(engine);
    QVERIFY((*engine)->plan().plan == shown->plan);
  }

  // Sequences share pages, and branch: what is copied on write is copied on both cards.
  void pagesAreSharedOnBoth() {
    const auto engine = load(on_two_cards());
    const auto alone = expert::load(expert::plain_request());
    FOVEA_VERIFY(engine);
    auto tokens = expert::some_tokens(30);
    for (const TokenId last : {3, 9, 3}) {
      tokens.back() = last;
      QVERIFY(expert::logits(**engine, tokens) == expert::logits(*alone, tokens));
    }
  }

  // Unequal memories get unequal parts, and the answer is the same. Six layers, of which some have windows.
  void theSmallerCardHasLess() {
    LoadOptions alone = expert::plain_request(), request = on_two_cards();
    alone.model = request.model = golden("models/mellum-tables");
    const auto tokens = expert::some_tokens(36);
    const auto whole = expert::logits(*expert::load(alone), tokens);
    constexpr std::int64_t large = std::int64_t{4} << 30;
    const auto layers_of = [&](const MachineFacts& facts, Plan& plan) {
      const auto engine = load(request, facts);
      if (!engine) qFatal("%s", engine.error().message().c_str());
      plan = (*engine)->plan().plan;
      if (expert::logits(**engine, tokens) != whole) qFatal("another answer");
      return plan.first_card.layers;
    };
    Plan plan, other;
    const std::int64_t equal = layers_of({.device_free_bytes = large, .first_free_bytes = large}, plan);
    QVERIFY(equal > 1 && equal < 5);
    const std::int64_t first = plan.first_card.total_bytes - 1, last = plan.total_bytes - 1;
    QVERIFY(layers_of({.device_free_bytes = large, .first_free_bytes = first}, other) < equal);
    QVERIFY(other.first_card.total_bytes <= first && other.total_bytes <= large);
    QVERIFY(layers_of({.device_free_bytes = last, .first_free_bytes = large}, other) > equal);
    QVERIFY(other.total_bytes <= last && other.first_card.total_bytes <= large);
  }

  // Neither budget is exceeded: a byte too little on either card is an error before a weight is read.
  void eachBudgetIsKept_data() {
    QTest::addColumn<bool>("of_first");
    QTest::newRow("first") << true;
    QTest::newRow("last") << false;
  }
  void eachBudgetIsKept() {
    QFETCH(bool, of_first);
    const auto engine = load(on_two_cards());
    FOVEA_VERIFY(engine);
    const Plan plan = (*engine)->plan().plan;
    const std::int64_t first = plan.first_card.total_bytes, last = plan.total_bytes;
    FOVEA_VERIFY(load(on_two_cards(), {.device_free_bytes = last, .first_free_bytes = first}));
    const auto refused = load(on_two_cards(), {.device_free_bytes = last - (of_first ? 0 : 1),
                                               .first_free_bytes = first - (of_first ? 1 : 0)});
    QVERIFY(!refused);
    QVERIFY(refused.error().is(errors::two_cards_too_small.code));
    QCOMPARE(refused.error().number("first_needs").value_or(0), static_cast<double>(first));
    QCOMPARE(refused.error().number("last_needs").value_or(0), static_cast<double>(last));
  }

  // Whichever card is lost: one message, which names it.
  void aLostCardEndsTheRequest_data() {
    QTest::addColumn<bool>("is_first");
    QTest::newRow("first") << true;
    QTest::newRow("last") << false;
  }
  void aLostCardEndsTheRequest() {
    QFETCH(bool, is_first);
    const ApartDevice first(host()), last(host());
    const LoadOptions request = on_two_cards();
    auto engine = runtime::load(request, {}, {}, {}, &last, {}, {}, &first);
    FOVEA_VERIFY(engine);
    std::int64_t rows = 0;
    const auto done = (*engine)->logits(expert::some_tokens(12), [&](std::int64_t, std::span<const float>) {
      if (++rows == request.chunk) (is_first ? first : last).fail("the card is lost");
    });
    QVERIFY(!done);
    QCOMPARE(done.error().kind, ErrorKind::device);
    QVERIFY(done.error().message().find("the card is lost") != std::string::npos);
    QCOMPARE(rows, request.chunk);
  }

  // What is for one card says so, and names the two; and the other way round.
  void whatIsForOneCard_data() {
    QTest::addColumn<int>("policy");
    QTest::addColumn<int>("gpu_layers");
    QTest::newRow("flexquant") << static_cast<int>(PolicyKind::flexquant) << -1;
    QTest::newRow("pmpd") << static_cast<int>(PolicyKind::pmpd) << -1;
    QTest::newRow("-ngl 1") << static_cast<int>(PolicyKind::none) << 1;
  }
  void whatIsForOneCard() {
    QFETCH(int, policy);
    QFETCH(int, gpu_layers);
    LoadOptions request = on_two_cards();
    request.precision.policy = static_cast<PolicyKind>(policy);
    request.precision.offload.gpu_layers = gpu_layers;
    const auto refused = load(request);
    QVERIFY(!refused);
    QVERIFY(refused.error().is(errors::not_for_two_cards.code));
    QVERIFY(refused.error().message().find("cuda:0,cuda:1") != std::string::npos);
  }
  void twoBudgetsAreForTwoCards() {
    LoadOptions request = expert::plain_request();
    request.precision.budget_bytes = request.precision.first_budget_bytes = std::int64_t{2} << 30;
    const auto refused = runtime::load(request, {}, {}, {}, &last_);
    QVERIFY(!refused);
    QVERIFY(refused.error().is(errors::budget_of_second_card.code));
  }

  void namesOfTwoCards() {
    for (const char* names : {"cuda:0,cuda:0", "cpu,cuda:0", "cuda:0,cpu", "cuda:0,cuda:1,cuda:2"}) {
      const auto chosen = runtime::chosen_devices(names);
      QVERIFY(!chosen);
      QVERIFY2(chosen.error().is(errors::not_two_cards.code), names);
    }
    const auto one = runtime::chosen_devices("cpu");
    FOVEA_VERIFY(one);
    QVERIFY(one->first == nullptr && one->device == &host());
  }
};

FOVEA_TEST(TwoCardsTest)
#include "two_cards_test.moc"
