// Prompts whose experts come from main memory: transformers' logits whatever is brought at once, the bits of
// a device that has them all where they come together; stopped passes, devices that fail, and hosts that do
// not wait.
#include <random>

#include "engine/layers/streamed_experts.h"
#include "tests/kernels/ptx/device.h"
#include "tests/support/test.h"

#include "apart_device.h"
#include "divided.h"
#include "golden_logits.h"
#include "meddled.h"
#include "runner.h"

using namespace fovea;
using namespace fovea::tests;
using layers::StreamSettings;

namespace {

constexpr std::int64_t whole_layers = std::int64_t{1} << 30, expert_by_expert = 1;

bool has_experts(const models::Model& model) {
  return std::ranges::any_of(model.layers(), [](const auto& layer) { return !layer.experts.empty(); });
}

// Any of each layer's experts, and at least one.
Shares some_of(const models::Model& model, unsigned seed) {
  std::mt19937 random(seed);
  Shares shares = all_of(model);
  for (models::HostShare& share : shares) {
    for (std::size_t e = 1; e < share.experts.size(); ++e) share.experts[e] = random() % 2 == 0;
    share.shared = false;
  }
  return shares;
}

struct Streamed {
  std::vector<float> logits;
  std::int64_t layers = 0;
  bool stopped = false;
};

class Prompt {
 public:
  Prompt(const Case& c, const kernels::Device& device, const Shares& shares, const StreamSettings& settings,
         double uses_per_token = 0)
      : case_(c), device_(device), divided_(divide(c.model, device, shares)) {
    layers::HostPart part = divided_.part();
    part.stream = settings;
    part.uses_per_token = uses_per_token;
    const auto count = static_cast<std::int64_t>(c.tokens.size());
    auto forward = layers::Forward::create(divided_.model, device, {.tokens = count, .pages = count}, part);
    if (forward) {
      forward_.emplace(*std::move(forward));
    } else {
      error = std::move(forward).error().message();
    }
  }
  // All its tokens at once.
  Streamed run(layers::PassObserver* observer = nullptr) {
    const auto count = static_cast<std::int64_t>(case_.tokens.size());
    const Pages pages(device_, divided_.model.config(), count, 5);
    const auto rows = forward_->run({.segments = {{.tokens = case_.tokens,
                                                   .pages = pages.layers(),
                                                   .state = pages.state(),
                                                   .logits = layers::LogitsWanted::all}},
                                     .context = count,
                                     .observer = observer},
                                    *stream_);
    return {{rows.begin(), rows.end()}, forward_->streamed_layers(), forward_->stopped()};
  }
  // All with experts but in models that are so small that the file's order is the packing.
  std::int64_t layers_that_can_come() const {
    std::int64_t count = 0;
    for (std::int64_t layer = 0; layer < divided_.model.config().layer_count(); ++layer)
      count += divided_.host.layer(layer).regions.empty() ? 0 : 1;
    return count;
  }
  std::string failure() const { return stream_->failure().said; }
  layers::Forward& forward() { return *forward_; }
  std::string error;

 private:
  const Case& case_;
  const kernels::Device& device_;
  Divided divided_;
  std::unique_ptr<kernels::Stream> stream_ = device_.make_stream({.threads = 2});
  std::optional<layers::Forward> forward_;
};

// Ends a pass where the router of a layer has chosen.
class Ending final : public layers::PassObserver {
 public:
  explicit Ending(std::int64_t layer) : layer_(layer) {}
  Needs needs() const override { return Needs::choices; }
  bool routed(const Where& where, const float*, const std::int32_t*, const float*) override {
    return where.layer != layer_;
  }

 private:
  std::int64_t layer_;
};

}  // namespace

class StreamedExpertsTest : public QObject {
  Q_OBJECT

  ApartDevice apart_{cpu()};

  // Of a family's prompt the first tokens, against the processor that has the whole model.
  static Case beginning_of(const char* name, std::size_t tokens) {
    Case c = *std::ranges::find(family_cases(), std::string(name), &Case::name);
    c.tokens.resize(tokens);
    c.rows.clear();
    const auto whole = load(c.model, cpu());
    if (!whole) qFatal("%s", whole.error().message().c_str());
    c.expected = logits(*whole, cpu(), c.tokens, 0);
    return c;
  }

  void compare(const Case& c, const kernels::Device& device, std::int64_t part_bytes, double tolerance) {
    const auto whole = load(c.model, cpu());
    FOVEA_VERIFY(whole);
    for (const bool all : {false, true}) {
      Prompt prompt(c, device, all ? all_of(*whole) : some_of(*whole, seed()),
                    {.from_tokens = 2, .part_bytes = part_bytes});
      QCOMPARE(prompt.error, std::string());
      const Streamed streamed = prompt.run();
      const double difference = largest_difference(streamed.logits, c.expected);
      QVERIFY2(difference <= tolerance, std::to_string(difference).c_str());
      QCOMPARE(streamed.layers, prompt.layers_that_can_come());
      // Again, with what the first pass left behind.
      QVERIFY(prompt.run().logits == streamed.logits);
    }
  }

