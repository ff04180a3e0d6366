#include "engine/api/routing_report.h"

#include <cmath>
#include <fstream>
#include <random>

#include "engine/api/expert_load.h"
#include "engine/eval/trace.h"
#include "tests/support/test.h"

using namespace fovea;
using eval::TracePass;
using eval::TraceShape;
using eval::TraceWriter;

namespace {

// Two layers of four experts, of which a token uses two.
const TraceShape two_layers = {.model = "small",
                               .used = 2,
                               .layers = {{.layer = 0, .experts = 4, .parameters = 96, .file_bytes = 54},
                                          {.layer = 2, .experts = 4, .parameters = 96, .file_bytes = 54}}};

// One token that chose these units, all with the same weight.
TracePass token(const std::vector<std::int32_t>& units) {
  TracePass pass{.tokens = 1, .prefill = false, .entropy = -1, .routed = {1, 1}, .uses = {}};
  for (const std::int32_t unit : units) pass.uses.push_back({.unit = unit, .tokens = 1, .gate_sum = 0.5F});
  return pass;
}

bool near_to(double found, double wanted) {
  return std::abs(found - wanted) < 1e-6;
}

}  // namespace

class RoutingReportTest : public QObject {
  Q_OBJECT

 private:
  NamedTrace written(const std::string& name, const std::vector<TracePass>& passes,
                     std::optional<std::uint64_t> text = 7, const TraceShape& shape = two_layers) const {
    std::string bytes;
    TraceWriter writer(shape);
    writer.begin(bytes);
    for (const TracePass& pass : passes) writer.pass(pass, bytes);
    writer.end(bytes, text);
    const auto path = folder_.path() / (name + ".trace");
    std::ofstream(path, std::ios::binary) << bytes;
    return {.name = name, .path = path};
  }

  // Layer 0: {0, 1}, {0, 2}; layer 2: {0, 1}, {2, 3}.
  NamedTrace a() const { return written("a", {token({0, 1, 4, 5}), token({0, 2, 6, 7})}); }
  // Layer 0: {0, 1}, {1, 3}; layer 2: {0, 2}, {2, 3}.
  NamedTrace b() const { return written("b", {token({0, 1, 4, 6}), token({1, 3, 6, 7})}); }

  tests::TemporaryFolder folder_;

 private Q_SLOTS:
  void loadOfEachLayer() {
    const auto report = routing_report({.traces = {a()}});
    FOVEA_VERIFY(report);
    QCOMPARE(report->used, 2);
    QCOMPARE(report->traces[0].tokens, 2);
    QCOMPARE(report->traces[0].passes, 2);
    QCOMPARE(report->traces[0].model, "small");
    const LayerUse &first = report->traces[0].layers[0], &second = report->traces[0].layers[1];
    QCOMPARE(first.uses, (std::vector<std::int64_t>{2, 1, 1, 0}));
    QVERIFY(std::abs(first.gates[0] - 1) < 0.01 && std::abs(first.gates[2] - 0.5) < 0.01);
    QCOMPARE(first.tokens, 2);
    QCOMPARE(first.unused, 1);
    QVERIFY(near_to(first.evenness, 0.75));     // 1.5 of 2 bits
    QVERIFY(near_to(first.max_violation, 1));   // a half instead of a quarter
    QVERIFY(near_to(first.balance_loss, 1.5));  // 4 (1/4 + 1/16 + 1/16)
    QCOMPARE(second.uses, (std::vector<std::int64_t>{1, 1, 1, 1}));
    QVERIFY(near_to(second.evenness, 1) && near_to(second.max_violation, 0) &&
            near_to(second.balance_loss, 1));
    QVERIFY(report->overlaps.empty() && report->specialisation.empty() && report->preferred.empty());
    QVERIFY(report->fidelity.empty());
  }

  // The choices and their weights are two things.
  void balanceLossTakesTheWeights() {
    const std::vector<double> f{0.5, 0.5, 0, 0}, p{0.75, 0.25, 0, 0}, even(4, 0.25), one{1, 0, 0, 0};
    QVERIFY(near_to(balance_loss(f, p), 2));
    QVERIFY(near_to(balance_loss(even, p), 1));
    QVERIFY(near_to(balance_loss(f, even), 1));
    QVERIFY(near_to(balance_loss(one, one), 4));
  }

