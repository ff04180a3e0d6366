// Passes in which the device asks the processor, on a GPU's kernels: the bits of the same passes done piece
// by piece, while experts change under them; questions only where there are some; stopped in their middle,
// unanswered; and what a driver would refuse or do wrongly without a word is planted and must be found.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>

#include "tests/kernels/ptx/device.h"
#include "tests/support/test.h"

#include "apart_device.h"
#include "divided.h"
#include "golden_logits.h"
#include "meddled.h"
#include "runner.h"

using namespace fovea;
using namespace fovea::tests;

namespace {

constexpr std::int64_t page_tokens = 1;  // so that graphs reach to positions 3, 7 and 15
constexpr std::size_t tokens = 10;

// What the processor has of each layer.
Shares half_of_the_experts(const models::Model& model) {
  Shares shares = all_of(model);
  for (models::HostShare& share : shares)
    std::fill_n(share.experts.begin(), std::ssize(share.experts) / 2, false);
  return shares;
}
Shares the_second_layer(const models::Model& model) {
  Shares shares = all_of(model);
  shares.front() = {};
  return shares;
}

struct Division {
  const char* name;
  const char* model;
  Shares (*shares)(const models::Model&);
};
constexpr Division divisions[] = {
    {"half of the experts", "experts", half_of_the_experts},
    {"all experts", "experts", all_of},
    {"the second layer's experts", "experts", the_second_layer},
    {"all but the shared expert", "qwen2_moe-1", all_of},
    {"a dense model's feed-forward", "qwen3-0", all_of},
    {"that of its second layer", "qwen3-0", the_second_layer},
};

class History final : public layers::PassObserver {
 public:
  explicit History(std::int64_t used) : used_(used) {}
  std::vector<std::int32_t> ids;  // all of each layer and pass
  Needs needs() const override { return Needs::history; }
  bool routed(const Where& where, const float*, const std::int32_t* chosen, const float*) override {
    ids.insert(ids.end(), chosen, chosen + where.tokens * used_);
    return true;
  }

