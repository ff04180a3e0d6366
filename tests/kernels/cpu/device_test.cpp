// Dispatch, memory, and that results do not depend on threads or on how many tokens are computed at once.
#include "kernels/cpu/device.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tests/support/test.h"

using namespace fovea::kernels;

class CpuDeviceTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void init() { unsetenv("FOVEA_CPU"); }
  void cleanup() { unsetenv("FOVEA_CPU"); }
  void the_baseline_is_always_there();
  void the_variable_forces_a_set();
  void an_unknown_set_is_refused();
  void memory_is_zero_and_aligned();
  void copies_are_done_when_they_return();
  void one_token_at_a_time_gives_the_same_bits_data();
  void one_token_at_a_time_gives_the_same_bits();
  void a_prompt_divided_otherwise_gives_the_same_attention_data();
  void a_prompt_divided_otherwise_gives_the_same_attention();
};

void CpuDeviceTest::the_baseline_is_always_there() {
  const auto sets = cpu::available_instruction_sets();
  QVERIFY(!sets.empty());
  QVERIFY(sets.front() == "scalar");
  QVERIFY(cpu::default_device() == cpu::device(sets.back()));
}

void CpuDeviceTest::the_variable_forces_a_set() {
  for (const std::string_view set : cpu::available_instruction_sets()) {
    setenv("FOVEA_CPU", std::string(set).c_str(), 1);
    const Device* const device = cpu::default_device();
    QVERIFY(device != nullptr);
    QVERIFY(device->instruction_set() == set);
    QVERIFY(device == cpu::device(set));
  }
}

void CpuDeviceTest::an_unknown_set_is_refused() {
  QVERIFY(cpu::device("avx9") == nullptr);
  QVERIFY(cpu::device("") == nullptr);
  setenv("FOVEA_CPU", "avx9", 1);
  QVERIFY(cpu::default_device() == nullptr);
}

