// Decoding as graphs of the GPU's kernels: the bits of the same passes done piece by piece, across the
// borders of what a graph reaches, while experts change under it, and when other weights change, which it has
// inside.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>

#include "tests/kernels/ptx/device.h"
#include "tests/support/test.h"

#include "golden_logits.h"
#include "runner.h"

using namespace fovea;
using namespace fovea::tests;

namespace {

constexpr std::int64_t page_tokens = 1;  // so that graphs reach to positions 3, 7 and 15
constexpr std::size_t tokens = 10;

struct Decoded {
  std::vector<float> logits;  // [tokens, vocabulary]
  layers::GraphUse graphs;
  std::vector<std::int64_t> kernels;  // of each pass
  // Of passes that wanted the top-k logits.
  std::vector<std::vector<TokenId>> ids;
  std::vector<double> weights, entropies;
};

// Another one in each pass: it is no part of a graph.
float temperature_of(std::size_t position) {
  return 0.5F + 0.25F * static_cast<float>(position);
}

// Called before each pass.
using Change = std::function<void(std::size_t position, std::vector<models::LayerWeights>& handles)>;

const Case& model_named(const QString& name) {
  for (const Case& each : cases())
    if (name.toStdString() == each.name) return each;
  qFatal("there is no golden model %s", qPrintable(name));
}

const Case& model_with_experts() {
  for (const Case& each : cases()) {
    const auto model = load(each.model, *all_devices().front());
    if (model && model->config().experts() > 2 && model->config().layer_count() > 1 &&
        each.tokens.size() >= tokens)
      return each;
  }
  qFatal("no golden model has experts");
}

Decoded decode(const Case& c, bool captures, const Change& change = {}, std::size_t passes = tokens,
               layers::LogitsWanted wanted = layers::LogitsWanted::last) {
  const auto device = ptx::device({.seed = seed(), .captures = captures});
  auto model = load(c.model, *device);
  if (!model) qFatal("%s", model.error().message().c_str());
  const Pages pages(*device, model->config(), tokens, page_tokens);
  const auto stream = device->make_stream({});
  auto forward = layers::Forward::create(*model, *device, {.tokens = 1, .pages = tokens});
  if (!forward) qFatal("%s", forward.error().message().c_str());
  Decoded result;
  for (std::size_t position = 0; position < passes; ++position) {
    if (change) change(position, model->handles());
    const std::int64_t before = ptx::kernels_run(*device);
    auto row = forward->run({.segments = {{.tokens = std::span(c.tokens).subspan(position, 1),
                                           .first = static_cast<std::int64_t>(position),
                                           .pages = pages.layers(),
                                           .logits = wanted,
                                           .temperature = temperature_of(position)}},
                             .context = tokens},
                            *stream);
    result.kernels.push_back(ptx::kernels_run(*device) - before);
    if (const auto top = forward->top_k()) {
      if (!row.empty()) qFatal("logits and their top k");
      row = forward->all_logits(*stream);
      result.ids.emplace_back(top->ids.begin(), top->ids.end());
      result.weights.push_back(top->weight);
      result.entropies.push_back(top->entropy);
    }
    result.logits.insert(result.logits.end(), row.begin(), row.end());
  }
  if (!stream->failure().empty()) qFatal("%s", stream->failure().said.c_str());
  result.graphs = forward->graphs();
  return result;
}

bool same_bits(const Decoded& a, const Decoded& b) {
  return !a.logits.empty() && a.logits.size() == b.logits.size() &&
         std::memcmp(a.logits.data(), b.logits.data(), a.logits.size() * sizeof(float)) == 0;
}

constexpr std::size_t together = 3;

// The same tokens in three sequences, each of which begins one pass behind the one before.
std::vector<Decoded> decode_together(const Case& c, bool captures, layers::LogitsWanted wanted) {
  const auto device = ptx::device({.seed = seed(), .captures = captures});
  auto model = load(c.model, *device);
  if (!model) qFatal("%s", model.error().message().c_str());
  std::vector<std::unique_ptr<Pages>> pages;
  for (std::size_t i = 0; i < together; ++i)
    pages.push_back(std::make_unique<Pages>(*device, model->config(), tokens, page_tokens));
  const auto stream = device->make_stream({});
  auto forward = layers::Forward::create(
      *model, *device,
      {.tokens = together, .pages = tokens, .segments = static_cast<std::int64_t>(together)});
  if (!forward) qFatal("%s", forward.error().message().c_str());
  std::vector<Decoded> results(together);
  for (std::size_t pass = 0; pass < tokens + together - 1; ++pass) {
    layers::Pass all{.segments = {}, .context = tokens};
    std::vector<Decoded*> of_rows;
    for (std::size_t i = 0; i < together; ++i) {
      if (pass < i || pass - i >= tokens) continue;
      all.segments.push_back({.tokens = std::span(c.tokens).subspan(pass - i, 1),
                              .first = static_cast<std::int64_t>(pass - i),
                              .pages = pages[i]->layers(),
                              .state = pages[i]->state(),
                              .logits = wanted,
                              .temperature = temperature_of(pass - i)});
      of_rows.push_back(&results[i]);
    }
    const auto logits = forward->run(all, *stream);
    const auto vocabulary = static_cast<std::size_t>(model->config().vocabulary);
    for (std::size_t row = 0; row < of_rows.size(); ++row) {
      std::span<const float> own;
      if (const auto top = forward->top_k(static_cast<std::int64_t>(row))) {
        if (!logits.empty()) qFatal("logits and their top k");
        own = forward->all_logits(*stream, static_cast<std::int64_t>(row));
        of_rows[row]->ids.emplace_back(top->ids.begin(), top->ids.end());
        of_rows[row]->weights.push_back(top->weight);
        of_rows[row]->entropies.push_back(top->entropy);
      } else {
        own = logits.subspan(row * vocabulary, vocabulary);
      }
      of_rows[row]->logits.insert(of_rows[row]->logits.end(), own.begin(), own.end());
    }
    if (forward->top_k(static_cast<std::int64_t>(of_rows.size()))) qFatal("a row that nobody wanted");
  }
  if (!stream->failure().empty()) qFatal("%s", stream->failure().said.c_str());
  results.front().graphs = forward->graphs();
  return results;
}

// Experts change places, others in each pass.
void swap_experts(std::size_t position, std::vector<models::LayerWeights>& handles) {
  for (models::LayerWeights& layer : handles) {
    if (layer.experts.empty()) continue;
    std::swap(layer.experts[position % layer.experts.size()],
              layer.experts[(position + 1) % layer.experts.size()]);
    ++layer.revision;
  }
}

void change_a_dense_layer(std::size_t position, std::vector<models::LayerWeights>& handles) {
  if (position == 3 || position == 6) std::swap(handles[0].attention.output, handles[1].attention.output);
}

}  // namespace

class GraphsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void reachesAreFewAndLargeEnough() {
    using layers::Graphs;
    QCOMPARE(Graphs::max_first(0, 64), 255);
    QCOMPARE(Graphs::max_first(255, 64), 255);
    QCOMPARE(Graphs::max_first(256, 64), 511);
    std::int64_t reaches = 1;
    for (std::int64_t first = 1; first < 131072; ++first) {
      QVERIFY(Graphs::max_first(first, 64) >= first);
      reaches += Graphs::max_first(first, 64) != Graphs::max_first(first - 1, 64) ? 1 : 0;
    }
    QCOMPARE(reaches, 10);
  }

  // A token of a large model costs its weights' bytes, and its launches.
  void aPassIsSoManyKernels_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<std::int64_t>("kernels");
    // Outside the layers three: rows, the first norm, logits. Within seven: queries to values, their norms to
    // the cache, attention, output with the norm behind it, router, the experts' two with the next layer's;
    // queries, keys and values of three types are two more, and attention over so few positions that there is
    // nothing to join quantises its output apart.
    QTest::newRow("one layer, three types of q, k and v") << "blocks" << std::int64_t{3 + 10};
    QTest::newRow("two layers of floats, quantised experts") << "experts" << std::int64_t{3 + 2 * 7};
    QTest::newRow("two layers, a shared expert") << "qwen2_moe-0-gguf" << std::int64_t{3 + 2 * 7};
  }
  void aPassIsSoManyKernels() {
    FOVEA_NEEDS_PTX;
    QFETCH(QString, model);
    QFETCH(std::int64_t, kernels);
    // The first pass is done piece by piece, the second one by its graph.
    QCOMPARE(decode(model_named(model), true, {}, 2).kernels, std::vector<std::int64_t>(2, kernels));
  }

  void graphsGiveTheBitsOfTheirPieces() {
    FOVEA_NEEDS_PTX;
    const Case& c = model_with_experts();
    const Decoded pieces = decode(c, false), graphs = decode(c, true);
    QVERIFY(same_bits(pieces, graphs));
    QCOMPARE(pieces.graphs.captured, 0);
    QCOMPARE(graphs.graphs.captured, 3);
    // All passes but the first of each reach.
    QCOMPARE(graphs.graphs.launched, static_cast<std::int64_t>(tokens) - 3);
    const std::span<const float> expected(c.expected);
    QVERIFY(largest_difference(graphs.logits, expected.first(graphs.logits.size())) <= 0.01);

    const Decoded swapped = decode(c, true, swap_experts);
    QVERIFY(same_bits(decode(c, false, swap_experts), swapped));
    QVERIFY(!same_bits(swapped, graphs));
    QCOMPARE(swapped.graphs.captured, 3);

    // Graphs that have other weights inside than the model has now are made anew.
    const Decoded changed = decode(c, true, change_a_dense_layer);
    QVERIFY(same_bits(decode(c, false, change_a_dense_layer), changed));
    QVERIFY(!same_bits(changed, graphs));
    QCOMPARE(changed.graphs.captured, 4);
    QCOMPARE(changed.graphs.launched, static_cast<std::int64_t>(tokens) - 5);
  }

  // Sequences of different lengths in one pass: while their reaches stay as they are, one graph does it.
  void severalSequencesAreOneGraph() {
    FOVEA_NEEDS_PTX;
    const Case& c = model_with_experts();
    using Wanted = layers::LogitsWanted;
    const auto pieces = decode_together(c, false, Wanted::last),
               graphs = decode_together(c, true, Wanted::last),
               listed = decode_together(c, true, Wanted::top_k);
    const Decoded alone = decode(c, true, {}, tokens, Wanted::top_k);
    QCOMPARE(pieces.front().graphs.captured, 0);
    for (const auto& each : {graphs, listed}) {
      // All three are within 3 in the third pass and the fourth, and within 7 in the seventh and the eighth.
      QCOMPARE(each.front().graphs.captured, 2);
      QCOMPARE(each.front().graphs.launched, 2);
    }
    const std::span<const float> expected(c.expected);
    for (std::size_t i = 0; i < together; ++i) {
      QVERIFY(same_bits(pieces[i], graphs[i]));
      QVERIFY(same_bits(pieces[i], listed[i]));
      QVERIFY(largest_difference(graphs[i].logits, expected.first(graphs[i].logits.size())) <= 0.01);
      QCOMPARE(listed[i].ids.size(), tokens);
      for (std::size_t position = 0; position < tokens; ++position) {
        QCOMPARE(listed[i].ids[position].front(), alone.ids[position].front());
        QVERIFY(std::abs(listed[i].weights[position] / alone.weights[position] - 1) < 0.05);
        QVERIFY(std::abs(listed[i].entropies[position] - alone.entropies[position]) < 0.05);
      }
    }
  }

  // Graphs list the largest of the logits that they would give.
  void graphsListTheTopKLogits() {
    FOVEA_NEEDS_PTX;
    const Case& c = model_with_experts();
    const Decoded whole = decode(c, true), listed = decode(c, true, {}, tokens, layers::LogitsWanted::top_k);
    QVERIFY(same_bits(whole, listed));
    QCOMPARE(listed.graphs.captured, 3);
    QCOMPARE(listed.ids.size(), tokens);
    // In two launches.
    QCOMPARE(listed.kernels.back(), whole.kernels.back() + 2);
    const std::size_t vocabulary = whole.logits.size() / tokens;
    for (std::size_t position = 0; position < tokens; ++position) {
      const auto logits = std::span(whole.logits).subspan(position * vocabulary, vocabulary);
      std::vector<TokenId> order(vocabulary);
      std::iota(order.begin(), order.end(), 0);
      std::ranges::stable_sort(order, std::greater<>(),
                               [&](TokenId id) { return logits[static_cast<std::size_t>(id)]; });
      order.resize(listed.ids[position].size());
      QCOMPARE(listed.ids[position], order);
      const double top = static_cast<double>(logits[static_cast<std::size_t>(order.front())]);
      double weight = 0, sum = 0, weighted = 0;
      for (const float logit : logits) {
        const double d = static_cast<double>(logit) - top;
        weight += std::exp(d / static_cast<double>(temperature_of(position)));
        sum += std::exp(d);
        weighted += d * std::exp(d);
      }
      QVERIFY(std::abs(listed.weights[position] / weight - 1) < 1e-5);
      QVERIFY(std::abs(listed.entropies[position] - (std::log(sum) - weighted / sum)) < 1e-5);
    }
  }
};
FOVEA_TEST(GraphsTest)

#include "graphs_test.moc"
