// Captured work on the emulated device: launched again and again it gives the bits of the same work done
// piece by piece, while values change behind the addresses that it names; and what a driver would refuse, or
// do wrongly without a word, is planted and must be reported.
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cases/weights.h"
#include "kernels/cuda/platform.h"
#include "tests/kernels/cuda/emulation/device.h"
#include "tests/kernels/cuda/emulation/sanitizer.h"
#include "tests/support/test.h"

using namespace fovea::kernels;
using namespace fovea::kernels::cases;
using namespace fovea::kernels::cuda;
using namespace fovea::tests;

namespace {

constexpr unsigned threads = 64;

FOVEA_KERNEL(threads) add_scaled_kernel(int* x, const int* y, int scale) {
  x[thread_index()] += scale * *y;
}

// A device with an array of `threads` zeros, one value in its memory and one in pinned memory.
struct Bench {
  Bench()
      : device(emulation::emulated_device(
            {.seed = seed(),
             .scratch_bytes = min_scratch_bytes,
             .on_error = [this](const std::string& text) { error += text + "\n"; }})),
        stream(device->make_stream({})),
        x(device->allocate(bytes)),
        y(device->allocate(4)),
        pinned(device->allocate_host(bytes)) {
    set(x, std::vector<int>(threads, 0));
    set(y, {5});
  }
  ~Bench() {
    stream.reset();
    device->release(x, bytes);
    device->release(y, 4);
    device->release_host(pinned, bytes);
  }

  void set(std::byte* target, const std::vector<int>& values) {
    device->copy(target, reinterpret_cast<const std::byte*>(values.data()),
                 static_cast<std::int64_t>(4 * values.size()), *stream);
    stream->synchronize();
  }
  std::vector<int> values() {
    std::vector<int> result(threads);
    device->read_back(reinterpret_cast<std::byte*>(result.data()), x, bytes, *stream);
    stream->synchronize();
    return result;
  }
  void add(int scale) {
    cuda::launch<add_scaled_kernel>({.threads = threads}, on_cuda(*stream), reinterpret_cast<int*>(x),
                                    reinterpret_cast<const int*>(y), scale);
  }
  std::unique_ptr<Graph> capture(const std::function<void()>& work) {
    if (!stream->begin_capture()) return nullptr;
    work();
    return stream->end_capture(why);
  }
  void launch(const Graph& graph) {
    stream->launch(graph);
    stream->synchronize();
  }

  static constexpr std::int64_t bytes = 4 * threads;
  std::string error, why;
  std::unique_ptr<Device> device;
  std::unique_ptr<Stream> stream;
  std::byte* x;
  std::byte* y;
  std::byte* pinned;
};

bool has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return true;
  qWarning("not in the report: %s\nthe report: %s", part.c_str(), text.c_str());
  return false;
}

// The emulated device, which must find nothing wrong.
const Device& quiet_device() {
  static const std::unique_ptr<Device> device =
      emulation::emulated_device({.seed = seed(), .scratch_bytes = min_scratch_bytes});
  return *device;
}

std::unique_ptr<Graph> captured(Stream& stream, const std::function<void(Stream&)>& work) {
  if (!stream.begin_capture()) qFatal("the emulated stream captures nothing");
  work(stream);
  std::string why;
  auto graph = stream.end_capture(why);
  if (!graph) qFatal("%s", why.c_str());
  return graph;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

template <typename T>
void overwrite(const T* target, const std::vector<T>& values, Stream& stream) {
  quiet_device().copy(reinterpret_cast<std::byte*>(const_cast<T*>(target)),
                      reinterpret_cast<const std::byte*>(values.data()),
                      static_cast<std::int64_t>(values.size() * sizeof(T)), stream);
  stream.synchronize();
}

using Act = std::function<void(Bench&)>;

}  // namespace
Q_DECLARE_METATYPE(Act)

class CaptureTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void work_waits_for_its_launch();
  void what_the_host_gave_is_frozen();
  void a_stream_may_capture_nothing();
  void what_spoils_a_capture_is_reported_data();
  void what_spoils_a_capture_is_reported();
  void released_memory_is_reported_data();
  void released_memory_is_reported();
  void a_graph_outlives_its_work();
  void graphs_belong_to_their_stream();
  void operations_repeat_bit_for_bit_data();
  void operations_repeat_bit_for_bit();
  void a_graph_follows_positions_and_pages_data();
  void a_graph_follows_positions_and_pages();
  void a_graph_follows_the_experts();
};

