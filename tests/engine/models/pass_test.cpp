// Several sequences in one pass: what each computes alone, by transformers' logits; who watches learns which
// sequence it sees.
#include <algorithm>
#include <cstring>
#include <map>

#include "tests/support/test.h"

#include "apart_device.h"
#include "divided.h"
#include "golden_logits.h"
#include "runner.h"

using namespace fovea;
using namespace fovea::tests;
using layers::LogitsWanted;

namespace {

constexpr std::int64_t page_size = 5;

// The routers' choices by sequence and layer.
class Routes final : public layers::PassObserver {
 public:
  Routes(Needs needs, std::int64_t used) : needs_(needs), used_(used) {}
  std::map<std::pair<std::size_t, std::int64_t>, std::vector<std::int32_t>> chosen;
  Needs needs() const override { return needs_; }
  bool routed(const Where& where, const float*, const std::int32_t* ids, const float*) override {
    auto& list = chosen[{where.segment, where.layer}];
    list.insert(list.end(), ids, ids + where.tokens * used_);
    return true;
  }

 private:
  Needs needs_;
  std::int64_t used_;
};

// One sequence's share of a pass: the tokens [begin, end) of the case's.
struct Share {
  std::size_t begin, end;
  LogitsWanted logits;
};

std::size_t rows_of(const Share& share) {
  switch (share.logits) {
    case LogitsWanted::none:
      return 0;
    case LogitsWanted::all:
      return share.end - share.begin;
    case LogitsWanted::last:
    case LogitsWanted::top_k:
      break;
  }
  return 1;
}

}  // namespace

class PassTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Three sequences of the same tokens, each further than another: prompts in slices beside an answer. What
  // a sequence gives must be transformers' logits of its own positions, whatever stands beside it.
  void sequencesInOnePassAreThemselves_data() {
    QTest::addColumn<int>("device");
    QTest::addColumn<QString>("model");
    const auto devices = all_devices();
    for (std::size_t d = 0; d < devices.size(); ++d) {
      for (const char* model : {"mellum-tables", "qwen2_moe-0", "llama-1", "window-mistral"})
        QTest::addRow("%s on %s %s", model, devices[d]->name().c_str(), devices[d]->instruction_set().c_str())
            << int(d) << QString(model);
    }
  }
  void sequencesInOnePassAreThemselves() {
    QFETCH(int, device);
    QFETCH(QString, model);
    const kernels::Device& on = *all_devices()[static_cast<std::size_t>(device)];
    const Case& c = case_named(model.toStdString());
    const auto loaded = load(c.model, on);
    FOVEA_VERIFY(loaded);
    const auto count = static_cast<std::int64_t>(c.tokens.size());
    const auto vocabulary = static_cast<std::size_t>(loaded->config().vocabulary);
    const Pages pages[] = {{on, loaded->config(), count, page_size},
                           {on, loaded->config(), count, page_size},
                           {on, loaded->config(), count, page_size}};
    auto forward = layers::Forward::create(
        *loaded, on, {.tokens = 40, .pages = (count + page_size - 1) / page_size, .segments = 3});
    FOVEA_VERIFY(forward);
    const auto stream = on.make_stream({.threads = 2});
    // Passes of up to three sequences; an empty share is none.
    const std::vector<std::array<Share, 3>> passes{
        {{{0, 7, LogitsWanted::none}, {0, 4, LogitsWanted::last}, {0, 1, LogitsWanted::all}}},
        {{{7, 8, LogitsWanted::last}, {4, 5, LogitsWanted::last}, {1, 2, LogitsWanted::last}}},
        {{{8, 9, LogitsWanted::last}, {5, 16, LogitsWanted::none}, {2, 7, LogitsWanted::all}}},
        {{{9, 12, LogitsWanted::all}, {0, 0, LogitsWanted::none}, {7, 19, LogitsWanted::last}}},
        {{{12, 13, LogitsWanted::none}, {16, 19, LogitsWanted::none}, {0, 0, LogitsWanted::none}}}};
    for (const auto& shares : passes) {
      layers::Pass pass{.segments = {}, .context = count};
      std::vector<float> expected;
      for (std::size_t i = 0; i < shares.size(); ++i) {
        const Share& share = shares[i];
        if (share.begin == share.end) continue;
        pass.segments.push_back({.tokens = std::span(c.tokens).subspan(share.begin, share.end - share.begin),
                                 .first = static_cast<std::int64_t>(share.begin),
                                 .pages = pages[i].layers(),
                                 .logits = share.logits});
        const std::size_t rows = rows_of(share);
        const auto wanted = std::span(c.expected).subspan((share.end - rows) * vocabulary, rows * vocabulary);
        expected.insert(expected.end(), wanted.begin(), wanted.end());
      }
      const double difference = largest_difference(forward->run(pass, *stream), expected);
      QVERIFY2(difference <= allowed(c, on), std::to_string(difference).c_str());
      QVERIFY(!forward->top_k());
    }
  }

  // Before a pass goes up what is new in it: its tokens and positions in one copy, lists of pages in one if a
  // page is another one, and the handles of all layers in one if some were published.
  void sendsOnlyWhatChanged() {
    const ApartDevice on(cpu());
    const Case& c = case_named("qwen3_moe-0");
    auto model = load(c.model, on);
    FOVEA_VERIFY(model);
    constexpr std::int64_t context = 8;
    const Pages pages(on, model->config(), context, 4);
    auto forward = layers::Forward::create(*model, on, {.tokens = 2, .pages = 2});
    FOVEA_VERIFY(forward);
    const auto stream = on.make_stream({.threads = 2});
    std::int64_t first = 0;
    std::vector<float> last;
    const auto copies_of_pass = [&](std::uint64_t revision) {
      const std::int64_t before = on.copies();
      const auto row = forward->run(
          {.segments = {{.tokens = std::span(c.tokens).subspan(static_cast<std::size_t>(first), 2),
                         .first = first,
                         .pages = pages.layers(),
                         .pages_revision = revision}},
           .context = context},
          *stream);
      last.assign(row.begin(), row.end());
      return on.copies() - before;
    };
    const auto next_pass = [&](std::uint64_t revision) {
      const std::int64_t copies = copies_of_pass(revision);
      first += 2;
      return copies;
    };
    QCOMPARE(next_pass(7), 4);  // and the rotary table
    QCOMPARE(next_pass(7), 1);
    QCOMPARE(next_pass(7), 2);  // it reaches the second page
    QCOMPARE(copies_of_pass(7), 1);
    QCOMPARE(copies_of_pass(8), 1);  // looked through, and found the same
    QCOMPARE(copies_of_pass(0), 1);
    for (models::LayerWeights& layer : model->handles()) ++layer.revision;
    QVERIFY(model->handles().size() > 1);
    QCOMPARE(copies_of_pass(8), 2);
    const auto vocabulary = static_cast<std::size_t>(model->config().vocabulary);
    const double difference =
        largest_difference(last, std::span(c.expected).subspan(7 * vocabulary, vocabulary));
    QVERIFY2(difference <= allowed(c, on), std::to_string(difference).c_str());
    // The lists themselves have changed, and so has their revision.
    const Pages others(on, model->config(), context, 4);
    const std::int64_t before = on.copies();
    forward->run({.segments = {{.tokens = std::span(c.tokens).first(2),
                                .pages = others.layers(),
                                .pages_revision = 9}},
                  .context = context},
                 *stream);
    QCOMPARE(on.copies() - before, 2);
  }

  // On the host, apart, and beside experts that the host computes; told at once or behind the pass.
  void observersLearnWhichSequenceTheySee_data() {
    QTest::addColumn<int>("device");
    QTest::addColumn<bool>("late");
    const auto devices = all_devices();
    for (std::size_t d = 1; d < devices.size(); ++d) {
      if (d > 1 && devices[d] != &apart() && !is_gpu(*devices[d])) continue;
      for (const bool late : {false, true})
        QTest::addRow("%s %s, %s", devices[d]->name().c_str(), devices[d]->instruction_set().c_str(),
                      late ? "history" : "choices")
            << int(d) << late;
    }
  }
  void observersLearnWhichSequenceTheySee() {
    QFETCH(int, device);
    QFETCH(bool, late);
    const kernels::Device& on = *all_devices()[static_cast<std::size_t>(device)];
    const Case& c = case_named("qwen3_moe-0");
    const auto host_share = [&](const models::Model& model) {
      return on.memory_is_host() ? Shares{} : all_of(model);
    };
    const auto whole = load(c.model, cpu());
    FOVEA_VERIFY(whole);
    const Divided divided = divide(c.model, on, host_share(*whole));
    const models::ModelConfig& config = divided.model.config();
    const auto needs = late ? layers::PassObserver::Needs::history : layers::PassObserver::Needs::choices;
    const std::size_t lengths[] = {6, 3};
    const auto run = [&](bool together) {
      const Pages pages[] = {{on, config, 6, page_size}, {on, config, 6, page_size}};
      auto forward = layers::Forward::create(divided.model, on, {.tokens = 9, .pages = 2, .segments = 2},
                                             on.memory_is_host() ? layers::HostPart{} : divided.part());
      if (!forward) qFatal("%s", forward.error().message().c_str());
      const auto stream = on.make_stream({.threads = 2});
      Routes routes(needs, config.experts_used());
      std::vector<layers::Segment> segments;
      for (std::size_t i = 0; i < 2; ++i)
        segments.push_back(
            {.tokens = std::span(c.tokens).subspan(i, lengths[i]), .pages = pages[i].layers()});
      if (together) {
        forward->run({.segments = segments, .context = 6, .observer = &routes}, *stream);
        return routes.chosen;
      }
      decltype(routes.chosen) all;
      for (std::size_t i = 0; i < 2; ++i) {
        forward->run({.segments = {segments[i]}, .context = 6, .observer = &routes}, *stream);
        for (auto& [where, ids] : std::exchange(routes.chosen, {})) all[{i, where.second}] = ids;
      }
      return all;
    };
    auto together = run(true), alone = run(false);
    QCOMPARE(together.size(), std::size_t{4});
    const auto used = static_cast<std::size_t>(config.experts_used());
    for (auto& [where, ids] : together) {
      // The last layer sees the rows from the first that anybody wants on.
      const bool last = where.second == config.layer_count() - 1;
      QCOMPARE(ids.size(), used * (!last ? lengths[where.first] : where.first == 0 ? 1 : lengths[1]));
      auto& own = alone[where];
      QVERIFY(own.size() <= ids.size());
      QVERIFY(std::equal(own.begin(), own.end(), ids.end() - std::ssize(own)));
    }
  }
};
FOVEA_TEST(PassTest)

#include "pass_test.moc"