  void overlapOfTwo() {
    const auto wide = routing_report({.traces = {a(), b()}, .hottest = 2});
    FOVEA_VERIFY(wide);
    QCOMPARE(wide->overlaps.size(), std::size_t{1});
    const std::vector<Overlap>& layers = wide->overlaps[0].layers;
    QVERIFY(near_to(layers[0].hottest, 1));    // 0 and 1 of both
    QVERIFY(near_to(layers[1].hottest, 0.5));  // of equals the first: {0, 1}; {0, 2}
    QVERIFY(near_to(layers[0].by_chance, 0.5));
    QVERIFY(near_to(layers[0].common, 0.5));   // of ½ ¼ ¼ 0 and ¼ ½ 0 ¼
    QVERIFY(near_to(layers[1].common, 0.75));  // of ¼ ¼ ¼ ¼ and ¼ 0 ½ ¼
    QVERIFY(near_to(wide->overlaps[0].mean.hottest, 0.75));
    QVERIFY(near_to(wide->overlaps[0].mean.common, 0.625));
    const auto narrow = routing_report({.traces = {a(), b()}, .hottest = 1});
    FOVEA_VERIFY(narrow);
    QVERIFY(near_to(narrow->overlaps[0].layers[0].hottest, 0));
    // Twice those used: all four of a layer, but not those that nobody used.
    const auto usual = routing_report({.traces = {a(), b()}});
    FOVEA_VERIFY(usual);
    QCOMPARE(usual->hottest, 4);
    QVERIFY(near_to(usual->overlaps[0].layers[0].hottest, 2.0 / 3));
  }

  void specialisationIsTheInformationOfAChoice() {
    const auto report = routing_report({.traces = {a(), b()}});
    FOVEA_VERIFY(report);
    // The mean ⅜ ⅜ ⅛ ⅛ has 0.75 log₂(8/3) + 0.75 = 1.811278 bits, each of both 1.5.
    QVERIFY(near_to(report->specialisation[0].value, 0.311278));
  }

  void extremes() {
    const NamedTrace one = written("one", {token({0, 1, 4, 5}), token({0, 1, 4, 5})});
    const NamedTrace other = written("other", {token({2, 3, 6, 7}), token({2, 3, 6, 7})});
    const auto apart = routing_report({.traces = {one, other}, .reference = one});
    FOVEA_VERIFY(apart);
    for (std::size_t layer = 0; layer < 2; ++layer) {
      QVERIFY(near_to(apart->specialisation[layer].value, 1));
      QVERIFY(near_to(apart->overlaps[0].layers[layer].hottest, 0));
      QVERIFY(near_to(apart->overlaps[0].layers[layer].common, 0));
    }
    QCOMPARE(apart->fidelity[0].all.share(), 1.0);
    QCOMPARE(apart->fidelity[0].all.whole(), 1.0);
    QCOMPARE(apart->fidelity[1].all.share(), 0.0);
    QCOMPARE(apart->fidelity[1].all.by_chance(), 0.0);
    const auto same = routing_report({.traces = {a(), a()}});
    FOVEA_VERIFY(same);
    for (std::size_t layer = 0; layer < 2; ++layer) {
      QVERIFY(near_to(same->specialisation[layer].value, 0));
      QVERIFY(near_to(same->overlaps[0].layers[layer].hottest, 1));
      QVERIFY(near_to(same->overlaps[0].layers[layer].common, 1));
    }
  }

  void preferencesAreOfTokens() {
    const auto report = routing_report({.traces = {a(), b()}});
    FOVEA_VERIFY(report);
    QCOMPARE(report->preferred.size(), std::size_t{6});
    // a's tokens all chose expert 0 of layer 0, half of b's did; others differ by as much behind it.
    const Preference& first = report->preferred.front();
    QCOMPARE(first.trace, std::size_t{0});
    QCOMPARE(first.layer, std::size_t{0});
    QCOMPARE(first.expert, 0);
    QVERIFY(near_to(first.share, 1) && near_to(first.elsewhere, 0.5));
    QCOMPARE(report->preferred[3].trace, std::size_t{1});
    QCOMPARE(report->preferred[3].expert, 1);
  }

  void fidelityCountsEqualChoices() {
    const auto report = routing_report({.traces = {b()}, .reference = a()});
    FOVEA_VERIFY(report);
    const TraceFidelity& fidelity = report->fidelity.at(0);
    QCOMPARE(fidelity.layers[0].choices, 4);
    QCOMPARE(fidelity.layers[0].equal, 2);  // all of the first token, none of the second
    QCOMPARE(fidelity.layers[0].equal_sets, 1);
    QVERIFY(near_to(fidelity.layers[0].expected, 2));  // 2·½ + 1·1
    QCOMPARE(fidelity.layers[1].equal, 3);
    QCOMPARE(fidelity.all.share(), 5.0 / 8);
    QCOMPARE(fidelity.all.whole(), 0.5);
    QVERIFY(near_to(fidelity.all.by_chance(), 0.5));
  }