 private:
  std::int64_t used_;
};

using Handles = std::vector<models::LayerWeights>;
struct Run {
  bool captures = true;
  bool observed = false;
  std::size_t at_once = 1;  // tokens of a pass
  layers::LogitsWanted wanted = layers::LogitsWanted::last;
  std::function<void(std::size_t position, Handles&)> change = {};  // before each pass
  unsigned order = 0;  // of what the device does when: another one for each
  // With a device that may be told to go wrong; before each pass.
  std::size_t unpinned = ~std::size_t{0};
  std::function<void(std::size_t position, Meddled&)> meddle = {};
};
struct Decoded {
  std::vector<float> logits;  // [tokens, vocabulary], fewer where a pass stopped
  layers::GraphUse graphs;
  std::vector<std::int32_t> ids;   // of each layer and pass, where observed
  std::vector<std::int64_t> late;  // layers whose answers came too late
  int computed = 0;                // feed-forward layers by the processor
  std::size_t reads = 0;           // copies to the host in the first pass …
  std::size_t unwritten = 0;       // … and their words that nobody had written
  std::string errors, failure;
};

Decoded decode(const Division& division, const Run& run) {
  const Case& c = case_named(division.model);
  Decoded result;
  const auto gpu = ptx::device({.seed = seed() + run.order,
                                .captures = run.captures,
                                .on_error = [&](const std::string& text) { result.errors += text + "\n"; }});
  Meddled device(*gpu);
  const auto whole = load(c.model, cpu());
  if (!whole || whole->layers().size() != 2) qFatal("%s has other layers than two", division.model);
  Divided divided = divide(c.model, device, division.shares(*whole));
  const Pages pages(device, divided.model.config(), tokens, page_tokens);
  const auto stream = device.make_stream({});
  device.host_memory.clear();
  device.device_memory.clear();
  device.reads.clear();
  device.unpinned = run.unpinned;
  auto forward =
      layers::Forward::create(divided.model, device, {.tokens = tokens, .pages = tokens}, divided.part());
  if (!forward) qFatal("%s", forward.error().message().c_str());
  History history(divided.model.config().experts_used());
  const Watch watch([&] { ++result.computed; });
  for (std::size_t position = 0; position < tokens && !forward->stopped(); position += run.at_once) {
    if (run.change) run.change(position, divided.model.handles());
    if (run.meddle) run.meddle(position, device);
    const auto row = forward->run({.segments = {{.tokens = std::span(c.tokens).subspan(position, run.at_once),
                                                 .first = static_cast<std::int64_t>(position),
                                                 .pages = pages.layers(),
                                                 .logits = run.wanted}},
                                   .context = tokens,
                                   .observer = run.observed ? &history : nullptr},
                                  *stream);
    if (position == 0) {
      result.reads = device.reads.size();
      for (const Meddled::Read& read : device.reads) result.unwritten += fresh_words(read);
    }
    result.logits.insert(result.logits.end(), row.begin(), row.end());
    if (const auto late = forward->take_late()) result.late.push_back(*late);
  }
  result.graphs = forward->graphs();
  result.ids = history.ids;
  result.failure = stream->failure().said;
  return result;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return !a.empty() && a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// The device's experts change places, others in each pass.
void swap_experts(std::size_t position, Handles& handles) {
  for (models::LayerWeights& layer : handles) {
    std::vector<std::size_t> own;
    for (std::size_t e = 0; e < layer.experts.size(); ++e)
      if (layer.experts[e].gate) own.push_back(e);
    if (own.size() < 2) continue;
    std::swap(layer.experts[own[position % own.size()]], layer.experts[own[(position + 1) % own.size()]]);
    ++layer.revision;
  }
}

void change_a_dense_layer(std::size_t position, Handles& handles) {
  if (position == 3 || position == 6) std::swap(handles[0].attention.output, handles[1].attention.output);
}

bool has(const std::string& text, const std::string& part) {
  if (text.contains(part)) return true;
  qWarning("not in the report: %s\nthe report: %s", part.c_str(), text.c_str());
  return false;
}

// --- a pass with a question ---

// out = 3 (in + y) + y, of which the host doubles.
class Asking {
 public:
  static constexpr std::int64_t count = 8, bytes = 4 * count;

  Asking() {
    const std::vector<float> ones(static_cast<std::size_t>(count), 1.0F);
    const std::vector<std::uint32_t> zeros(2);
    device_->copy(y_, reinterpret_cast<const std::byte*>(ones.data()), bytes, *stream_);
    device_->copy(round_, reinterpret_cast<const std::byte*>(zeros.data()), 8, *stream_);
    stream_->synchronize();
    std::fill_n(words_, 3, 0U);
  }
  ~Asking() {
    stream_->synchronize();
    for (std::byte* memory : {x_, y_}) device_->release(memory, bytes);
    device_->release(round_, 8);
    for (std::byte* memory : {in_, there_, back_}) device_->release_host(memory, bytes);
    device_->release_host(reinterpret_cast<std::byte*>(words_), 12);
  }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

  bool is_beside = true;            // the host
  bool answers = true;              // it does
  const float* added = nullptr;     // what goes up at the end, in place of y
  std::function<bool()> last = {};  // what it does at the end of its part
  std::stop_token stop;
  std::string errors;
  layers::Graphs graphs;
  layers::Graphs::Ran ran;
  std::uint32_t late() { return std::exchange(words_[2], 0U); }  // told once

  float result(float in) {
    std::fill_n(reinterpret_cast<float*>(in_), count, in);
    ran = graphs.run({.parts = {{}}}, {}, *stream_, stop, [this] { return work(); });
    std::vector<float> out(static_cast<std::size_t>(count));
    device_->read_back(reinterpret_cast<std::byte*>(out.data()), x_, bytes, *stream_);
    stream_->synchronize();
    return std::ranges::count(out, out.front()) == count ? out.front() : -1;
  }

 private:
  void add(const std::byte* y) {
    device_->operations().add(
        {.x = reinterpret_cast<float*>(x_), .y = reinterpret_cast<const float*>(y), .count = count},
        *stream_);
  }
  bool answer(bool wanted) {
    device_->record(*event_, *stream_);
    while (wanted && std::atomic_ref(words_[0]).load() != 2 * (rounds_ + 1) + 1) {
      if (event_->done()) return false;
    }
    ++rounds_;
    const auto* const there = reinterpret_cast<const float*>(there_);
    for (std::int64_t i = 0; i < count; ++i) reinterpret_cast<float*>(back_)[i] = 2 * there[i];
    if (answers) std::atomic_ref(words_[1]).store(rounds_);
    return !wanted || !last || last();
  }
  bool work() {
    device_->copy(x_, in_, bytes, *stream_);
    add(y_);
    auto* const x = reinterpret_cast<float*>(x_);
    auto* const round = reinterpret_cast<kernels::HostRound*>(round_);
    const kernels::OperationTable& operations = device_->operations();
    operations.ask_host({.x = x,
                         .tokens = 1,
                         .d = count,
                         .always = true,
                         .round = round,
                         .host_x = reinterpret_cast<float*>(there_),
                         .asked = words_},
                        *stream_);
    operations.add_answer({.round = round,
                           .host_out = reinterpret_cast<const float*>(back_),
                           .answered = words_ + 1,
                           .late = words_ + 2,
                           .name = 7,
                           .out = x,
                           .tokens = 1,
                           .d = count},
                          *stream_);
    if (added) {
      device_->copy(y_, reinterpret_cast<const std::byte*>(added), bytes, *stream_);
    }
    add(y_);
    const auto host = [this](bool wanted) { return answer(wanted); };
    return is_beside ? graphs.beside(host) : host(true);
  }

  std::unique_ptr<kernels::Device> device_ =
      ptx::device({.seed = seed(), .on_error = [this](const std::string& text) { errors += text + "\n"; }});
  std::unique_ptr<kernels::Stream> stream_ = device_->make_stream({});
  std::unique_ptr<kernels::Event> event_ = device_->make_event();
  std::byte* x_ = device_->allocate(bytes);
  std::byte* y_ = device_->allocate(bytes);
  std::byte* round_ = device_->allocate(8);
  std::byte* in_ = device_->allocate_host(bytes);
  std::byte* there_ = device_->allocate_host(bytes);
  std::byte* back_ = device_->allocate_host(bytes);
  std::uint32_t* words_ =
      reinterpret_cast<std::uint32_t*>(device_->allocate_host(12));  // asked, answered, late
  std::uint32_t rounds_ = 0;
};

}  // namespace

class QuestionsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void graphsGiveTheBitsOfTheirPieces_data() {
    QTest::addColumn<int>("index");
    for (std::size_t i = 0; i < std::size(divisions); ++i) QTest::newRow(divisions[i].name) << int(i);
  }
  void graphsGiveTheBitsOfTheirPieces() {
    FOVEA_NEEDS_PTX;
    QFETCH(int, index);
    const Division& division = divisions[index];
    const Decoded pieces = decode(division, {.captures = false}), graphs = decode(division, {});
    QVERIFY(same_bits(pieces.logits, graphs.logits));
    QCOMPARE(pieces.graphs.captured, 0);
    QCOMPARE(graphs.graphs.captured, 3);
    // All passes but the first of each reach.
    QCOMPARE(graphs.graphs.launched, static_cast<std::int64_t>(tokens) - 3);
    QCOMPARE(pieces.errors + graphs.errors, std::string());

    // Observers are told what was chosen, the host computes the same.
    const Decoded seen = decode(division, {.observed = true});
    QVERIFY(same_bits(pieces.logits, seen.logits));
    QCOMPARE(seen.ids, decode(division, {.captures = false, .observed = true}).ids);
    QCOMPARE(seen.ids.empty(), std::string_view(division.model) == "qwen3-0");
    QCOMPARE(seen.ids.size() % (2 * tokens), 0U);

    // Weights that graphs have inside change: they are made anew.
    const Decoded changed = decode(division, {.change = change_a_dense_layer});
    QVERIFY(same_bits(decode(division, {.captures = false, .change = change_a_dense_layer}).logits,
                      changed.logits));
    QVERIFY(!same_bits(changed.logits, graphs.logits));
    QCOMPARE(changed.graphs.captured, 4);
    QCOMPARE(changed.errors, std::string());
  }

