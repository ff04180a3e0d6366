#include "engine/eval/synthetic_trace.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "tests/support/test.h"

using namespace fovea::eval;
using fovea::ErrorKind;
using fovea::synthetic_like;
using fovea::SyntheticRouting;
using fovea::precision::ExpertUse;

namespace {

std::unique_ptr<PassSource> make(const SyntheticRouting& settings) {
  auto source = make_synthetic(settings);
  if (!source) qFatal("%s", source.error().message().c_str());
  return *std::move(source);
}

SyntheticRouting like(const std::string& model) {
  auto settings = synthetic_like(model);
  if (!settings) qFatal("%s", settings.error().message().c_str());
  return *settings;
}

// Uses by tokens of every expert, [layers · experts], for each `window` tokens.
std::vector<std::vector<float>> counts(PassSource& source, std::int64_t window) {
  std::vector<std::vector<float>> windows;
  TracePass pass;
  for (std::int64_t token = 0; source.next(pass).value_or(false); token += pass.tokens) {
    if (token % window == 0) windows.emplace_back(static_cast<std::size_t>(source.shape().units()));
    for (const ExpertUse& use : pass.uses)
      windows.back()[static_cast<std::size_t>(use.unit)] += static_cast<float>(use.tokens);
  }
  return windows;
}

std::vector<std::int32_t> hottest(std::span<const float> layer, std::int64_t count) {
  std::vector<std::int32_t> order(layer.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::partial_sort(order, order.begin() + count, [&](std::int32_t a, std::int32_t b) {
    return layer[static_cast<std::size_t>(a)] > layer[static_cast<std::size_t>(b)];
  });
  order.resize(static_cast<std::size_t>(count));
  std::ranges::sort(order);
  return order;
}

// Mean over the layers of the share of the 16 hottest that two windows have in common.
double overlap(const SyntheticRouting& s, const std::vector<float>& a, const std::vector<float>& b) {
  double common = 0;
  for (std::int64_t layer = 0; layer < s.layers; ++layer) {
    const auto at = static_cast<std::size_t>(layer * s.experts), size = static_cast<std::size_t>(s.experts);
    const auto hot_a = hottest(std::span(a).subspan(at, size), 16),
               hot_b = hottest(std::span(b).subspan(at, size), 16);
    std::vector<std::int32_t> both;
    std::ranges::set_intersection(hot_a, hot_b, std::back_inserter(both));
    common += static_cast<double>(both.size()) / 16;
  }
  return common / static_cast<double>(s.layers);
}

double touched(const std::vector<float>& window) {
  return static_cast<double>(std::ranges::count_if(window, [](float x) { return x > 0; })) /
         static_cast<double>(window.size());
}

// Mean over the layers of the normalised entropy of the load: 1 when all experts get the same.
double entropy(const SyntheticRouting& s, const std::vector<float>& window) {
  double sum = 0;
  for (std::int64_t layer = 0; layer < s.layers; ++layer) {
    const auto load = std::span(window).subspan(static_cast<std::size_t>(layer * s.experts),
                                                static_cast<std::size_t>(s.experts));
    const double all = std::reduce(load.begin(), load.end(), 0.0);
    for (const float each : load) {
      const double share = static_cast<double>(each) / all;
      if (share > 0) sum -= share * std::log(share) / std::log(s.experts);
    }
  }
  return sum / static_cast<double>(s.layers);
}

QByteArray text(double value) {
  return QByteArray::number(value, 'f', 4);
}

}  // namespace

class SyntheticTraceTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Published of Qwen3-30B-A3B: the 16 hottest experts overlap by 12 % (prose and mathematics), 11 % (prose
  // and code), 47 % (mathematics and code); 2,048 tokens of prefill touch 81 % of all experts.
  void hasThePublishedSkewOfQwen3() {
    SyntheticRouting s = like("qwen3-30b-a3b");
    s.tokens = 3 * 2048;
    s.phases = 3;
    const auto windows = counts(*make(s), 2048);
    QCOMPARE(std::ssize(windows), 3);
    const double prose_maths = overlap(s, windows[0], windows[1]),
                 prose_code = overlap(s, windows[0], windows[2]),
                 maths_code = overlap(s, windows[1], windows[2]);
    QVERIFY2(std::abs(prose_maths - 0.12) < 0.04, text(prose_maths));
    QVERIFY2(std::abs(prose_code - 0.11) < 0.04, text(prose_code));
    QVERIFY2(std::abs(maths_code - 0.47) < 0.04, text(maths_code));
    for (const auto& window : windows)
      QVERIFY2(std::abs(touched(window) - 0.81) < 0.03, text(touched(window)));
  }

  // Published of 512-expert models: close to uniform in the long run, with strong locality in time.
  void hasTheLocalityOf512Experts() {
    SyntheticRouting s = like("qwen3-next-80b-a3b");
    s.layers = 4;
    s.tokens = 40'000;
    const auto windows = counts(*make(s), 500);
    std::vector<float> all(windows[0].size());
    for (const auto& window : windows) std::ranges::transform(all, window, all.begin(), std::plus<>());
    QVERIFY2(entropy(s, all) > 0.97, text(entropy(s, all)));
    QVERIFY2(entropy(s, windows[3]) < 0.92, text(entropy(s, windows[3])));
    const double near = overlap(s, windows[40], windows[41]), far = overlap(s, windows[5], windows[70]);
    QVERIFY2(near > 0.3, text(near));
    QVERIFY2(far < 0.12, text(far));
  }

  void theSkewIsTheOneAskedFor() {
    SyntheticRouting s{.layers = 2, .experts = 64, .used = 1, .tokens = 60'000, .kinds = 1, .phases = 1};
    const auto share_of_first = [&] {
      const auto window = counts(*make(s), s.tokens).front();
      return static_cast<double>(*std::ranges::max_element(std::span(window).first(64))) / 60'000;
    };
    s.skew = SyntheticRouting::Skew::uniform;
    QVERIFY2(std::abs(share_of_first() - 1.0 / 64) < 0.003, text(share_of_first()));
    s.skew = SyntheticRouting::Skew::zipf;
    s.skew_strength = 1.2;  // 1 / Σ r^−1.2 of 64 ranks
    QVERIFY2(std::abs(share_of_first() - 0.2924) < 0.01, text(share_of_first()));
    s.skew = SyntheticRouting::Skew::exponential;
    s.skew_strength = 6.4;  // (1 − e^−0.1) / (1 − e^−6.4)
    QVERIFY2(std::abs(share_of_first() - 0.0953) < 0.006, text(share_of_first()));
  }

  void repeatsAsOftenAsAsked() {
    SyntheticRouting s{.layers = 1,
                       .experts = 128,
                       .used = 4,
                       .skew = SyntheticRouting::Skew::uniform,
                       .tokens = 20'000,
                       .kinds = 1,
                       .phases = 1,
                       .repeat = 0.5};
    const auto source = make(s);
    TracePass pass;
    std::set<std::int32_t> before;
    double again = 0;
    while (source->next(pass).value_or(false)) {
      std::set<std::int32_t> now;
      for (const ExpertUse& use : pass.uses) now.insert(use.unit), again += before.contains(use.unit) ? 1 : 0;
      before = now;
    }
    again /= 4 * 20'000;  // 0.5, and 3 or 4 of 128 by chance
    QVERIFY2(std::abs(again - 0.515) < 0.01, text(again));
  }

  void everyPassIsWhole() {
    SyntheticRouting s{.layers = 3,
                       .experts = 20,
                       .used = 5,
                       .tokens = 1000,
                       .kinds = 2,
                       .phases = 3,
                       .prompt = 100,
                       .chunk = 32};
    const auto source = make(s);
    TracePass pass;
    std::int64_t tokens = 0, prefill = 0;
    while (source->next(pass).value_or(false)) {
      tokens += pass.tokens;
      prefill += pass.prefill ? pass.tokens : 0;
      QVERIFY(pass.tokens == 1 || pass.prefill);
      QVERIFY(pass.tokens <= 32);
      for (int layer = 0; layer < 3; ++layer) {
        std::int64_t uses = 0;
        double gates = 0;
        for (const ExpertUse& use : pass.uses) {
          if (use.unit / 20 != layer) continue;
          QVERIFY(use.tokens <= pass.tokens);
          uses += use.tokens;
          gates += double(use.gate_sum);
        }
        QCOMPARE(uses, 5 * pass.tokens);
        QVERIFY(std::abs(gates - double(pass.tokens)) < 1e-3);
      }
      QVERIFY(std::ranges::is_sorted(pass.uses, std::less<>(), &ExpertUse::unit));
    }
    QCOMPARE(tokens, 1000);
    QCOMPARE(prefill, 300);
  }

  void theSeedDecides() {
    SyntheticRouting s{.layers = 2, .experts = 32, .used = 4, .tokens = 500};
    const auto first = make(s), again = make(s);
    const auto wanted = counts(*first, 500);
    QCOMPARE(counts(*again, 500), wanted);
    first->rewind();
    QCOMPARE(counts(*first, 500), wanted);
    s.seed = 2;
    QVERIFY(counts(*make(s), 500) != wanted);
  }

  void extremeSkewsEnd() {
    SyntheticRouting s{.layers = 2, .experts = 32, .used = 32, .skew_strength = 50, .tokens = 50};
    const auto window = counts(*make(s), 50).front();
    QVERIFY(std::ranges::all_of(window, [](float x) { return x == 50; }));
  }

  void wrongSettingsAreTypedErrors_data() {
    QTest::addColumn<int>("which");
    for (int which = 0; which < 11; ++which) QTest::addRow("%d", which) << which;
  }
  void wrongSettingsAreTypedErrors() {
    QFETCH(int, which);
    SyntheticRouting s;
    FOVEA_VERIFY(make_synthetic(s));
    if (which == 0) s.layers = 0;
    if (which == 1) s.experts = 5000;
    if (which == 2) s.used = 129;
    if (which == 3) s.skew_strength = std::nan("");
    if (which == 4) s.tokens = 0;
    if (which == 5) s.phases = 0;
    if (which == 6) s.kinds = 0;
    if (which == 7) s.overlap = {0.1, 0.1};
    if (which == 8) s.overlap = {1.5};
    if (which == 9) s.repeat = 1;
    if (which == 10) s.chunk = 0;
    QCOMPARE(make_synthetic(s).error().kind, ErrorKind::invalid);
    QCOMPARE(synthetic_like("gpt").error().kind, ErrorKind::invalid);
  }
};
FOVEA_TEST(SyntheticTraceTest)

#include "synthetic_trace_test.moc"
