// Families whose folders have a form of their own, as published and as the peer's GGUF: transformers' logits,
// in long and short passes and beside another sequence.
#include <algorithm>
#include <cmath>

#include "kernels/cpu/device.h"
#include "tests/support/test.h"

#include "golden_logits.h"
#include "runner.h"

using namespace fovea;
using namespace fovea::tests;

namespace {

// The case's rows below `count` of logits [count, vocabulary], and what is expected of them.
struct Rows {
  std::vector<float> found, expected;
};

Rows rows_of(const Case& c, std::span<const float> logits, std::size_t count) {
  const std::size_t vocabulary = logits.size() / count;
  Rows rows;
  for (std::size_t i = 0; i < c.rows.size() && c.rows[i] < count; ++i) {
    const auto found = logits.subspan(c.rows[i] * vocabulary, vocabulary);
    const auto expected = std::span(c.expected).subspan(i * vocabulary, vocabulary);
    rows.found.insert(rows.found.end(), found.begin(), found.end());
    rows.expected.insert(rows.expected.end(), expected.begin(), expected.end());
  }
  return rows;
}

double difference(const Case& c, std::span<const float> logits, std::size_t count) {
  const Rows rows = rows_of(c, logits, count);
  return rows.found.empty() ? INFINITY : largest_difference(rows.found, rows.expected);
}

}  // namespace

class FamiliesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void equalTransformers_data() {
    QTest::addColumn<int>("device");
    QTest::addColumn<int>("index");
    const auto devices = all_devices();
    QVERIFY(!family_cases().empty());
    for (std::size_t d = 0; d < devices.size(); ++d) {
      for (std::size_t i = 0; i < family_cases().size(); ++i) {
        // The same weights twice are worth seconds on a processor, not where it executes a GPU's kernels.
        if (is_gpu(*devices[d]) && family_cases()[i].name.ends_with("-gguf")) continue;
        QTest::addRow("%s, %s %s", family_cases()[i].name.c_str(), devices[d]->name().c_str(),
                      devices[d]->instruction_set().c_str())
            << int(d) << int(i);
      }
    }
  }
  void equalTransformers() {
    QFETCH(int, device);
    QFETCH(int, index);
    const kernels::Device& on = *all_devices()[static_cast<std::size_t>(device)];
    const Case& c = family_cases()[static_cast<std::size_t>(index)];
    const auto model = load(c.model, on);
    FOVEA_VERIFY(model);
    // The reference is slow, a pass of a GPU's kernels takes seconds, and memory that is kept apart is locked
    // for each operation: the first tokens alone.
    const bool is_slow = on.name() == "reference" || !on.memory_is_host();
    const std::size_t count = is_slow ? std::min<std::size_t>(c.tokens.size(), 48) : c.tokens.size();
    for (const std::int64_t chunk : {512, 13, 1}) {
      if (is_slow && chunk == 1) break;
      const double found =
          difference(c, logits(*model, on, std::span(c.tokens).first(count), chunk, 16), count);
      QVERIFY2(found <= allowed(c, on),
               ("chunk " + std::to_string(chunk) + ": difference " + std::to_string(found)).c_str());
    }
  }

  // Two sequences of the same tokens in one pass, one of them further on.
  void twoSegmentsInOnePass_data() { equalTransformers_data(); }
  void twoSegmentsInOnePass() {
    QFETCH(int, device);
    QFETCH(int, index);
    const kernels::Device& on = *all_devices()[static_cast<std::size_t>(device)];
    const Case& c = family_cases()[static_cast<std::size_t>(index)];
    const auto model = load(c.model, on);
    FOVEA_VERIFY(model);
    constexpr std::size_t count = 40, ahead = 9;
    constexpr std::int64_t page_size = 16;
    const std::span<const TokenId> tokens = std::span(c.tokens).first(count);
    const Pages first(on, model->config(), count, page_size), second(on, model->config(), count, page_size);
    auto forward = layers::Forward::create(*model, on, {.tokens = 40, .pages = 3, .segments = 2});
    FOVEA_VERIFY(forward);
    const auto stream = on.make_stream({.threads = 2});
    const auto segment = [&](const Pages& pages, std::size_t from, std::size_t to) {
      return layers::Segment{.tokens = tokens.subspan(from, to - from),
                             .first = static_cast<std::int64_t>(from),
                             .pages = pages.layers(),
                             .state = pages.state(),
                             .logits = layers::LogitsWanted::all};
    };
    std::vector<float> of_first, of_second;
    const auto run = [&](std::vector<layers::Segment> segments) {
      return forward->run({.segments = std::move(segments), .context = count}, *stream);
    };
    const auto append = [](std::vector<float>& to, std::span<const float> rows) {
      to.insert(to.end(), rows.begin(), rows.end());
    };
    append(of_first, run({segment(first, 0, ahead)}));
    const auto vocabulary = static_cast<std::size_t>(model->config().vocabulary);
    for (std::size_t at = 0; at < count; at += 17) {
      const std::size_t end = std::min(count, at + 17);
      const std::size_t from = std::min(count, at + ahead), to = std::min(count, end + ahead);
      std::vector<layers::Segment> segments;
      if (from < to) segments.push_back(segment(first, from, to));
      segments.push_back(segment(second, at, end));
      const std::span<const float> rows = run(std::move(segments));
      append(of_first, rows.first((to - from) * vocabulary));
      append(of_second, rows.subspan((to - from) * vocabulary));
    }
    for (const auto* logits : {&of_first, &of_second}) {
      QCOMPARE(logits->size(), count * vocabulary);
      const double found = difference(c, *logits, count);
      QVERIFY2(found <= allowed(c, on), std::to_string(found).c_str());
    }
  }

  // What the tests above must see. Each is one change of the model's configuration or weights.
  void plantedErrorsAreSeen_data() {
    QTest::addColumn<int>("index");
    QTest::addColumn<QString>("error");
    const std::vector<const char*> of_windows{"windows on the other layers", "no windows",
                                              "no rotary scaling"};
    const std::vector<const char*> of_qwen{"norms without their 1", "value heads in the other order",
                                           "all of a head turns"};
    const std::vector<const char*> of_gpt_oss{"no sinks", "no biases of experts", "usual activation",
                                              "no router bias"};
    for (std::size_t i = 0; i < family_cases().size(); ++i) {
      const std::string& name = family_cases()[i].name;
      const bool is_qwen = name.starts_with("qwen");
      std::vector<const char*> errors = is_qwen ? of_qwen : of_windows;
      if (name.starts_with("gpt_oss")) errors.insert(errors.end(), of_gpt_oss.begin(), of_gpt_oss.end());
      if (name.starts_with("mellum") || name.starts_with("gemma3"))
        errors.push_back("rotary tables exchanged");
      if (name.starts_with("gemma3")) errors.push_back("norms without their 1");
      if (name.starts_with("gemma"))
        errors.insert(errors.end(), {"no norms behind blocks", "embedding as it is", "usual activation"});
      if (name.starts_with("gemma4"))
        errors.insert(errors.end(), {"values without norms", "no scales of layers", "no cap on logits"});
      if (name.starts_with("gemma4-0"))
        errors.insert(errors.end(), {"no scales of experts", "router without its norm"});
      for (const char* error : errors)
        QTest::addRow("%s, %s", name.c_str(), error) << int(i) << QString(error);
    }
  }
  void plantedErrorsAreSeen() {
    QFETCH(int, index);
    QFETCH(QString, error);
    const kernels::Device& on = *kernels::cpu::default_device();
    const Case& c = family_cases()[static_cast<std::size_t>(index)];
    auto model = load(c.model, on);
    FOVEA_VERIFY(model);
    auto& config = const_cast<models::ModelConfig&>(model->config());
    for (std::size_t layer = 0; layer < config.layers.size(); ++layer) {
      models::AttentionConfig none;
      models::AttentionConfig* const own = config.layers[layer].attention();
      models::AttentionConfig& attention = own ? *own : none;
      models::LayerWeights& weights = model->handles()[layer];
      if (error == "all of a head turns" && own) config.rotary.front().rotary = own->head_dim;
      if (error == "values without norms") attention.v_norm = false;
      if (error == "no scales of layers") weights.output_scale = 1;
      if (error == "no scales of experts") weights.expert_scales = nullptr;
      if (error == "router without its norm") weights.router_norm = nullptr;
      if (error == "no norms behind blocks") weights.mixer_post_norm = nullptr;
      if (error == "usual activation") weights.shared.activation = kernels::Activation::silu;
      if (error == "no sinks") weights.attention.sinks = nullptr;
      if (error == "windows on the other layers") attention.window = attention.window > 0 ? 0 : 7;
      if (error == "no windows") attention.window = 0;
      if (error == "no router bias") weights.router_bias = nullptr;
      if (error == "norms without their 1") {
        for (std::int64_t i = 0; i < config.hidden; ++i) const_cast<float*>(weights.mixer_norm)[i] -= 1;
      }
      if (auto* const delta = std::get_if<models::GatedDeltaConfig>(&config.layers[layer].mixer);
          delta && error == "value heads in the other order")
        delta->tiled = !delta->tiled;
      for (kernels::Expert& expert : weights.experts) {
        if (error == "no biases of experts") expert.gate_bias = expert.up_bias = expert.down_bias = nullptr;
        if (error == "usual activation") expert.activation = kernels::Activation::silu;
      }
    }
    if (error == "rotary tables exchanged") std::swap(config.rotary[0], config.rotary[1]);
    if (error == "no rotary scaling") {
      config.rotary.front().scaling = models::RopeScaling::none;
      config.rotary.front().frequency_factors.clear();
    }
    if (error == "embedding as it is") config.embedding_scale = 1;
    if (error == "no cap on logits") config.logits_softcap = 0;
    const double found = difference(c, logits(*model, on, c.tokens, 0, 16), c.tokens.size());
    QVERIFY2(found > allowed(c, on), std::to_string(found).c_str());
  }
};
FOVEA_TEST(FamiliesTest)

#include "families_test.moc"