  // The processor computes where a token chose one of its experts, and nowhere else.
  void onlyMissesAreAsked() {
    FOVEA_NEEDS_PTX;
    const Division& division = divisions[0];
    const Decoded decoded = decode(division, {.observed = true});
    const Case& c = case_named(division.model);
    const auto whole = load(c.model, cpu());
    FOVEA_VERIFY(whole);
    const auto used = static_cast<std::size_t>(whole->config().experts_used());
    const auto experts = static_cast<std::int32_t>(whole->config().experts());
    int misses = 0;
    for (std::size_t at = 0; at < decoded.ids.size(); at += used) {
      const std::span<const std::int32_t> chosen(decoded.ids.data() + at, used);
      misses += std::ranges::any_of(chosen, [&](std::int32_t id) { return id >= experts / 2; }) ? 1 : 0;
    }
    QVERIFY(misses > 0 && misses < static_cast<int>(2 * tokens));
    QCOMPARE(decoded.computed, misses);
    QCOMPARE(decode(divisions[1], {}).computed, static_cast<int>(2 * tokens));
  }

  // Prompts cross by copies; the sums are added in the same order.
  void promptsCross() {
    FOVEA_NEEDS_PTX;
    for (const Division& division : divisions) {
      const Decoded one_by_one = decode(division, {}), at_once = decode(division, {.at_once = tokens});
      const std::size_t vocabulary = at_once.logits.size();
      const std::span<const float> last(one_by_one.logits.end() - static_cast<std::ptrdiff_t>(vocabulary),
                                        one_by_one.logits.end());
      // A prompt's tiles round quantised experts' inputs otherwise.
      QVERIFY(largest_difference(at_once.logits, last) < 0.05);
      QCOMPARE(at_once.errors, std::string());
    }
  }

