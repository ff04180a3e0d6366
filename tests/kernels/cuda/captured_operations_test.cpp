// Captured operations: launched again and again they give the bits of the same work done piece by piece,
// while values change behind the addresses that they name. What a driver would refuse, or do wrongly without
// a word, is planted in tests/kernels/ptx/capture_test.cpp.
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cases/weights.h"
#include "tests/kernels/ptx/device.h"
#include "tests/support/test.h"

using namespace fovea::kernels;
using namespace fovea::kernels::cases;
using namespace fovea::tests;

namespace {

// With which nothing may be wrong.
const Device& quiet_device() {
  static const std::unique_ptr<Device> device = ptx::device({.seed = seed()});
  return *device;
}

std::unique_ptr<Graph> captured(Stream& stream, const std::function<void(Stream&)>& work) {
  if (!stream.begin_capture()) qFatal("the stream captures nothing");
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

}  // namespace

class CapturedOperationsTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void what_the_host_gave_is_frozen();
  void operations_repeat_bit_for_bit_data();
  void operations_repeat_bit_for_bit();
  void a_graph_follows_positions_and_pages_data();
  void a_graph_follows_positions_and_pages();
  void a_graph_follows_the_experts();
};

// A launch sees what device memory and pinned memory hold now, and arguments as they were.
void CapturedOperationsTest::what_the_host_gave_is_frozen() {
  const Device& device = quiet_device();
  const auto stream = device.make_stream({});
  std::byte* const x = device.allocate(8);
  std::byte* const y = device.allocate(8);
  std::byte* const pinned = device.allocate_host(16);
  auto* const source = reinterpret_cast<float*>(pinned);
  Add op{.x = reinterpret_cast<float*>(x), .y = reinterpret_cast<const float*>(y), .count = 1};
  source[0] = source[1] = 7;
  device.copy(x, pinned, 8, *stream);
  stream->synchronize();
  const auto graph = captured(*stream, [&](Stream& s) {
    device.copy(y, pinned, 8, s);
    device.operations().add(op, s);
    device.read_back(pinned + 8, x, 8, s);
  });
  op.count = 2;
  stream->synchronize();
  QCOMPARE(source[1], 7.0F);
  for (const float value : {7.0F, 20.0F}) {
    source[0] = value;
    stream->launch(*graph);
    stream->synchronize();
    QCOMPARE(source[2], value == 7 ? 14.0F : 34.0F);
    QCOMPARE(source[3], 7.0F);
  }
  QCOMPARE(stream->failure().said, std::string());
  device.release(x, 8);
  device.release(y, 8);
  device.release_host(pinned, 16);
}

// Some of every operation's cases, which the seed chooses.
void CapturedOperationsTest::operations_repeat_bit_for_bit_data() {
  QTest::addColumn<int>("index");
  constexpr std::size_t step = 12;
  const Cases cases = sweep_cases(seed());
  for (std::size_t i = seed() % step; i < cases.size(); i += step)
    QTest::addRow("%s", cases[i]->name.c_str()) << static_cast<int>(i);
}
void CapturedOperationsTest::operations_repeat_bit_for_bit() {
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

void CapturedOperationsTest::a_graph_follows_positions_and_pages_data() {
  QTest::addColumn<int>("window");
  QTest::newRow("all") << 0;
  QTest::newRow("window") << 50;
}
// One token after the other into pages that come as they are needed; one graph for all positions.
void CapturedOperationsTest::a_graph_follows_positions_and_pages() {
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
void CapturedOperationsTest::a_graph_follows_the_experts() {
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

FOVEA_TEST(CapturedOperationsTest)
#include "captured_operations_test.moc"