void CaptureTest::work_waits_for_its_launch() {
  Bench bench;
  const auto graph = bench.capture([&] {
    bench.add(1);
    bench.add(10);
  });
  QVERIFY(graph != nullptr);
  QCOMPARE(bench.values(), std::vector<int>(threads, 0));
  bench.launch(*graph);
  QCOMPARE(bench.values(), std::vector<int>(threads, 55));
  bench.add(100);
  bench.launch(*graph);
  bench.launch(*graph);
  QCOMPARE(bench.values(), std::vector<int>(threads, 555 + 110));
  QCOMPARE(bench.error, std::string());
}

// A launch sees what device memory and pinned memory hold now, and arguments as they were.
void CaptureTest::what_the_host_gave_is_frozen() {
  Bench bench;
  int scale = 2;
  auto* const source = reinterpret_cast<int*>(bench.pinned);
  auto* const result = source + 1;
  source[0] = 7;
  const auto graph = bench.capture([&] {
    bench.device->copy(bench.y, bench.pinned, 4, *bench.stream);
    bench.add(scale);
    bench.device->read_back(reinterpret_cast<std::byte*>(result), bench.x, 4, *bench.stream);
  });
  QVERIFY(graph != nullptr);
  scale = 1000;
  bench.launch(*graph);
  QCOMPARE(*result, 14);
  source[0] = 20;
  bench.launch(*graph);
  QCOMPARE(*result, 54);
  QCOMPARE(bench.error, std::string());
}

void CaptureTest::a_stream_may_capture_nothing() {
  const auto device = emulation::emulated_device({.captures = false});
  const auto stream = device->make_stream({});
  QVERIFY(!stream->begin_capture());
}

void CaptureTest::what_spoils_a_capture_is_reported_data() {
  QTest::addColumn<Act>("act");
  QTest::addColumn<QString>("words");
  const auto row = [](const char* name, const char* words, Act act) {
    QTest::newRow(name) << std::move(act) << QString(words);
  };
  row("synchronize", "waits for a stream", [](Bench& b) { b.stream->synchronize(); });
  row("another stream", "waits for a stream", [](Bench& b) {
    const auto other = b.device->make_stream({.background = true});
    other->synchronize();
  });
  row("allocate", "allocates memory", [](Bench& b) {
    if (b.device->allocate(64)) qFatal("memory in a capture");
  });
  row("allocate_host", "allocates pinned memory", [](Bench& b) {
    if (b.device->allocate_host(64)) qFatal("memory in a capture");
  });
  row("pin", "pins memory", [](Bench& b) {
    static std::byte memory[64];
    if (b.device->pin(memory, 64)) qFatal("memory in a capture");
  });
  row("unpin", "releases pinned memory", [](Bench& b) {
    static std::byte memory[64];
    b.device->unpin(memory);
  });
  row("release", "releases memory", [](Bench& b) { b.device->release(b.y, 4), b.y = nullptr; });
  row("release_host", "releases pinned memory",
      [](Bench& b) { b.device->release_host(b.pinned, Bench::bytes), b.pinned = nullptr; });
  row("copy", "copies host memory that is not pinned", [](Bench& b) {
    static const int value = 1;
    b.device->copy(b.y, reinterpret_cast<const std::byte*>(&value), 4, *b.stream);
  });
  row("copy past the end", "copies host memory that is not pinned",
      [](Bench& b) { b.device->copy(b.x, b.pinned + 4, Bench::bytes, *b.stream); });
  row("read_back", "copies host memory that is not pinned", [](Bench& b) {
    static int value;
    b.device->read_back(reinterpret_cast<std::byte*>(&value), b.y, 4, *b.stream);
  });
  row("record", "records an event", [](Bench& b) {
    const auto event = b.device->make_event();
    b.device->record(*event, *b.stream);
  });
  row("ask", "asks an event", [](Bench& b) { (void)b.device->make_event()->done(); });
  row("wait", "waits for an event", [](Bench& b) { b.device->make_event()->wait(); });
  row("begin", "begins another capture", [](Bench& b) { (void)b.stream->begin_capture(); });
}
void CaptureTest::what_spoils_a_capture_is_reported() {
  QFETCH(Act, act);
  QFETCH(QString, words);
  Bench bench;
  const auto graph = bench.capture([&] {
    bench.add(1);
    act(bench);
    bench.add(1);
  });
  QVERIFY(graph == nullptr);
  QVERIFY(has(bench.error, "while a stream captures, its thread " + words.toStdString()));
  QVERIFY(has(bench.why, words.toStdString()));
  // Nothing of it was done, and the stream goes on.
  bench.error.clear();
  QCOMPARE(bench.values(), std::vector<int>(threads, 0));
  if (bench.y) {
    bench.add(1);
    QCOMPARE(bench.values(), std::vector<int>(threads, 5));
  }
  QCOMPARE(bench.error, std::string());
}