  void graphsFollowTheExperts() {
    FOVEA_NEEDS_PTX;
    const Division& division = divisions[0];
    const Decoded swapped = decode(division, {.change = swap_experts});
    QVERIFY(same_bits(decode(division, {.captures = false, .change = swap_experts}).logits, swapped.logits));
    QVERIFY(!same_bits(decode(division, {}).logits, swapped.logits));
    QCOMPARE(swapped.graphs.captured, 3);
    QCOMPARE(swapped.errors, std::string());
  }

  // None of a layer: of all layers what observers want to know; the logits.
  void fewCopiesComeBack_data() {
    QTest::addColumn<int>("index");
    QTest::addColumn<std::size_t>("unobserved");
    QTest::addColumn<std::size_t>("observed");
    QTest::newRow(divisions[0].name) << 0 << std::size_t{1} << std::size_t{2};
    QTest::newRow(divisions[2].name) << 2 << std::size_t{1} << std::size_t{2};
    QTest::newRow(divisions[4].name) << 4 << std::size_t{1} << std::size_t{1};
  }
  void fewCopiesComeBack() {
    FOVEA_NEEDS_PTX;
    QFETCH(int, index);
    QFETCH(std::size_t, unobserved);
    QFETCH(std::size_t, observed);
    QCOMPARE(decode(divisions[index], {.captures = false}).reads, unobserved);
    QCOMPARE(decode(divisions[index], {.captures = false, .observed = true}).reads, observed);
  }

  // A copy passes over no gaps, of which NVIDIA's checker of initialised memory would complain.
  void whatIsReadBackWasWritten_data() { graphsGiveTheBitsOfTheirPieces_data(); }
  void whatIsReadBackWasWritten() {
    FOVEA_NEEDS_PTX;
    QFETCH(int, index);
    const Decoded decoded =
        decode(divisions[index], {.observed = true, .wanted = layers::LogitsWanted::top_k});
    QCOMPARE(decoded.unwritten, 0U);
    QVERIFY(decoded.graphs.launched > 0);
  }

  void deviceMemoryThatIsFreedIsReported() {
    FOVEA_NEEDS_PTX;
    const auto frees = [](std::size_t position, Meddled& device) {
      if (position == 3) device.lose_device_memory(0);
    };
    const Decoded decoded = decode(divisions[0], {.meddle = frees});
    QVERIFY(has(decoded.errors, "was captured with device memory"));
    QVERIFY(has(decoded.failure, "that has been released since"));
  }

