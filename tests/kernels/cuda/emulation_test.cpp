// What the emulation computes, and that it catches what it is there to catch: each mistake is planted in a
// small kernel and must be reported with the names of kernel, thread and array.
#include <cmath>
#include <cstring>
#include <set>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "kernels/cuda/platform.h"
#include "tests/kernels/cuda/emulation/device.h"
#include "tests/kernels/cuda/emulation/sanitizer.h"
#include "tests/support/test.h"

using namespace fovea::kernels;
using namespace fovea::kernels::cuda;
using fovea::kernels::cuda::emulation::emulated_device;

namespace {

struct alignas(16) int4_values {
  int v[4];
};

constexpr unsigned many = 96;  // threads of a block: three warps

// --- kernels without a mistake ---

FOVEA_KERNEL(many) sum_kernel(const int* x, int* out) {
  FOVEA_SHARED(int, sums, many / 32);
  const unsigned t = thread_index();
  int sum = x[block_x() * many + t];
  for (unsigned lanes = 16; lanes > 0; lanes /= 2) sum += shuffle_xor(sum, lanes);
  if (t % 32 == 0) sums[t / 32] = sum;
  sync_block();
  if (t == 0) {
    int all = 0;
    for (unsigned w = 0; w < many / 32; ++w) all += sums[w];
    out[block_x()] = all;
  }
}

FOVEA_KERNEL(many) warp_kernel(int* out) {
  const int t = static_cast<int>(thread_index());
  out[t] = shuffle(t * 10, static_cast<unsigned>(t + 1));
  out[many + t] = static_cast<int>(ballot(t % 3 == 0));
}

FOVEA_KERNEL(many) copy_kernel(const int* x, int* out) {
  FOVEA_DYNAMIC_SHARED(int, tile, 0, many * 4);
  const int t = static_cast<int>(thread_index());
  tile.copy_async(4 * t, x + 4 * t, t % 5 != 0);
  commit_copies();
  wait_for_copies<0>();
  const int4_values own = tile.load<int4_values>(4 * t);
  sync_block();
  const int mate = tile[(4 * t + 17) % (4 * static_cast<int>(many))];
  out[t] = own.v[0] + own.v[3] + mate;
}

FOVEA_KERNEL(many) count_kernel(int* counter, int* out) {
  FOVEA_SHARED(int, inside, 1);
  if (thread_index() == 0) inside[0] = 0;
  sync_block();
  atomic_add(inside[0], 2);
  atomic_add(counter, 1);
  sync_block();
  if (thread_index() == 0) out[block_x()] = inside[0];
}

FOVEA_KERNEL(many) waits_kernel(int* x) {
  wait_for_earlier();
  x[thread_index()] += 2;
}

// --- kernels with one mistake each ---

FOVEA_KERNEL(many) reads_before_it_waits(int* x) {
  const int value = x[thread_index()];
  wait_for_earlier();
  x[thread_index()] = value + 2;
}
FOVEA_KERNEL(many) waits_too_late(int* x) {
  FOVEA_SHARED(int, row, many);
  row[thread_index()] = 2;
  sync_block();
  wait_for_earlier();
  x[thread_index()] += row[0];
}
FOVEA_KERNEL(many) waits_in_part(int* x) {
  if (thread_index() == 7) return;
  wait_for_earlier();
  x[thread_index()] += 2;
}

FOVEA_KERNEL(many) writes_past_its_array(int* x, int count) {
  if (thread_index() == 7) x[count] = 1;
}
FOVEA_KERNEL(many) writes_far_past_its_array(int* x) {
  if (thread_index() == 7) x[5000] = 1;
}
FOVEA_KERNEL(many) reads_host_memory(int*, const int* host) {
  if (thread_index() == 7) *const_cast<volatile int*>(host);
}
FOVEA_KERNEL(many) writes_past_shared(int* x) {
  FOVEA_SHARED(int, row, 16);
  if (thread_index() < 17) row[thread_index()] = 1;
  x[0] = 0;
}
FOVEA_KERNEL(many) reads_unwritten_shared(int* x) {
  FOVEA_SHARED(int, row, many + 1);
  row[thread_index()] = 1;
  sync_block();
  x[thread_index()] = row[thread_index() + 1];
}
FOVEA_KERNEL(many) lacks_barrier_before_read(int* x) {
  FOVEA_SHARED(int, row, many);
  const unsigned t = thread_index();
  row[t] = 1;
  x[t] = row[(t + 40) % many];
}
FOVEA_KERNEL(many) lacks_barrier_before_write(int* x) {
  FOVEA_SHARED(int, row, many);
  const unsigned t = thread_index();
  row[t] = 1;
  sync_block();
  x[t] = row[(t + 40) % many];
  row[t] = 2;
}
FOVEA_KERNEL(many) lacks_warp_barrier(int* x) {
  FOVEA_SHARED(int, row, many);
  const unsigned t = thread_index();
  row[t] = 1;
  x[t] = row[t ^ 1];
}
FOVEA_KERNEL(many) has_warp_barrier(int* x) {
  FOVEA_SHARED(int, row, many);
  const unsigned t = thread_index();
  row[t] = 1;
  sync_warp();
  x[t] = row[t ^ 1];
}
FOVEA_KERNEL(many) writes_twice(int* x) {
  FOVEA_SHARED(int, row, many);
  row[thread_index() / 2] = 1;
  x[0] = 0;
}
FOVEA_KERNEL(many) some_miss_the_barrier(int* x) {
  if (thread_index() < 5) sync_block();
  x[thread_index()] = 0;
}
FOVEA_KERNEL(many) wait_at_two_barriers(int* x) {
  if (thread_index() < 5) {
    sync_block();
  } else {
    sync_block();
  }
  x[thread_index()] = 0;
}
FOVEA_KERNEL(many) shuffles_with_the_ended(int* x) {
  if (thread_index() == 9) return;
  x[thread_index()] = shuffle_xor(1, 1);
}
FOVEA_KERNEL(many) shuffles_outside_its_mask(int* x) {
  x[thread_index()] = shuffle_xor(1, 1, 0xFFFF);
}
FOVEA_KERNEL(many) shuffles_while_others_wait(int* x) {
  if (thread_index() % 32 == 3) {
    sync_block();
  } else {
    x[0] = shuffle_xor(1, 1);
    sync_block();
  }
}
FOVEA_KERNEL(many) reads_before_its_copy_landed(const int* source, int* x) {
  FOVEA_SHARED(int, tile, 4 * many);
  const int t = static_cast<int>(thread_index());
  tile.copy_async(4 * t, source);
  commit_copies();
  x[t] = tile[4 * t];
  wait_for_copies<0>();
}
FOVEA_KERNEL(many) loads_unaligned(int* x) {
  FOVEA_SHARED(int, tile, 4 * many);
  const int t = static_cast<int>(thread_index());
  for (int i = 0; i < 4; ++i) tile[4 * t + i] = 1;
  if (t == 0) x[0] = tile.load<int4_values>(1).v[0];
}
FOVEA_KERNEL(many) depends_on_order(int* x) {
  x[0] = static_cast<int>(static_cast<unsigned>(x[0]) * 3U + thread_index());
}

// A device, a stream, an array of ints on it, and what was reported.
struct Bench {
  explicit Bench(std::uint64_t seed = fovea::tests::seed())
      : device(emulated_device({.seed = seed,
                                .scratch_bytes = min_scratch_bytes,
                                .on_error = [this](const std::string& text) { error = text; }})),
        stream(device->make_stream({})),
        x(reinterpret_cast<int*>(device->allocate(bytes))) {}
  ~Bench() {
    stream.reset();
    device->release(reinterpret_cast<std::byte*>(x), bytes);
  }

