// A model whose first layers the processor computes and whose others a device: wherever it is divided it
// gives the whole model's bits, each place has the weights and the pages of its own layers alone, and whoever
// watches sees every layer.
#include "engine/layers/first_layers.h"

#include <map>

#include "tests/kernels/ptx/device.h"
#include "tests/support/test.h"

#include "apart_device.h"
#include "divided.h"
#include "golden_logits.h"
#include "runner.h"

using namespace fovea;
using namespace fovea::tests;
using models::LayerRange;

namespace {

Result<models::Model> load_layers(const std::filesystem::path& path, const kernels::Device& device,
                                  const LayerRange& layers) {
  FOVEA_TRY(checkpoint::Checkpoint file, checkpoint::Checkpoint::open(path));
  return models::Model::load(std::move(file), device, 2, {}, {}, models::UnitScope::none, {}, layers);
}

// What each layer's router chose.
class Choices final : public layers::PassObserver {
 public:
  explicit Choices(const models::ModelConfig& config) : config_(config) {}
  Needs needs() const override { return Needs::history; }
  bool routed(const Where& where, const float*, const std::int32_t* ids, const float*) override {
    auto& all = chosen[where.layer];
    all.insert(all.end(), ids, ids + where.tokens * config_.layer(where.layer).experts->used);
    return true;
  }
  std::map<std::int64_t, std::vector<std::int32_t>> chosen;

 private:
  const models::ModelConfig& config_;
};

struct Outcome {
  std::vector<float> logits = {};
  std::map<std::int64_t, std::vector<std::int32_t>> chosen = {};
};

// In passes of `chunk` tokens. Before `at` the pages are the processor's, or the other card's.
Outcome outcome(const models::Model& model, const kernels::Device& device, std::span<const TokenId> tokens,
                std::int64_t chunk, const layers::HostPart& host = {}, std::int64_t at = 0) {
  constexpr std::int64_t page_tokens = 5;
  const auto count = std::ssize(tokens);
  const kernels::Device& first_place = host.first_device != nullptr ? *host.first_device : cpu();
  const Pages here(device, model.config(), count, page_tokens),
      before(first_place, model.config(), count, page_tokens);
  std::vector<kernels::KvPages> pages(here.layers().begin(), here.layers().end());
  std::copy_n(before.layers().begin(), at, pages.begin());
  auto forward = layers::Forward::create(
      model, device, {.tokens = chunk, .pages = (count + page_tokens - 1) / page_tokens}, host);
  if (!forward) qFatal("%s", forward.error().message().c_str());
  const auto stream = device.make_stream({.threads = 2});
  Choices choices(model.config());
  Outcome out;
  for (std::int64_t first = 0; first < count; first += chunk) {
    const auto part = tokens.subspan(static_cast<std::size_t>(first),
                                     static_cast<std::size_t>(std::min(chunk, count - first)));
    const auto rows = forward->run(
        {.segments = {{.tokens = part, .first = first, .pages = pages, .logits = layers::LogitsWanted::all}},
         .context = count,
         .observer = &choices},
        *stream);
    out.logits.insert(out.logits.end(), rows.begin(), rows.end());
  }
  out.chosen = std::move(choices.chosen);
  return out;
}

}  // namespace

class FirstLayersTest : public QObject {
  Q_OBJECT

  ApartDevice apart_{cpu()};

 private Q_SLOTS:
  void cleanup() { QCOMPARE(apart_.allocated(), 0); }

  // The first layers are the processor's, or another card's; nobody can touch what is another one's.
  void anyDivisionGivesTheWholeModelsBits_data() {
    QTest::addColumn<int>("index");
    QTest::addColumn<bool>("two_cards");
    for (std::size_t i = 0; i < cases().size(); ++i) {
      QTest::addRow("%s", cases()[i].name.c_str()) << int(i) << false;
      QTest::addRow("%s, two cards", cases()[i].name.c_str()) << int(i) << true;
    }
  }
  void anyDivisionGivesTheWholeModelsBits() {
    QFETCH(int, index);
    QFETCH(bool, two_cards);
    const Case& c = cases()[std::size_t(index)];
    const ApartDevice other(cpu());
    const kernels::Device& place = two_cards ? static_cast<const kernels::Device&>(other) : cpu();
    const auto whole = load(c.model, cpu());
    FOVEA_VERIFY(whole);
    const std::int64_t layers = whole->config().layer_count();
    bool any = false;
    for (const std::int64_t chunk : {7, 1}) {
      const Outcome expected = outcome(*whole, cpu(), c.tokens, chunk);
      for (std::int64_t at = 1; at < layers; ++at) {
        if (!models::can_divide(whole->config(), at)) continue;
        any = true;
        const auto before = load_layers(c.model, place, {0, at});
        const auto behind = load_layers(c.model, apart_, {at, layers});
        FOVEA_VERIFY(before);
        FOVEA_VERIFY(behind);
        const layers::HostPart host{.first_layers = &*before,
                                    .first_device = two_cards ? &other : nullptr,
                                    .device = &cpu(),
                                    .threads = 2};
        const Outcome divided = outcome(*behind, apart_, c.tokens, chunk, host, at);
        QVERIFY(divided.logits == expected.logits);
        QVERIFY(divided.chosen == expected.chosen);
      }
    }
    QCOMPARE(other.graphs().launched > 0, any && two_cards);
    QCOMPARE(other.allocated(), 0);
  }