void CpuDeviceTest::memory_is_zero_and_aligned() {
  const Device& device = *cpu::default_device();
  for (const std::int64_t bytes : {1L, 4096L, 100'000L, 5'000'000L}) {
    std::byte* const memory = device.allocate(bytes);
    QVERIFY(memory != nullptr);
    QCOMPARE(reinterpret_cast<std::uintptr_t>(memory) % 4096, std::uintptr_t{0});
    QVERIFY(std::all_of(memory, memory + bytes, [](std::byte byte) { return byte == std::byte{0}; }));
    std::memset(memory, 1, static_cast<std::size_t>(bytes));
    device.release(memory, bytes);
  }
  QVERIFY(device.allocate(std::int64_t{1} << 60) == nullptr);
}

void CpuDeviceTest::copies_are_done_when_they_return() {
  const Device& device = *cpu::default_device();
  QVERIFY(device.memory_is_host());
  constexpr std::int64_t bytes = 10'000;
  std::byte* const host = device.allocate_host(bytes);
  std::byte* const target = device.allocate(bytes);
  QVERIFY(host && target);
  QCOMPARE(reinterpret_cast<std::uintptr_t>(host) % 4096, std::uintptr_t{0});
  for (std::int64_t i = 0; i < bytes; ++i) host[i] = static_cast<std::byte>(i * 7 + i / 256);
  const auto stream = device.make_stream({.threads = 1});
  const auto event = device.make_event();
  QVERIFY(event->done());
  device.copy(target, host, bytes - 1, *stream);
  device.record(*event, *stream);
  QVERIFY(event->done());
  event->wait();
  QVERIFY(std::equal(host, host + bytes - 1, target));
  QVERIFY(target[bytes - 1] == std::byte{0});
  device.release(target, bytes);
  device.release_host(host, bytes);
}

void CpuDeviceTest::one_token_at_a_time_gives_the_same_bits_data() {
  QTest::addColumn<QString>("set");
  QTest::addColumn<int>("type");
  for (const std::string_view set : cpu::available_instruction_sets()) {
    for (const Type type :
         {Type::f32, Type::f16, Type::bf16, Type::q4_0, Type::q4_1, Type::q8_0, Type::q6_k}) {
      QTest::addRow("%s %s", set.data(), type_name(type).data())
          << QString::fromUtf8(set.data(), static_cast<qsizetype>(set.size())) << static_cast<int>(type);
    }
  }
}

// 130 tokens with three threads against one token at a time with one thread.
void CpuDeviceTest::one_token_at_a_time_gives_the_same_bits() {
  QFETCH(QString, set);
  QFETCH(int, type);
  const Device& device = *cpu::device(set.toStdString());
  constexpr std::int64_t tokens = 130;
  constexpr std::int64_t rows = 40;
  constexpr std::int64_t columns = 512;
  std::mt19937 random(fovea::tests::seed());
  std::normal_distribution<float> normal;
  std::vector<float> x(tokens * columns);
  for (float& value : x) value = normal(random);
  // Bytes of 0 … 63 are finite halves and floats.
  std::vector<std::byte> file(static_cast<std::size_t>(rows * row_bytes(static_cast<Type>(type), columns)));
  for (std::byte& byte : file) byte = static_cast<std::byte>(random() % 64);

  Weight weight{file.data(), static_cast<Type>(type), Packing::rows, rows, columns};
  std::vector<float> together(tokens * rows);
  std::vector<float> single(tokens * rows);
  const auto many = device.make_stream({.threads = 3});
  const Projection all[] = {{weight, nullptr, together.data(), rows}};
  device.operations().linear({x.data(), tokens, columns, all}, *many);
  const auto one = device.make_stream({.threads = 1});
  for (std::int64_t t = 0; t < tokens; ++t) {
    const Projection projection[] = {{weight, nullptr, single.data() + t * rows, rows}};
    device.operations().linear({x.data() + t * columns, 1, columns, projection}, *one);
  }
  QVERIFY(std::memcmp(together.data(), single.data(), together.size() * sizeof(float)) == 0);
}

void CpuDeviceTest::a_prompt_divided_otherwise_gives_the_same_attention_data() {
  QTest::addColumn<QString>("set");
  QTest::addColumn<int>("type");
  QTest::addColumn<int>("window");
  for (const std::string_view set : cpu::available_instruction_sets()) {
    for (const Type type : {Type::f32, Type::f16, Type::q8_0}) {
      for (const int window : {0, 100, 300})
        QTest::addRow("%s %s, window %d", set.data(), type_name(type).data(), window)
            << QString::fromUtf8(set.data(), static_cast<qsizetype>(set.size())) << static_cast<int>(type)
            << window;
    }
  }
}

// 700 tokens in one pass with three threads, and in passes of other lengths with one. Tokens that are alone
// may be summed otherwise.
void CpuDeviceTest::a_prompt_divided_otherwise_gives_the_same_attention() {
  QFETCH(QString, set);
  QFETCH(int, type);
  QFETCH(int, window);
  const Device& device = *cpu::device(set.toStdString());
  constexpr std::int64_t tokens = 700, heads = 6, kv_heads = 2, dim = 64, page_tokens = 48;
  std::mt19937 random(fovea::tests::seed());
  std::normal_distribution<float> normal;
  std::vector<float> q(tokens * heads * dim);
  for (float& value : q) value = 3 * normal(random);
  constexpr std::int64_t pages = (tokens + page_tokens - 1) / page_tokens;
  const auto page_bytes =
      static_cast<std::size_t>(row_bytes(static_cast<Type>(type), kv_heads * page_tokens * dim));
  std::vector<std::byte> cache(2 * pages * page_bytes);
  // Floats of ±0.5 … 2, halves likewise, and 8-bit integers with such scales.
  for (std::size_t i = 0; i < cache.size(); ++i) cache[i] = static_cast<std::byte>(random());
  const std::size_t unit = static_cast<Type>(type) == Type::f32   ? 4
                           : static_cast<Type>(type) == Type::f16 ? 2
                                                                  : 34;
  const std::size_t top = unit == 34 ? 1 : unit - 1;
  for (std::size_t i = top; i < cache.size(); i += unit)
    cache[i] = static_cast<std::byte>(unit == 34 ? 0x20 : random() % 2 * 0x80 + (unit == 4 ? 0x3F : 0x38));
  std::vector<std::byte*> keys, values;
  for (std::int64_t i = 0; i < pages; ++i) {
    keys.push_back(cache.data() + static_cast<std::size_t>(2 * i) * page_bytes);
    values.push_back(cache.data() + static_cast<std::size_t>(2 * i + 1) * page_bytes);
  }
  const auto attend = [&](std::int64_t first, std::int64_t count, std::vector<float>& out, Stream& stream) {
    device.operations().attention({.q = q.data() + first * heads * dim,
                                   .q_stride = heads * dim,
                                   .first = first,
                                   .tokens = count,
                                   .heads = heads,
                                   .scale = 0.125F,
                                   .window = window,
                                   .pages = {.keys = keys.data(),
                                             .values = values.data(),
                                             .page_tokens = page_tokens,
                                             .type = static_cast<Type>(type),
                                             .kv_heads = kv_heads,
                                             .head_dim = dim},
                                   .out = out.data() + first * heads * dim},
                                  stream);
  };
  std::vector<float> together(tokens * heads * dim), divided(together.size());
  const auto many = device.make_stream({.threads = 3});
  attend(0, tokens, together, *many);
  const auto one = device.make_stream({.threads = 1});
  for (const std::int64_t most : {1, 5, 33, 128, 300}) {
    std::ranges::fill(divided, 0.0F);
    for (std::int64_t done = 0; done < tokens;) {
      const std::int64_t count = std::min(1 + static_cast<std::int64_t>(random()) % most, tokens - done);
      attend(done, count, divided, *one);
      done += count;
    }
    for (std::size_t i = 0; i < together.size(); ++i) QVERIFY(std::isfinite(together[i]));
    QVERIFY2(std::memcmp(together.data(), divided.data(), together.size() * sizeof(float)) == 0,
             qPrintable(QString("up to %1").arg(most)));
  }
}

FOVEA_TEST(CpuDeviceTest)
#include "device_test.moc"