 private Q_SLOTS:
  void cleanup() { QCOMPARE(apart_.allocated(), 0); }

  void anyPartsEqualTransformers_data() {
    QTest::addColumn<int>("index");
    for (std::size_t i = 0; i < cases().size(); ++i) {
      const auto model = load(cases()[i].model, cpu());
      if (model && has_experts(*model)) QTest::newRow(cases()[i].name.c_str()) << int(i);
    }
  }
  void anyPartsEqualTransformers() {
    QFETCH(int, index);
    const Case& c = cases()[std::size_t(index)];
    for (const std::int64_t part_bytes : {expert_by_expert, std::int64_t{20000}, whole_layers})
      compare(c, apart_, part_bytes, allowed(c, apart_));
  }

  // Biases come, too; a dense part beside the experts; layers without any.
  void familiesAreComputedAsByTheProcessor_data() {
    QTest::addColumn<QString>("name");
    for (const char* name : {"gpt_oss-1", "gpt_oss-1-gguf", "gemma4-1", "qwen3_next-0"})
      QTest::newRow(name) << name;
  }
  void familiesAreComputedAsByTheProcessor() {
    QFETCH(QString, name);
    const Case c = beginning_of(name.toUtf8().constData(), 20);
    for (const std::int64_t part_bytes : {expert_by_expert, whole_layers})
      compare(c, apart_, part_bytes, 1e-3);
  }

  // With the GPU's own kernels, which unpack what the processor has packed.
  void anyPartsEqualTransformersOnAGpu_data() {
    QTest::addColumn<QString>("name");
    for (const char* name : {"experts", "mixtral-0", "gpt_oss-1"}) QTest::newRow(name) << name;
  }
  void anyPartsEqualTransformersOnAGpu() {
    QFETCH(QString, name);
    const bool is_family = name == "gpt_oss-1";
    const Case c = is_family ? beginning_of("gpt_oss-1", 12) : case_named(name.toStdString());
    std::string errors;
    FOVEA_NEEDS_PTX;
    const auto gpu =
        ptx::device({.seed = seed(), .on_error = [&](const std::string& text) { errors += text + "\n"; }});
    for (const std::int64_t part_bytes : {expert_by_expert, whole_layers})
      compare(c, *gpu, part_bytes, is_family ? 0.05 : allowed(c, *gpu));
    QCOMPARE(errors, std::string());
  }

  // Where a layer's experts come together, nothing is added that was not before.
  void wholeLayersGiveTheBitsOfADeviceThatHasThem() {
    const Case& c = case_named("experts");
    const auto whole = load(c.model, cpu());
    FOVEA_VERIFY(whole);
    Prompt prompt(c, apart_, all_of(*whole), {.from_tokens = 2, .part_bytes = whole_layers});
    const Streamed streamed = prompt.run();
    QVERIFY(streamed.logits == logits(*whole, cpu(), c.tokens, 0));
    QCOMPARE(streamed.layers, whole->config().layer_count());
  }

  void fewerTokensAreLeftToTheProcessor() {
    const Case& c = case_named("experts");
    const auto whole = load(c.model, cpu());
    FOVEA_VERIFY(whole);
    const auto count = std::ssize(c.tokens);
    for (const std::int64_t from : {count, count + 1, StreamSettings::never}) {
      Prompt prompt(c, apart_, all_of(*whole), {.from_tokens = from});
      int calls = 0;
      const Watch watch([&] { ++calls; });
      const Streamed streamed = prompt.run();
      const bool brings = from == count;
      QCOMPARE(streamed.layers > 0, brings);
      QCOMPARE(calls > 0, !brings);
      QCOMPARE(prompt.forward().streams_from(), from == StreamSettings::never ? 0 : from);
      QVERIFY(largest_difference(streamed.logits, c.expected) <= allowed(c, apart_));
    }
  }

  // 1 GB over 10 GB/s take as long as the processor's 100 uses of 50 us for each of 20 tokens: 32.
  void tokensThatPayFollowTheSpeeds() {
    QCOMPARE(layers::tokens_that_pay(1e9, 10e9, 100, 50e-6), 32);
    QCOMPARE(layers::tokens_that_pay(1e9, 1e9, 100, 50e-6), 256);   // a slower link
    QCOMPARE(layers::tokens_that_pay(1e9, 10e9, 100, 5e-6), 256);   // a faster processor
    QCOMPARE(layers::tokens_that_pay(1e9, 10e9, 10, 50e-6), 256);   // of experts that are used less
    QCOMPARE(layers::tokens_that_pay(1e8, 10e9, 100, 50e-6), 16);   // fewer experts; few tokens ask
    QCOMPARE(layers::tokens_that_pay(32e8, 10e9, 100, 50e-6), 64);  // exactly
    QVERIFY(layers::tokens_that_pay(1e9, 1e-9, 100, 50e-6) > 1e9);  // no link to speak of
  }