  std::vector<int> result(std::size_t count) {
    std::vector<int> values(count);
    device->read_back(reinterpret_cast<std::byte*>(values.data()), reinterpret_cast<std::byte*>(x),
                      static_cast<std::int64_t>(count * sizeof(int)), *stream);
    stream->synchronize();
    return values;
  }
  void set(const std::vector<int>& values) {
    device->copy(reinterpret_cast<std::byte*>(x), reinterpret_cast<const std::byte*>(values.data()),
                 static_cast<std::int64_t>(values.size() * sizeof(int)), *stream);
    stream->synchronize();
  }
  template <auto kernel, typename... Arguments>
  void run(Arguments... arguments) {
    launch<kernel>({.threads = many, .shared_bytes = 16 * many}, on_cuda(*stream), arguments...);
    stream->synchronize();
  }

  static constexpr std::int64_t count = 1000;
  static constexpr std::int64_t bytes = count * 4;
  std::string error;
  std::unique_ptr<Device> device;
  std::unique_ptr<Stream> stream;
  int* x;
};

// What a process that does this says on stderr before it ends abnormally; empty when it ends well.
template <typename Act>
std::string last_words(const Act& act) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    act();
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? std::string() : "ended: " + text;
}

bool has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return true;
  qWarning("not in the report: %s\nthe report: %s", part.c_str(), text.c_str());
  return false;
}

}  // namespace

class EmulationTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void computes_sums_across_threads();
  void exchanges_within_a_warp();
  void copies_asynchronously();
  void adds_atomically();
  void multiplies_and_permutes_bytes();
  void fresh_memory_is_not_a_number();
  void memory_that_is_not_there_is_refused();

  void an_overrun_is_caught();
  void a_far_access_is_caught();
  void host_memory_is_not_the_devices();
  void shared_memory_is_watched();
  void barriers_are_watched();
  void warps_are_watched();
  void launches_are_checked();
  void launches_that_overlap_are_watched();
  void the_host_may_not_touch_device_memory();
  void the_order_of_threads_varies();
  void streams_run_late();
  void a_failed_stream_says_so();
};

void EmulationTest::computes_sums_across_threads() {
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    Bench bench(seed);
    std::vector<int> values;
    for (int i = 0; i < 5 * static_cast<int>(many); ++i) values.push_back(i * i);
    bench.set(values);
    launch<sum_kernel>({.grid_x = 5, .threads = many}, on_cuda(*bench.stream), bench.x, bench.x + 600);
    const std::vector<int> result = bench.result(605);
    QVERIFY2(bench.error.empty(), bench.error.c_str());
    for (std::size_t block = 0; block < 5; ++block) {
      int expected = 0;
      for (std::size_t i = 0; i < many; ++i) expected += values[block * many + i];
      QCOMPARE(result[600 + block], expected);
    }
  }
}

void EmulationTest::exchanges_within_a_warp() {
  Bench bench;
  bench.run<warp_kernel>(bench.x);
  QVERIFY2(bench.error.empty(), bench.error.c_str());
  const std::vector<int> result = bench.result(2 * many);
  for (int t = 0; t < static_cast<int>(many); ++t) {
    const int first = t / 32 * 32;
    QCOMPARE(result[static_cast<std::size_t>(t)], 10 * (first + (t + 1) % 32));
    unsigned votes = 0;
    for (int lane = 0; lane < 32; ++lane) votes |= (first + lane) % 3 == 0 ? 1U << lane : 0U;
    QCOMPARE(static_cast<unsigned>(result[many + static_cast<std::size_t>(t)]), votes);
  }
}

void EmulationTest::copies_asynchronously() {
  Bench bench;
  std::vector<int> values;
  for (int i = 0; i < 4 * static_cast<int>(many); ++i) values.push_back(i * 7);
  bench.set(values);
  bench.run<copy_kernel>(bench.x, bench.x + 500);
  QVERIFY2(bench.error.empty(), bench.error.c_str());
  const std::vector<int> result = bench.result(500 + many);
  const auto value = [&](int i) {
    i %= 4 * static_cast<int>(many);
    return i / 4 % 5 != 0 ? 7 * i : 0;
  };
  for (int t = 0; t < static_cast<int>(many); ++t)
    QCOMPARE(result[500 + static_cast<std::size_t>(t)], value(4 * t) + value(4 * t + 3) + value(4 * t + 17));
}

void EmulationTest::adds_atomically() {
  Bench bench;
  bench.set(std::vector<int>(10, 0));
  launch<count_kernel>({.grid_x = 3, .threads = many}, on_cuda(*bench.stream), bench.x, bench.x + 1);
  QCOMPARE(bench.result(4), (std::vector<int>{3 * many, 2 * many, 2 * many, 2 * many}));
  QVERIFY2(bench.error.empty(), bench.error.c_str());
}

void EmulationTest::multiplies_and_permutes_bytes() {
  QCOMPARE(dot4(0x01FF7F80, 0x02037F80, 5), 1 * 2 + -1 * 3 + 127 * 127 + 128 * 128 + 5);
  QCOMPARE(permute_bytes(0x33221100U, 0x77665544U, 0x7046U), 0x77004466U);
}

void EmulationTest::fresh_memory_is_not_a_number() {
  Bench bench;
  float value;
  const int bits = bench.result(Bench::count).back();
  std::memcpy(&value, &bits, 4);
  QVERIFY(std::isnan(value));
}

void EmulationTest::memory_that_is_not_there_is_refused() {
  const auto device = emulated_device({.memory_bytes = 1 << 20});
  QVERIFY(device->allocate(2 << 20) == nullptr);
  std::byte* const half = device->allocate(600 << 10);
  QVERIFY(half != nullptr);
  QVERIFY(device->allocate(600 << 10) == nullptr);
  QCOMPARE(device->facts().memory_free_bytes, std::int64_t{424} << 10);
  device->release(half, 600 << 10);
  QCOMPARE(device->facts().memory_free_bytes, std::int64_t{1} << 20);
}