void CaptureTest::released_memory_is_reported_data() {
  QTest::addColumn<bool>("pinned");
  QTest::addColumn<bool>("replaced");
  QTest::newRow("device") << false << false;
  QTest::newRow("device, given out again") << false << true;
  QTest::newRow("pinned") << true << false;
  QTest::newRow("pinned, given out again") << true << true;
}
void CaptureTest::released_memory_is_reported() {
  QFETCH(bool, pinned);
  QFETCH(bool, replaced);
  Bench bench;
  const auto graph = bench.capture([&] {
    if (pinned) bench.device->copy(bench.x, bench.pinned, 4, *bench.stream);
    if (!pinned) bench.add(1);
  });
  QVERIFY(graph != nullptr);
  bench.launch(*graph);
  QCOMPARE(bench.error, std::string());
  if (pinned) {
    bench.device->release_host(std::exchange(bench.pinned, nullptr), Bench::bytes);
    if (replaced) bench.pinned = bench.device->allocate_host(Bench::bytes);
  } else {
    bench.device->release(std::exchange(bench.y, nullptr), 4);
    if (replaced) bench.y = bench.device->allocate(4);
  }
  bench.launch(*graph);
  QVERIFY(has(bench.error, pinned ? "a copy was captured with pinned memory"
                                  : "kernel add_scaled_kernel was captured with device memory"));
  QVERIFY(has(bench.error, "that has been released since"));
  QVERIFY(has(bench.stream->failure().said, "released since"));
}

// Segments of a pass are launched while earlier ones wait to be done.
void CaptureTest::a_graph_outlives_its_work() {
  Bench bench;
  auto graph = bench.capture([&] {
    for (int i = 0; i < 32; ++i) bench.add(1);
  });
  QVERIFY(graph != nullptr);
  bench.launch(*graph);
  bench.stream->launch(*graph);
  graph.reset();
  bench.stream->synchronize();
  QVERIFY(has(bench.error, "was launched with a graph that has been released before it was done"));
}

void CaptureTest::graphs_belong_to_their_stream() {
  Bench bench;
  const auto graph = bench.capture([&] { bench.add(1); });
  const auto other = bench.device->make_stream({});
  other->launch(*graph);
  QVERIFY(has(bench.error, "a graph is launched in a stream that has not captured it"));
  bench.error.clear();
  std::string why;
  QVERIFY(other->end_capture(why) == nullptr);
  QVERIFY(has(bench.error, "a capture ends that has not begun"));
  const auto nested = bench.capture([&] { bench.stream->launch(*graph); });
  QVERIFY(nested == nullptr);
  QVERIFY(has(bench.why, "launches a graph"));
}

// Some of every operation's cases, which the seed chooses.
void CaptureTest::operations_repeat_bit_for_bit_data() {
  QTest::addColumn<int>("index");
  const std::size_t step = cuda::emulation::address_sanitizer ? 60 : 12;
  const Cases cases = sweep_cases(seed());
  for (std::size_t i = seed() % step; i < cases.size(); i += step)
    QTest::addRow("%s", cases[i]->name.c_str()) << static_cast<int>(i);
}
void CaptureTest::operations_repeat_bit_for_bit() {
  static const Cases cases = sweep_cases(seed());
  QFETCH(int, index);
  const Case& one = *cases[static_cast<std::size_t>(index)];
  Memory memory(quiet_device(), true);
  const auto run = one.build(memory);
  const auto stream = quiet_device().make_stream({});
  memory.reset();
  run(*stream);
  stream->synchronize();
  const std::vector<float> piece_by_piece = memory.outputs();
  memory.reset();
  const auto graph = captured(*stream, run);
  for (int i = 0; i < 2; ++i) {
    memory.reset();
    stream->launch(*graph);
    stream->synchronize();
    QVERIFY(same_bits(memory.outputs(), piece_by_piece));
    QCOMPARE(memory.damage(), std::string());
  }
}