  // Where it would never pay, nothing is taken for it, and that is said.
  void whatDoesNotPayIsNotDone() {
    const Case& c = case_named("experts");
    const auto whole = load(c.model, cpu());
    FOVEA_VERIFY(whole);
    Prompt prompt(c, apart_, all_of(*whole), {.from_tokens = StreamSettings::measured}, 1e-12);
    QCOMPARE(prompt.forward().streams_from(), 0);
    QVERIFY(prompt.forward().not_streamed().has_value());
    QVERIFY(prompt.forward().not_streamed()->message().contains("would pay from"));
    QCOMPARE(prompt.forward().bytes().device, Prompt(c, apart_, all_of(*whole), {}).forward().bytes().device);
    // Used so much that it pays for any prompt.
    Prompt other(c, apart_, all_of(*whole), {.from_tokens = StreamSettings::measured}, 1e12);
    QCOMPARE(other.forward().streams_from(), 16);
    const Streamed streamed = other.run();
    QVERIFY(streamed.layers > 0);
    QVERIFY(largest_difference(streamed.logits, c.expected) <= allowed(c, apart_));
  }

  // Experts of the next layer are on their way when the pass ends before it reads them.
  void aPassThatEndsInBetweenHarmsNoOther() {
    const Case& c = case_named("experts");
    const auto whole = load(c.model, cpu());
    FOVEA_VERIFY(whole);
    for (const std::int64_t part_bytes : {expert_by_expert, whole_layers}) {
      const StreamSettings settings{.from_tokens = 2, .part_bytes = part_bytes};
      Prompt other(c, apart_, all_of(*whole), settings);
      const std::vector<float> wanted = other.run().logits;
      Prompt prompt(c, apart_, all_of(*whole), settings);
      for (const std::int64_t layer : {1, 0, 1}) {
        Ending ending(layer);
        const Streamed ended = prompt.run(&ending);
        QVERIFY(ended.stopped && ended.logits.empty());
      }
      QVERIFY(prompt.run().logits == wanted);
    }
  }

  void aDeviceThatFailsEndsThePass() {
    const Case& c = case_named("experts");
    const auto whole = load(c.model, cpu());
    FOVEA_VERIFY(whole);
    Prompt prompt(c, apart_, all_of(*whole), {.from_tokens = 2, .part_bytes = expert_by_expert});
    apart_.fail("the card has fallen off the bus");
    QVERIFY(prompt.run().stopped);
    QCOMPARE(prompt.failure(), std::string("the card has fallen off the bus"));
    apart_.fail("");
  }

  // Planted: what is computed with experts that have not come yet is something else.
  void aHostThatDoesNotWaitIsFound() {
    const Case& c = case_named("experts");
    const auto whole = load(c.model, cpu());
    FOVEA_VERIFY(whole);
    FOVEA_NEEDS_PTX;
    const auto gpu = ptx::device({.seed = seed()});
    Meddled device(*gpu);
    Prompt prompt(c, device, all_of(*whole), {.from_tokens = 2, .part_bytes = expert_by_expert});
    const std::vector<float> wanted = prompt.run().logits;
    device.deaf = true;
    QVERIFY(prompt.run().logits != wanted);
  }

  void memoryThatCannotBePinnedIsAnError() {
    const Case& c = case_named("experts");
    const auto whole = load(c.model, cpu());
    FOVEA_VERIFY(whole);
    FOVEA_NEEDS_PTX;
    const auto gpu = ptx::device({.seed = seed()});
    Meddled device(*gpu);
    device.pins = false;
    const Prompt asked_for(c, device, all_of(*whole), {.from_tokens = 2});
    QVERIFY2(asked_for.error.contains("of pinned memory, more than there is") &&
                 asked_for.error.contains("--stream-experts off"),
             asked_for.error.c_str());
    // Where nobody asked for it the processor computes, and that is said.
    Prompt prompt(c, device, all_of(*whole), {.from_tokens = StreamSettings::measured});
    QCOMPARE(prompt.error, std::string());
    QVERIFY(prompt.forward().not_streamed().has_value());
    QCOMPARE(prompt.run().layers, 0);
  }

  // What a plan counts is what is taken.
  void planAndPassCountTheSameBytes() {
    const Case& c = case_named("experts");
    const auto whole = load(c.model, cpu());
    FOVEA_VERIFY(whole);
    const auto bytes = [&](const StreamSettings& settings) {
      return Prompt(c, apart_, all_of(*whole), settings).forward().bytes();
    };
    std::int64_t largest = 0;
    const Divided divided = divide(c.model, apart_, all_of(*whole));
    for (std::int64_t layer = 0; layer < whole->config().layer_count(); ++layer)
      for (const auto region : divided.host.layer(layer).regions)
        largest = std::max(largest, std::ssize(region));
    for (const std::int64_t part_bytes : {expert_by_expert, whole_layers}) {
      const auto without = bytes({}), with = bytes({.from_tokens = 2, .part_bytes = part_bytes});
      const auto planned =
          layers::StreamedExperts::bytes(whole->config(), std::ssize(c.tokens), largest, part_bytes);
      QCOMPARE(with.device - without.device, planned.device);
      QCOMPARE(with.host - without.host, planned.host);
    }
  }
};
FOVEA_TEST(StreamedExpertsTest)

#include "streamed_test.moc"