  // Reported, and decoding goes on without graphs.
  void hostMemoryThatIsNotPinnedIsReported() {
    FOVEA_NEEDS_PTX;
    const Decoded decoded = decode(divisions[0], {.observed = true, .unpinned = 0});
    QVERIFY(has(decoded.errors, "copies host memory that is not pinned"));
    QCOMPARE(decoded.graphs.captured, 0);
    QCOMPARE(decoded.graphs.launched, 0);
    QVERIFY(same_bits(decode(divisions[0], {}).logits, decoded.logits));
  }

  // Of a prompt, a host that does not wait computes with what was there before, in some order at least.
  void aHostThatDoesNotWaitIsFound() {
    FOVEA_NEEDS_PTX;
    const auto goes_deaf = [](std::size_t, Meddled& device) { device.deaf = true; };
    const std::vector<float> wanted = decode(divisions[4], {.at_once = tokens}).logits;
    bool found = false;
    for (unsigned order = 0; order < 10 && !found; ++order) {
      const Decoded decoded = decode(divisions[4], {.at_once = tokens, .order = order, .meddle = goes_deaf});
      QCOMPARE(decoded.errors, std::string());
      found = !same_bits(wanted, decoded.logits);
    }
    QVERIFY(found);
  }

  // The device goes on without the answer, says of which layer, and the next pass is whole again.
  void anAnswerThatIsLateIsTold() {
    FOVEA_NEEDS_PTX;
    const auto goes_mute = [](std::size_t position, Meddled& device) { device.mute = position == 5; };
    const Decoded pieces = decode(divisions[2], {.captures = false, .meddle = goes_mute});
    QCOMPARE(pieces.late, std::vector<std::int64_t>{1});
    // A pass that is captured so, and the two that its graph does.
    const Decoded graphs = decode(divisions[2], {.meddle = goes_mute});
    QCOMPARE(graphs.late, (std::vector<std::int64_t>{1, 1, 1}));
    QCOMPARE(pieces.errors + graphs.errors, std::string());
    const auto vocabulary = static_cast<std::ptrdiff_t>(pieces.logits.size() / tokens);
    const Decoded heard = decode(divisions[2], {.captures = false});
    QVERIFY(std::equal(heard.logits.begin(), heard.logits.begin() + 5 * vocabulary, pieces.logits.begin()));
    QVERIFY(!std::equal(heard.logits.begin() + 5 * vocabulary, heard.logits.begin() + 6 * vocabulary,
                        pieces.logits.begin() + 5 * vocabulary));
  }

  // Wherever the host is asked to stop: by pieces, when a pass has been captured, beside a graph. The device
  // gets the answers that it waits for, which nobody has computed. The token can be computed again.
  void aPassStopsWhereTheHostTakesPart_data() {
    QTest::addColumn<int>("pass");
    QTest::newRow("by pieces") << 0;
    QTest::newRow("captured") << 1;
    QTest::newRow("by a graph") << 2;
  }
  void aPassStopsWhereTheHostTakesPart() {
    FOVEA_NEEDS_PTX;
    QFETCH(int, pass);
    const Case& c = case_named("experts");
    const auto device = ptx::device({.seed = seed()});
    const auto whole = load(c.model, cpu());
    FOVEA_VERIFY(whole);
    const Divided divided = divide(c.model, *device, half_of_the_experts(*whole));
    const Pages pages(*device, divided.model.config(), 4, page_tokens);
    const auto stream = device->make_stream({});
    auto forward = layers::Forward::create(divided.model, *device, {.tokens = 1, .pages = 4}, divided.part());
    FOVEA_VERIFY(forward);
    const auto run = [&](int position, const std::stop_token& stop) {
      const auto row =
          forward->run({.segments = {{.tokens = std::span(c.tokens).subspan(std::size_t(position), 1),
                                      .first = position,
                                      .pages = pages.layers()}},
                        .context = tokens,
                        .stop = stop},
                       *stream);
      return std::vector<float>(row.begin(), row.end());
    };
    std::vector<float> logits;
    for (int position = 0; position < 4; ++position) {
      if (position == pass) {
        std::stop_source source;
        int calls = 0;
        const Watch watch([&] {
          ++calls;
          source.request_stop();
        });
        QVERIFY(run(position, source.get_token()).empty());
        QVERIFY(forward->stopped());
        QCOMPARE(calls, 1);
      }
      const auto row = run(position, {});
      QVERIFY(!forward->stopped());
      logits.insert(logits.end(), row.begin(), row.end());
    }
    QCOMPARE(forward->graphs().captured, 1);
    std::vector<float> wanted = decode(divisions[0], {.captures = false}).logits;
    wanted.resize(logits.size());
    QVERIFY(same_bits(logits, wanted));
  }