  // What is said to come by chance does.
  void byChance() {
    constexpr std::int32_t layers = 200, experts = 16;
    constexpr int tokens = 300;
    TraceShape shape{.model = "random", .used = 1, .layers = {}};
    for (std::int32_t layer = 0; layer < layers; ++layer)
      shape.layers.push_back({.layer = layer, .experts = experts, .parameters = 1});
    std::mt19937 random(tests::seed());
    std::vector<double> skewed(experts);
    for (int expert = 0; expert < experts; ++expert)
      skewed[static_cast<std::size_t>(expert)] = 1.0 / (1 + expert);
    std::discrete_distribution<std::int32_t> draw(skewed.begin(), skewed.end());
    std::vector<NamedTrace> traces;
    for (const char* name : {"x", "y", "z"}) {
      std::vector<TracePass> passes;
      for (int i = 0; i < tokens; ++i) {
        passes.push_back({.tokens = 1, .routed = std::vector<std::int32_t>(layers, 1), .uses = {}});
        for (std::int32_t layer = 0; layer < layers; ++layer)
          passes.back().uses.push_back({.unit = layer * experts + draw(random), .tokens = 1, .gate_sum = 1});
      }
      traces.push_back(written(name, passes, 1, shape));
    }
    const auto report = routing_report({.traces = traces, .reference = traces[0]});
    FOVEA_VERIFY(report);
    double found = 0, wanted = 0;
    for (const Specialisation& each : report->specialisation) {
      found += each.value;
      wanted += each.by_chance;
    }
    const QString seed = QString("seed %1").arg(tests::seed());
    QVERIFY2(found > 0.85 * wanted && found < 1.15 * wanted, qPrintable(seed));
    for (const std::size_t other : {std::size_t{1}, std::size_t{2}}) {
      const Fidelity& fidelity = report->fidelity[other].all;
      QVERIFY2(std::abs(fidelity.share() / fidelity.by_chance() - 1) < 0.05, qPrintable(seed));
    }
  }

  void whatIsRefused() {
    const auto says = [](const RoutingReportRequest& request) {
      const auto report = routing_report(request);
      return report ? QString() : QString::fromStdString(report.error().message());
    };
    const auto refused = [&](const RoutingReportRequest& request, const char* words) {
      const QString message = says(request);
      QVERIFY2(message.contains(words), qPrintable(message));
    };
    refused({.traces = {}}, "there is no trace to report on");
    refused({.traces = {{.name = "n", .path = folder_.path() / "missing"}}}, "missing");
    refused({.traces = {written("empty", {})}}, "empty.trace: the trace has no passes");
    TraceShape other = two_layers;
    other.layers[1].experts = 5;
    refused({.traces = {a(), written("wider", {token({0, 1, 4, 5})}, 7, other)}},
            "wider.trace: its layers and experts are not those of");
    other = two_layers;
    other.used = 3;
    refused({.traces = {a()}, .reference = written("more", {token({0, 1, 4, 5})}, 7, other)},
            "more.trace: its layers and experts are not those of");
    const TracePass chunk{
        .tokens = 2, .routed = {2, 2}, .uses = {{0, 2, 1}, {1, 2, 1}, {4, 2, 1}, {5, 2, 1}}};
    refused({.traces = {written("chunk", {chunk})}, .reference = a()},
            "chunk.trace: a pass has 2 tokens, but stores their choices as a single sum");
    refused({.traces = {a()}, .reference = written("chunk", {chunk})}, "chunk.trace: a pass has 2 tokens");
    refused({.traces = {written("old", {token({0, 1, 4, 5}), token({0, 1, 4, 5})}, {})}, .reference = a()},
            "old.trace: the trace does not say which tokens it covers");
    refused({.traces = {a()}, .reference = written("old", {token({0, 1, 4, 5}), token({0, 1, 4, 5})}, {})},
            "old.trace: the trace does not say which tokens it covers");
    refused({.traces = {written("text", {token({0, 1, 4, 5}), token({0, 1, 4, 5})}, 8)}, .reference = a()},
            "text.trace: it covers other tokens than");
    refused({.traces = {written("short", {token({0, 1, 4, 5})})}, .reference = a()},
            "short.trace: it covers other tokens than");
    std::stop_source stop;
    stop.request_stop();
    const auto stopped = routing_report({.traces = {a()}}, stop.get_token());
    QVERIFY(!stopped && stopped.error().kind == ErrorKind::cancelled);
  }
};
FOVEA_TEST(RoutingReportTest)

#include "routing_report_test.moc"
