// The reference operations against torch in float64 (tests/golden/make_operations.py). Shapes stand there.
#include <QFile>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "kernels/reference/device.h"
#include "tests/support/test.h"

using namespace fovea::kernels;

namespace {

struct Golden {
  std::map<std::string, std::vector<float>> floats;
  std::map<std::string, std::vector<std::int32_t>> ints;
};

template <typename T>
std::vector<T> take(const char*& at, std::size_t count) {
  std::vector<T> values(count);
  std::memcpy(values.data(), at, count * sizeof(T));
  at += count * sizeof(T);
  return values;
}

Golden golden_arrays() {
  Golden golden;
  QFile file(QString::fromStdString(fovea::tests::golden("operations.bin").string()));
  if (!file.open(QIODevice::ReadOnly)) return golden;
  const QByteArray data = file.readAll();
  const char* at = data.constData() + 4;
  const auto number = [&at] { return take<std::uint32_t>(at, 1)[0]; };
  for (std::uint32_t left = number(); left > 0; --left) {
    const std::vector<char> name = take<char>(at, number());
    const bool integer = number() == 1;
    const std::size_t count = number();
    const std::string key(name.begin(), name.end());
    if (integer) {
      golden.ints[key] = take<std::int32_t>(at, count);
    } else {
      golden.floats[key] = take<float>(at, count);
    }
  }
  return golden;
}

Weight matrix(const std::vector<float>& values, std::int64_t rows) {
  const auto columns = static_cast<std::int64_t>(values.size()) / rows;
  return {reinterpret_cast<const std::byte*>(values.data()), Type::f32, Packing::rows, rows, columns};
}

// Empty when equal to the rounding of one float; else which element differs.
QString difference(const std::vector<float>& out, const std::vector<float>& expected) {
  if (out.size() != expected.size())
    return QString("%1 elements, expected %2").arg(out.size()).arg(expected.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (std::fabs(out[i] - expected[i]) <= 2e-7F * std::fabs(expected[i]) + 1e-12F) continue;
    return QString("element %1: %2, expected %3").arg(i).arg(out[i], 0, 'g', 9).arg(expected[i], 0, 'g', 9);
  }
  return {};
}

}  // namespace

#define VERIFY_EQUAL(out, expected)                        \
  do {                                                     \
    const QString message = difference((out), (expected)); \
    QVERIFY2(message.isEmpty(), qPrintable(message));      \
  } while (false)

class ReferenceTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    golden_ = golden_arrays();
    stream_ = reference::device().make_stream({});
    QVERIFY(!golden_.floats.empty());
  }

  void comparisonSeesOneBit() {
    const std::vector<float> expected = array("norm.out");
    std::vector<float> changed = expected;
    changed[7] =
        std::nextafter(std::nextafter(std::nextafter(std::nextafter(changed[7], 9.0F), 9.0F), 9.0F), 9.0F);
    QVERIFY(difference(expected, expected).isEmpty());
    QVERIFY(!difference(changed, expected).isEmpty());
  }

  void rmsNorm() {
    std::vector<float> x = array("norm.x");
    const std::vector<float> residual = array("norm.residual");
    const std::vector<float> weight = array("norm.weight");
    std::vector<float> out(30);
    RmsNorm arguments{
        .x = x.data(), .weight = weight.data(), .eps = 1e-5F, .rows = 3, .columns = 10, .out = out.data()};
    table().rms_norm(arguments, *stream_);
    VERIFY_EQUAL(out, array("norm.plain"));
    VERIFY_EQUAL(x, array("norm.x"));
    arguments.residual = residual.data();
    table().rms_norm(arguments, *stream_);
    VERIFY_EQUAL(out, array("norm.out"));
    VERIFY_EQUAL(x, array("norm.sum"));
  }

  void rmsNormInPlace() {
    std::vector<float> x = array("norm.x");
    const std::vector<float> weight = array("norm.weight");
    table().rms_norm(
        {.x = x.data(), .weight = weight.data(), .eps = 1e-5F, .rows = 3, .columns = 10, .out = x.data()},
        *stream_);
    VERIFY_EQUAL(x, array("norm.plain"));
  }

  // tokens 3, heads 4 over 2, head_dim 12, of which 8 turn; pages of 2 positions where there are tokens.
  void attentionInputs() {
    const std::vector<std::int32_t> positions = {0, 5, 1000};
    std::vector<float> k = array("inputs.k");
    AttentionInputs arguments{.k = k.data(),
                              .v = array("inputs.v").data(),
                              .q_stride = 48,
                              .k_stride = 24,
                              .v_stride = 24,
                              .tokens = 3,
                              .heads = 4,
                              .positions = positions.data(),
                              .eps = 1e-5F,
                              .rotary = 8,
                              .inverse_frequency = array("inputs.frequency").data(),
                              .magnitude = 1.5F,
                              .pages = {}};
    for (const std::string name : {"inputs.plain", "inputs.half_split", "inputs.interleaved"}) {
      std::vector<float> q = array("inputs.q");
      std::vector<float> keys(3 * 48, NAN), values(3 * 48, NAN);
      std::vector<std::byte*> key_pages(501), value_pages(501);
      for (std::size_t t = 0; t < 3; ++t) {
        const auto page = static_cast<std::size_t>(positions[t] / 2);
        key_pages[page] = reinterpret_cast<std::byte*>(keys.data() + 48 * t);
        value_pages[page] = reinterpret_cast<std::byte*>(values.data() + 48 * t);
      }
      arguments.q = q.data();
      arguments.pages = {key_pages.data(), value_pages.data(), 2, Type::f32, 2, 12};
      if (name == "inputs.interleaved") arguments.style = RotaryStyle::interleaved;
      if (name != "inputs.plain") {
        arguments.q_norm = array("inputs.q_norm").data();
        arguments.k_norm = array("inputs.k_norm").data();
      }
      table().attention_inputs(arguments, *stream_);
      VERIFY_EQUAL(q, array(name + ".q"));
      // A page holds [kv_heads, page_tokens, head_dim].
      std::vector<float> stored[2];
      for (std::size_t t = 0; t < 3; ++t) {
        for (std::size_t i = 0; i < 24; ++i) {
          const auto slot = static_cast<std::size_t>(positions[t] % 2);
          const std::size_t at = 48 * t + (i / 12 * 2 + slot) * 12 + i % 12;
          const std::size_t other = 48 * t + (i / 12 * 2 + 1 - slot) * 12 + i % 12;
          stored[0].push_back(keys[at]);
          stored[1].push_back(values[at]);
          QVERIFY(std::isnan(keys[other]) && std::isnan(values[other]));
        }
      }
      VERIFY_EQUAL(stored[0], array(name + ".k"));
      VERIFY_EQUAL(stored[1], array("inputs.v"));
    }
  }

  // Keys and values go as they are into pages of 4 positions that lie in reverse order.
  void attention() {
    std::vector<float> k = array("attention.k");
    std::vector<float> v = array("attention.v");
    const std::vector<float> q = array("attention.q");
    const std::size_t page = 2 * 4 * 8;
    std::vector<float> keys(3 * page, NAN);
    std::vector<float> values(3 * page, NAN);
    std::vector<std::byte*> key_pages;
    std::vector<std::byte*> value_pages;
    for (std::size_t i = 3; i-- > 0;) {
      key_pages.push_back(reinterpret_cast<std::byte*>(keys.data() + i * page));
      value_pages.push_back(reinterpret_cast<std::byte*>(values.data() + i * page));
    }
    const KvPages pages{key_pages.data(), value_pages.data(), 4, Type::f32, 2, 8};
    const std::vector<std::int32_t> positions = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    table().attention_inputs({.k = k.data(),
                              .v = v.data(),
                              .k_stride = 16,
                              .v_stride = 16,
                              .tokens = 11,
                              .positions = positions.data(),
                              .pages = pages},
                             *stream_);
    for (const int window : {0, 3}) {
      const std::vector<float> sinks = array("attention.sinks");
      for (const float* given : {static_cast<const float*>(nullptr), sinks.data()}) {
        std::vector<float> out(q.size());
        table().attention({.q = q.data(),
                           .q_stride = 48,
                           .first = 4,
                           .tokens = 7,
                           .heads = 6,
                           .scale = 0.25F,
                           .window = window,
                           .sinks = given,
                           .pages = pages,
                           .out = out.data()},
                          *stream_);
        VERIFY_EQUAL(out,
                     array((given ? "attention.sinks_window" : "attention.window") + std::to_string(window)));
      }
    }
  }

  void router() {
    const std::vector<float> gate = array("router.gate");
    for (const bool normalise : {false, true}) {
      std::vector<std::int32_t> ids(12);
      std::vector<float> logits(36), weights(12), shared(4);
      table().router({.x = array("router.x").data(),
                      .tokens = 4,
                      .weight = matrix(array("router.weight"), 9),
                      .shared_gate = normalise ? matrix(gate, 1) : Weight{},
                      .used = 3,
                      .normalise = normalise,
                      .scale = 2.5F,
                      .logits = logits.data(),
                      .ids = ids.data(),
                      .weights = weights.data(),
                      .shared_weights = shared.data()},
                     *stream_);
      VERIFY_EQUAL(logits, array("router.logits"));
      QCOMPARE(ids, golden_.ints["router.ids"]);
      VERIFY_EQUAL(weights, array(normalise ? "router.normalised" : "router.weights"));
      VERIFY_EQUAL(shared, normalise ? array("router.shared") : std::vector<float>(4));
    }
  }

  void routerWithBiases() {
    std::vector<std::int32_t> ids(12);
    std::vector<float> logits(36), weights(12);
    Router arguments{.x = array("router.x").data(),
                     .tokens = 4,
                     .weight = matrix(array("router.weight"), 9),
                     .bias = array("router.bias").data(),
                     .shared_gate = {},
                     .used = 3,
                     .normalise = true,
                     .logits = logits.data(),
                     .ids = ids.data(),
                     .weights = weights.data()};
    table().router(arguments, *stream_);
    VERIFY_EQUAL(logits, array("router.biased_logits"));
    QCOMPARE(ids, golden_.ints["router.biased_ids"]);
    VERIFY_EQUAL(weights, array("router.biased_weights"));
    arguments.expert_scales = array("gemma.expert_scales").data();
    table().router(arguments, *stream_);
    QCOMPARE(ids, golden_.ints["router.biased_ids"]);
    VERIFY_EQUAL(weights, array("gemma.expert_weights"));
  }

  void tiedExpertsComeInOrder() {
    const std::vector<float> weight = {1, 2, 2, 1, 2};
    const float one = 1;
    std::vector<std::int32_t> ids(4);
    std::vector<float> logits(5), weights(4);
    table().router({.x = &one,
                    .tokens = 1,
                    .weight = matrix(weight, 5),
                    .shared_gate = {},
                    .used = 4,
                    .logits = logits.data(),
                    .ids = ids.data(),
                    .weights = weights.data()},
                   *stream_);
    QCOMPARE(ids, (std::vector<std::int32_t>{1, 2, 4, 0}));
  }

  void feedForward() {
    std::vector<Expert> experts;
    for (const std::string name : {"ff.0", "ff.1", "ff.2"}) experts.push_back(expert(name, 5));
    const Expert shared = expert("ff.shared", 7);
    const std::vector<float> x = array("ff.x");
    const std::vector<float> weights = array("ff.weights");
    const std::vector<float> shared_weights = array("ff.shared_weights");
    std::vector<float> out(24, NAN);
    FeedForward arguments{.x = x.data(),
                          .tokens = 4,
                          .d = 6,
                          .experts = experts,
                          .used = 2,
                          .ids = golden_.ints["ff.ids"].data(),
                          .weights = weights.data(),
                          .out = out.data()};
    table().feed_forward(arguments, *stream_);
    VERIFY_EQUAL(out, array("ff.routed"));
    arguments.shared = &shared;
    arguments.shared_weights = shared_weights.data();
    table().feed_forward(arguments, *stream_);
    VERIFY_EQUAL(out, array("ff.with_shared"));
    table().feed_forward(
        {.x = x.data(), .tokens = 4, .d = 6, .experts = {}, .shared = &shared, .out = out.data()}, *stream_);
    VERIFY_EQUAL(out, array("ff.dense"));
  }

  void activations() {
    const std::vector<float> x = array("act.x"), gate = array("act.gate"), up = array("act.up"),
                             down = array("act.down"), gate_bias = array("act.gate_bias"),
                             up_bias = array("act.up_bias"), down_bias = array("act.down_bias");
    for (const auto& [activation, name] : {std::pair{Activation::silu, "act.silu"},
                                           {Activation::gelu_tanh, "act.gelu_tanh"},
                                           {Activation::clamped_silu, "act.clamped_silu"}}) {
      const Expert expert{.gate = matrix(gate, 5),
                          .up = matrix(up, 5),
                          .down = matrix(down, 6),
                          .activation = activation,
                          .gate_bias = gate_bias.data(),
                          .up_bias = up_bias.data(),
                          .down_bias = down_bias.data()};
      std::vector<float> out(24);
      table().feed_forward(
          {.x = x.data(), .tokens = 4, .d = 6, .experts = {}, .shared = &expert, .out = out.data()},
          *stream_);
      VERIFY_EQUAL(out, array(name));
    }
  }

  void linear() {
    const std::vector<float> x = array("linear.x");
    std::vector<float> a(3 * 6, -7.0F);  // stride 6, rows of 4
    std::vector<float> b(3 * 5);
    const Projection projections[] = {
        {matrix(array("linear.a"), 4), array("linear.bias").data(), a.data(), 6},
        {matrix(array("linear.b"), 5), nullptr, b.data(), 5},
    };
    table().linear({x.data(), 3, 7, projections}, *stream_);
    std::vector<float> packed;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (i % 6 < 4) {
        packed.push_back(a[i]);
      } else {
        QCOMPARE(a[i], -7.0F);
      }
    }
    VERIFY_EQUAL(packed, array("linear.out_a"));
    VERIFY_EQUAL(b, array("linear.out_b"));
  }

  void embedRows() {
    const std::vector<std::int32_t> ids = {3, 0, 3};
    std::vector<float> out(21);
    const std::vector<float>& table_values = array("linear.a");
    table().embed_rows({matrix(table_values, 4), ids.data(), 3, out.data()}, *stream_);
    for (std::size_t i = 0; i < out.size(); ++i) {
      QCOMPARE(out[i], table_values[static_cast<std::size_t>(ids[i / 7]) * 7 + i % 7]);
    }
  }

  void normOfTheResidual() {
    std::vector<float> x = array("gemma.x"), out(30);
    RmsNorm arguments{.x = x.data(),
                      .residual = array("gemma.residual").data(),
                      .residual_weight = array("gemma.residual_weight").data(),
                      .residual_eps = 0.1F,
                      .scale = 0.7F,
                      .rows = 3,
                      .columns = 10};
    table().rms_norm(arguments, *stream_);
    VERIFY_EQUAL(x, array("gemma.sum"));
    x = array("gemma.x");
    arguments.weight = array("gemma.weight").data();
    arguments.eps = 1e-5F;
    arguments.out = out.data();
    table().rms_norm(arguments, *stream_);
    VERIFY_EQUAL(x, array("gemma.sum"));
    VERIFY_EQUAL(out, array("gemma.normed"));
  }

  void gatesAndCaps() {
    for (const auto& [form, name] :
         {std::pair(GatingForm::sigmoid, "gemma.sigmoid"), std::pair(GatingForm::gelu_tanh, "gemma.gelu")}) {
      std::vector<float> x = array("gemma.x");
      table().gating({x.data(), array("gemma.gate").data(), 10, 3, 10, form}, *stream_);
      VERIFY_EQUAL(x, array(name));
    }
    std::vector<float> x = array("gemma.x");
    table().soft_cap({x.data(), 30, 2.0F}, *stream_);
    VERIFY_EQUAL(x, array("gemma.capped"));
  }

  // Pages of one position, so that a page is a token's heads.
  void normOfValues() {
    for (const bool are_keys : {false, true}) {
      std::vector<float> q = array("inputs.q"), k = array("inputs.k");
      const std::vector<std::int32_t> positions{0, 1, 2};
      std::vector<float> keys(72, -7.0F), values(72);
      std::vector<std::byte*> key_pages, value_pages;
      for (std::size_t token = 0; token < 3; ++token) {
        key_pages.push_back(reinterpret_cast<std::byte*>(keys.data() + 24 * token));
        value_pages.push_back(reinterpret_cast<std::byte*>(values.data() + 24 * token));
      }
      AttentionInputs arguments{.q = q.data(),
                                .k = k.data(),
                                .v = are_keys ? k.data() : array("inputs.v").data(),
                                .q_stride = 48,
                                .k_stride = 24,
                                .v_stride = 24,
                                .tokens = 3,
                                .heads = 4,
                                .positions = positions.data(),
                                .v_norm = true,
                                .eps = 1e-5F,
                                .rotary = 8,
                                .inverse_frequency = array("inputs.frequency").data(),
                                .pages = {key_pages.data(), value_pages.data(), 1, Type::f32, 2, 12}};
      table().attention_inputs(arguments, *stream_);
      VERIFY_EQUAL(values, array(are_keys ? "gemma.values_of_keys" : "gemma.values"));
      // Queries alone: the cache stays as it is.
      const std::vector<float> stored = keys, turned = q;
      q = array("inputs.q");
      arguments.k = nullptr;
      table().attention_inputs(arguments, *stream_);
      QCOMPARE(keys, stored);
      QCOMPARE(q, turned);
    }
  }

  void elementwise() {
    std::vector<float> x = array("element.x");
    table().add({x.data(), array("element.y").data(), 9}, *stream_);
    VERIFY_EQUAL(x, array("element.sum"));
  }

 private:
  const std::vector<float>& array(const std::string& name) { return golden_.floats.at(name); }
  const OperationTable& table() const { return reference::device().operations(); }
  Expert expert(const std::string& name, std::int64_t width) {
    return {matrix(array(name + ".gate"), width), matrix(array(name + ".up"), width),
            matrix(array(name + ".down"), 6)};
  }

  Golden golden_;
  std::unique_ptr<Stream> stream_;
};
FOVEA_TEST(ReferenceTest)

#include "reference_test.moc"