void EmulationTest::an_overrun_is_caught() {
  if (emulation::address_sanitizer) {
    const std::string words = last_words([] {
      Bench bench;
      bench.run<writes_past_its_array>(bench.x, static_cast<int>(Bench::count));
    });
    QVERIFY(has(words, "use-after-poison"));
    QVERIFY(has(words, "emulated device: in kernel writes_past_its_array, block (0, 0, 0), thread 7"));
    return;
  }
  Bench bench;
  bench.run<writes_past_its_array>(bench.x, static_cast<int>(Bench::count));
  QVERIFY(has(bench.error, "writes_past_its_array"));
  QVERIFY(has(bench.error, "0 bytes after the end of 4000 bytes"));
}

void EmulationTest::a_far_access_is_caught() {
  Bench bench;
  bench.run<writes_far_past_its_array>(bench.x);
  QVERIFY(has(bench.error, "kernel writes_far_past_its_array, block (0, 0, 0), thread 7 "));
  QVERIFY(has(bench.error, "16000 bytes after the end of 4000 bytes"));
}

void EmulationTest::host_memory_is_not_the_devices() {
  Bench bench;
  bench.run<reads_host_memory>(bench.x, reinterpret_cast<const int*>(std::uintptr_t{64}));
  QVERIFY(has(bench.error, "kernel reads_host_memory, block (0, 0, 0), thread 7 "));
  QVERIFY(has(bench.error, "0x40, which is not the device's"));
}

void EmulationTest::shared_memory_is_watched() {
  const auto report = [](auto run) {
    Bench bench;
    bench.set(std::vector<int>(Bench::count, 0));
    run(bench);
    return bench.error;
  };
  std::string text = report([](Bench& b) { b.run<writes_past_shared>(b.x); });
  QVERIFY(has(text, "kernel writes_past_shared, block (0, 0, 0), thread 16 writes row[16], outside"));
  text = report([](Bench& b) { b.run<reads_unwritten_shared>(b.x); });
  QVERIFY(has(text, "kernel reads_unwritten_shared, block (0, 0, 0), thread 95 reads row[96]"));
  QVERIFY(has(text, "nobody has written"));
  text = report([](Bench& b) { b.run<lacks_barrier_before_write>(b.x); });
  QVERIFY(has(text, "lacks_barrier_before_write"));
  QVERIFY(has(text, "since the last barrier"));
  text = report([](Bench& b) { b.run<writes_twice>(b.x); });
  QVERIFY(has(text, "writes_twice"));
  QVERIFY(has(text, "has written since the last barrier"));
  text = report([](Bench& b) { b.run<reads_before_its_copy_landed>(b.x, b.x + 500); });
  QVERIFY(has(text, "tile["));
  QVERIFY(has(text, "has not waited for"));
  text = report([](Bench& b) { b.run<loads_unaligned>(b.x); });
  QVERIFY(has(text, "16 bytes at tile[1], which are not aligned"));
  // Whatever the order: read before it is written, or without a barrier after it was.
  for (std::uint64_t seed = 1; seed < 10; ++seed) {
    for (int kind = 0; kind < 3; ++kind) {
      Bench bench(seed);
      if (kind == 0) bench.run<lacks_barrier_before_read>(bench.x);
      if (kind == 1) bench.run<lacks_warp_barrier>(bench.x);
      if (kind == 2) bench.run<has_warp_barrier>(bench.x);
      QCOMPARE(bench.error.empty(), kind == 2);
    }
  }
}

void EmulationTest::barriers_are_watched() {
  for (std::uint64_t seed = 1; seed < 10; ++seed) {
    Bench some(seed);
    some.run<some_miss_the_barrier>(some.x);
    QVERIFY(has(some.error, "kernel some_miss_the_barrier, block (0, 0, 0), thread "));
    QVERIFY(has(some.error, "emulation_test.cpp:"));
    QVERIFY(some.error.find("ended") != std::string::npos ||
            some.error.find("ends while") != std::string::npos);
    Bench two(seed);
    two.run<wait_at_two_barriers>(two.x);
    QVERIFY(has(two.error, "waits for the block at emulation_test.cpp:"));
    QVERIFY(has(two.error, "other threads at emulation_test.cpp:"));
  }
}