  // With the GPU's own kernels on both cards.
  void twoCardsOfKernelsEqualTransformers_data() { dividedEqualsTransformersOnAGpu_data(); }
  void twoCardsOfKernelsEqualTransformers() {
    QFETCH(QString, name);
    const Case& c = case_named(name.toStdString());
    FOVEA_NEEDS_PTX;
    const auto first = ptx::device({.seed = seed()});
    const auto second = ptx::device({.seed = seed() + 1});
    const auto before = load_layers(c.model, *first, {0, 1}), behind = load_layers(c.model, *second, {1, 2});
    FOVEA_VERIFY(before);
    FOVEA_VERIFY(behind);
    const layers::HostPart host{
        .first_layers = &*before, .first_device = first.get(), .device = &cpu(), .threads = 2};
    for (const std::int64_t chunk : {7, 1}) {
      const double difference =
          largest_difference(outcome(*behind, *second, c.tokens, chunk, host, 1).logits, c.expected);
      QVERIFY2(difference <= allowed(c, *second), std::to_string(difference).c_str());
    }
  }

  // With the GPU's own kernels behind.
  void dividedEqualsTransformersOnAGpu_data() {
    QTest::addColumn<QString>("name");
    for (const char* name : {"experts", "qwen3-0"}) QTest::newRow(name) << name;
  }
  void dividedEqualsTransformersOnAGpu() {
    QFETCH(QString, name);
    const Case& c = case_named(name.toStdString());
    FOVEA_NEEDS_PTX;
    const auto gpu = ptx::device();
    const auto before = load_layers(c.model, cpu(), {0, 1}), behind = load_layers(c.model, *gpu, {1, 2});
    FOVEA_VERIFY(before);
    FOVEA_VERIFY(behind);
    QCOMPARE(before->config().layer_count(), 2);
    const layers::HostPart host{.first_layers = &*before, .device = &cpu(), .threads = 2};
    for (const std::int64_t chunk : {7, 1}) {
      const double difference =
          largest_difference(outcome(*behind, *gpu, c.tokens, chunk, host, 1).logits, c.expected);
      QVERIFY2(difference <= allowed(c, *gpu), std::to_string(difference).c_str());
    }
  }

  // Nothing is held twice but a table that is looked up at one end and multiplied at the other.
  void eachPlaceHasItsOwnWeights() {
    const Case& c = case_named("experts");
    const auto whole = load(c.model, apart_);
    FOVEA_VERIFY(whole);
    const std::int64_t layers = whole->config().layer_count();
    const auto before = load_layers(c.model, apart_, {0, 1}),
               behind = load_layers(c.model, apart_, {1, layers});
    FOVEA_VERIFY(before);
    FOVEA_VERIFY(behind);
    QVERIFY(!before->config().tied_embeddings);
    QCOMPARE(before->weight_bytes() + behind->weight_bytes(), whole->weight_bytes());
    QVERIFY(before->weight_bytes() > 0 && behind->weight_bytes() > 0);
    QVERIFY(before->embedding() && !before->output() && !behind->embedding() && behind->output());
  }

  // One state is all layers', and so are what layers make of their own input.
  void someCannotBeDivided() {
    QVERIFY(!models::can_divide(load(case_named("experts").model, cpu())->config(), 0));
    int undivided = 0;
    for (const Case& c : cases()) {
      const auto model = load(c.model, cpu());
      FOVEA_VERIFY(model);
      if (!models::can_divide(model->config(), 1)) ++undivided;
    }
    QVERIFY(undivided > 0 && undivided < std::ssize(cases()) / 2);
  }

  void aStoppedPassGivesNothing() {
    const Case& c = case_named("experts");
    const auto before = load_layers(c.model, cpu(), {0, 1}), behind = load_layers(c.model, apart_, {1, 2});
    FOVEA_VERIFY(before);
    FOVEA_VERIFY(behind);
    const Pages here(apart_, behind->config(), 8, 8), there(cpu(), behind->config(), 8, 8);
    std::vector<kernels::KvPages> pages(here.layers().begin(), here.layers().end());
    pages.front() = there.layers().front();
    auto forward = layers::Forward::create(*behind, apart_, {.tokens = 8, .pages = 1},
                                           {.first_layers = &*before, .device = &cpu(), .threads = 1});
    FOVEA_VERIFY(forward);
    const auto stream = apart_.make_stream({.threads = 1});
    std::stop_source stop;
    stop.request_stop();
    const auto tokens = std::span(c.tokens).first(8);
    layers::Pass pass{
        .segments = {{.tokens = tokens, .pages = pages}}, .context = 8, .stop = stop.get_token()};
    QVERIFY(forward->run(pass, *stream).empty());
    QVERIFY(forward->stopped());
    pass.stop = {};
    QVERIFY(!forward->run(pass, *stream).empty());
    QVERIFY(!forward->stopped());
  }
};

FOVEA_TEST(FirstLayersTest)
#include "first_layers_test.moc"