  void theHostIsBesideEachPass() {
    FOVEA_NEEDS_PTX;
    Asking pass;
    int calls = 0;
    pass.last = [&] { return ++calls > 0; };
    for (const float in : {1.0F, 5.0F, 7.0F, 3.0F}) QCOMPARE(pass.result(in), 3 * (in + 1) + 1);
    QCOMPARE(calls, 4);
    QCOMPARE(pass.graphs.use().captured, 1);
    QCOMPARE(pass.graphs.use().launched, 3);
    QVERIFY(pass.ran.by_graph && pass.ran.whole);
    QCOMPARE(pass.errors + std::to_string(pass.late()), std::string("0"));
  }

  // Planted: the host waits within a capture. The pass is done by pieces, from its beginning.
  void aHostThatIsNotBesideIsReported() {
    FOVEA_NEEDS_PTX;
    Asking pass;
    pass.is_beside = false;
    for (const float in : {1.0F, 5.0F}) pass.result(in);
    QVERIFY(has(pass.errors, "while a stream captures, its thread records an event"));
    QCOMPARE(pass.graphs.use().captured, 0);
    QVERIFY(!pass.ran.by_graph);
  }

  // Planted: what was captured is done again, by pieces, and asked once.
  void aCaptureThatFailsIsDoneAgainByPieces() {
    FOVEA_NEEDS_PTX;
    Asking pass;
    const std::vector<float> unpinned(static_cast<std::size_t>(Asking::count), 20);
    pass.added = unpinned.data();
    int calls = 0;
    pass.last = [&] { return ++calls > 0; };
    QCOMPARE(pass.result(1), 26.0F);
    for (const float in : {5.0F, 7.0F}) QCOMPARE(pass.result(in), 3 * (in + 20) + 20);
    QCOMPARE(calls, 3);
    QVERIFY(has(pass.errors, "copies host memory that is not pinned"));
    QCOMPARE(pass.graphs.use().captured, 0);
  }

  void theHostEndsAPass() {
    FOVEA_NEEDS_PTX;
    Asking pass;
    bool goes_on = true;
    pass.last = [&] { return goes_on; };
    // By pieces, captured, by a graph.
    for (const bool ends : {true, true, false, true, false}) {
      goes_on = !ends;
      QCOMPARE(pass.result(4), 16.0F);  // the device has had its answer
      QCOMPARE(pass.ran.whole, !ends);
    }
    QCOMPARE(pass.graphs.use().captured, 1);
    std::stop_source source;
    source.request_stop();
    pass.stop = source.get_token();
    pass.result(2);
    QVERIFY(pass.ran.by_graph && !pass.ran.whole);
    QCOMPARE(pass.errors + std::to_string(pass.late()), std::string("0"));
  }

  // The device waits a second and no longer: by pieces, captured, by a graph.
  void aHostThatDoesNotAnswerIsLate() {
    FOVEA_NEEDS_PTX;
    Asking pass;
    for (int i = 0; i < 3; ++i) {
      pass.answers = false;
      QCOMPARE(pass.result(4), 5.0F + 1.0F);  // without the answer
      QCOMPARE(pass.late(), 7U);
    }
    pass.answers = true;
    QCOMPARE(pass.result(4), 16.0F);
    QCOMPARE(pass.errors, std::string());
  }
};
FOVEA_TEST(QuestionsTest)

#include "questions_test.moc"