void CaptureTest::a_graph_follows_positions_and_pages_data() {
  QTest::addColumn<int>("window");
  QTest::newRow("all") << 0;
  QTest::newRow("window") << 50;
}
// One token after the other into pages that come as they are needed; one graph for all positions.
void CaptureTest::a_graph_follows_positions_and_pages() {
  QFETCH(int, window);
  constexpr std::int64_t page_tokens = 16, kv_heads = 2, head_dim = 32, heads = 6, positions = 150;
  constexpr std::int64_t pages = (positions + page_tokens - 1) / page_tokens;
  const std::vector<std::byte> unwritten(kv_heads * page_tokens * head_dim * 2, std::byte{poison_byte});
  std::vector<float> all[2];
  for (const bool with_graph : {false, true}) {
    Random random(seed());
    Memory memory(quiet_device(), false);
    std::vector<std::byte*> keys(pages), values(pages);  // null: not there yet
    const KvPages list{memory.table(keys), memory.table(values), page_tokens, Type::f16, kv_heads, head_dim};
    const auto* position = memory.input<std::int32_t>({0});
    const float* frequency = memory.input(normals(random, head_dim / 2));
    float* k = memory.used_up(normals(random, kv_heads * head_dim));
    const float* q = memory.input(normals(random, heads * head_dim));
    auto* out = memory.output<float>(heads * head_dim);
    const auto stream = quiet_device().make_stream({});
    const auto pass = [&](Stream& s) {
      const OperationTable& op = quiet_device().operations();
      op.attention_inputs({.k = k,
                           .v = k,
                           .tokens = 1,
                           .positions = position,
                           .rotary = head_dim,
                           .inverse_frequency = frequency,
                           .pages = list},
                          s);
      op.attention({.q = q,
                    .first = positions,
                    .tokens = 1,
                    .heads = heads,
                    .scale = 0.3F,
                    .window = window,
                    .pages = list,
                    .out = out,
                    .position = position},
                   s);
    };
    std::unique_ptr<Graph> graph;
    if (with_graph) graph = captured(*stream, pass);
    for (std::int32_t p = 0; p < positions; p += p < 40 ? 1 : 11) {
      for (std::size_t page = 0; page <= static_cast<std::size_t>(p / page_tokens); ++page) {
        if (keys[page]) continue;
        keys[page] = memory.page(Type::f16, kv_heads * page_tokens * head_dim, &unwritten);
        values[page] = memory.page(Type::f16, kv_heads * page_tokens * head_dim, &unwritten);
        // Some positions are left out below: what is not stored is zero.
        const std::vector<std::byte> zeros(unwritten.size());
        overwrite(keys[page], zeros, *stream);
        overwrite(values[page], zeros, *stream);
      }
      overwrite(list.keys, keys, *stream);
      overwrite(list.values, values, *stream);
      overwrite(position, {p}, *stream);
      overwrite(k, normals(random, kv_heads * head_dim), *stream);
      overwrite(q, normals(random, heads * head_dim), *stream);
      if (graph) {
        stream->launch(*graph);
      } else {
        pass(*stream);
      }
      stream->synchronize();
      const auto outputs = memory.outputs();
      all[with_graph ? 1 : 0].insert(all[with_graph ? 1 : 0].end(), outputs.begin(),
                                     outputs.begin() + heads * head_dim);
    }
  }
  QVERIFY(all[0].size() > 20 * heads * head_dim);
  QVERIFY(same_bits(all[0], all[1]));
}

// Experts change tier between two launches: other addresses, types and packings behind the same table.
void CaptureTest::a_graph_follows_the_experts() {
  constexpr std::int64_t d = 64, width = 96, experts = 5, used = 2, tokens = 2;
  constexpr Type tiers[] = {Type::q8_0, Type::q4_f, Type::q4_e, Type::q2_f,
                            Type::bf16, Type::q3_f, Type::q5_1};
  Random random(seed());
  Memory memory(quiet_device(), true);
  const auto expert_of = [&](Type type) {
    return Expert{memory.weight(random_weight(random, type, width, d)),
                  memory.weight(random_weight(random, type, width, d)),
                  memory.weight(random_weight(random, type, d, width))};
  };
  std::vector<Expert> handles;
  for (std::int64_t i = 0; i < experts; ++i) handles.push_back(expert_of(Type::q8_0));
  FeedForward layer{.tokens = tokens, .d = d, .experts = {}, .used = used};
  layer.x = memory.input(normals(random, tokens * d));
  layer.table = memory.table(handles);
  layer.ids = memory.input<std::int32_t>({0, 3, 4, 3});
  layer.weights = memory.input<float>({0.5F, 0.25F, 0.75F, 1});
  layer.out = memory.output<float>(tokens * d);
  const auto stream = quiet_device().make_stream({});
  const auto pass = [&](Stream& s) {
    // The host's handles are for the shape alone: they may go when the call returns.
    const std::vector<Expert> shape(handles);
    FeedForward op = layer;
    op.experts = shape;
    quiet_device().operations().feed_forward(op, s);
  };
  const auto graph = captured(*stream, pass);
  std::vector<float> before;
  for (const Type tier : tiers) {
    for (const std::size_t changed : {0U, 3U}) handles[changed] = expert_of(tier);
    overwrite(layer.table, handles, *stream);
    stream->launch(*graph);
    stream->synchronize();
    const std::vector<float> launched = memory.outputs();
    pass(*stream);
    stream->synchronize();
    QVERIFY(same_bits(memory.outputs(), launched));
    QVERIFY(!same_bits(launched, before));
    before = launched;
  }
}

FOVEA_TEST(CaptureTest)
#include "capture_test.moc"