void EmulationTest::warps_are_watched() {
  for (std::uint64_t seed = 1; seed < 10; ++seed) {
    Bench ended(seed);
    ended.run<shuffles_with_the_ended>(ended.x);
    QVERIFY(has(ended.error, "kernel shuffles_with_the_ended, block (0, 0, 0), thread "));
    QVERIFY(has(ended.error, "in shuffle_xor at emulation_test.cpp:"));
    Bench outside(seed);
    outside.run<shuffles_outside_its_mask>(outside.x);
    QVERIFY(has(outside.error, "whose mask leaves it out"));
    Bench apart(seed);
    apart.run<shuffles_while_others_wait>(apart.x);
    QVERIFY(has(apart.error, "kernel shuffles_while_others_wait, block (0, 0, 0) cannot go on: thread "));
  }
}

void EmulationTest::launches_are_checked() {
  Bench empty;
  launch<depends_on_order>({.grid_x = 0, .threads = many}, on_cuda(*empty.stream), empty.x);
  empty.stream->synchronize();
  QVERIFY(has(empty.error, "kernel depends_on_order cannot be started with a grid of (0, 1, 1)"));
  Bench wide;
  launch<depends_on_order>({.threads = 2048}, on_cuda(*wide.stream), wide.x);
  wide.stream->synchronize();
  QVERIFY(has(wide.error, "2048 threads"));
}

// Kernels that may begin before the one before has ended.
void EmulationTest::launches_that_overlap_are_watched() {
  const auto overlapping = [](Bench& bench, auto start) {
    bench.set(std::vector<int>(many, 3));
    start(LaunchShape{.grid_x = 2, .threads = many, .overlaps = true}, on_cuda(*bench.stream));
    bench.stream->synchronize();
  };
  Bench right, early, late, partly, unasked;
  overlapping(right, [&](auto shape, auto& stream) { launch<waits_kernel>(shape, stream, right.x); });
  QCOMPARE(right.error, std::string());
  QCOMPARE(right.result(many), std::vector<int>(many, 7));
  overlapping(early,
              [&](auto shape, auto& stream) { launch<reads_before_it_waits>(shape, stream, early.x); });
  QVERIFY(has(early.error, "kernel reads_before_it_waits, block"));
  QVERIFY(has(early.error, "before earlier kernels have ended"));
  overlapping(late, [&](auto shape, auto& stream) { launch<waits_too_late>(shape, stream, late.x); });
  QVERIFY(has(late.error, "has not waited for earlier kernels at its beginning"));
  overlapping(partly, [&](auto shape, auto& stream) { launch<waits_in_part>(shape, stream, partly.x); });
  QVERIFY(has(partly.error, "thread 7 has not waited for earlier kernels at its beginning"));
  unasked.run<waits_kernel>(unasked.x);
  QVERIFY(has(unasked.error, "waits for earlier kernels, for which its launch has waited"));
}

void EmulationTest::the_host_may_not_touch_device_memory() {
  Bench bench;
  const std::string words = last_words([&bench] { bench.x[3] = 1; });
  QVERIFY(has(words, "the host touches byte 12 of 4000 bytes of device memory"));
}

void EmulationTest::the_order_of_threads_varies() {
  std::set<int> results;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Bench bench(seed);
    bench.set({0});
    bench.run<depends_on_order>(bench.x);
    results.insert(bench.result(1)[0]);
  }
  QVERIFY(results.size() > 1);
  Bench again(1);
  again.set({0});
  again.run<depends_on_order>(again.x);
  QVERIFY(results.contains(again.result(1)[0]));
}

// A host that changes what it gave before the copy was done is seen to have done so, at least with some seed.
void EmulationTest::streams_run_late() {
  bool seen = false;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    Bench bench(seed);
    int value = 1;
    bench.device->copy(reinterpret_cast<std::byte*>(bench.x), reinterpret_cast<const std::byte*>(&value), 4,
                       *bench.stream);
    value = 2;
    seen |= bench.result(1)[0] == 2;

    const auto event = bench.device->make_event();
    QVERIFY(event->done());
    value = 3;
    bench.device->copy(reinterpret_cast<std::byte*>(bench.x), reinterpret_cast<const std::byte*>(&value), 4,
                       *bench.stream);
    bench.device->record(*event, *bench.stream);
    event->wait();
    QVERIFY(event->done());
    value = 4;
    QCOMPARE(bench.result(1)[0], 3);
  }
  QVERIFY(seen);
}

void EmulationTest::a_failed_stream_says_so() {
  Bench bench;
  QVERIFY(bench.stream->failure().empty());
  bench.run<some_miss_the_barrier>(bench.x);
  QVERIFY(has(bench.stream->failure().said, "some_miss_the_barrier"));
}

FOVEA_TEST(EmulationTest)
#include "emulation_test.moc"
