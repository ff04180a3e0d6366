// What is wrong in a kernel is found in what nvcc makes of it, by name of kernel, block, thread and
// instruction; kernels without one pass, and compute what they should.
#include <cmath>
#include <csignal>
#include <cstring>
#include <cuda_runtime_api.h>
#include <set>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "tests/support/test.h"

#include "planted_bench.h"

using namespace fovea::tests;
using ptx::PlantedLaunch;
using Bench = ptx::PlantedBench;
using ptx::count;
using ptx::Numbers;

namespace {

// Says what the handler does that was there, and ends the process instead of what that one would call: Qt
// Test's, which starts a debugger.
struct sigaction explains = {};
void explain_and_end(int number, siginfo_t* info, void* context) {
  explains.sa_sigaction(number, info, context);
  std::signal(number, SIG_DFL);
}

// What a process that does this says before it ends by a signal; empty: it ends well.
template <typename Act>
std::string last_words(const Act& act) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    sigaction(SIGSEGV, nullptr, &explains);
    struct sigaction action = explains;
    action.sa_sigaction = explain_and_end;
    sigaction(SIGSEGV, &action, nullptr);
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

}  // namespace
Q_DECLARE_METATYPE(PlantedLaunch)

class PtxPlantedTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void finds_data() {
    QTest::addColumn<PlantedLaunch>("launch");
    QTest::addColumn<QString>("found");  // empty: nothing
    const auto row = [](const char* kernel, const char* found = "", const PlantedLaunch& launch = {}) {
      QTest::newRow(kernel) << launch << QString::fromUtf8(found);
    };
    const PlantedLaunch four_blocks = {.blocks = 4}, overlapping = {.overlaps = true};
    const char* const race = "it races with a";
    row("each_its_own", "", four_blocks);
    row("shares_behind_a_barrier", "", four_blocks);
    row("counts", "", four_blocks);
    row("sums", "", four_blocks);
    row("copies");
    row("has_warp_barrier");
    row("last_block_adds", "", four_blocks);

    row("blocks_write_the_same", race, four_blocks);
    row("blocks_read_what_others_write", race, four_blocks);
    row("warps_write_the_same", race);
    row("lanes_write_the_same", race);
    row("warps_read_without_a_barrier", race);
    row("reads_a_count_of_others", race, four_blocks);
    row("last_block_adds_unfenced", race, four_blocks);
    row("writes_past_its_array", "not the device's memory: 0 bytes after the end of 4000 bytes");
    row("writes_far_past_its_array", "not the device's memory");
    row("waits", "", overlapping);
    row("reads_before_it_waits", "before earlier kernels have ended", overlapping);
    row("waits_too_late", "it has not waited for earlier kernels at its beginning", overlapping);
    row("waits_in_part", "thread 7, line", overlapping);

    row("fills_dynamic_shared", "", {.shared_bytes = 4 * 96});
    row("writes_past_shared", "outside the kernel's arrays in shared memory");
    row("reads_unwritten_shared", "shared memory that nobody has written");
    row("lacks_barrier_before_read", "shared memory");
    row("lacks_barrier_before_write", race);
    row("lacks_warp_barrier", "shared memory");
    row("writes_twice", race);
    row("reads_before_its_copy_landed", "it races with a copy that has not been waited for");
    row("ends_before_its_copy_landed", "it ends without having waited for its copies");
    row("loads_unaligned", "an address that its size does not divide");

    row("waits_at_two_barriers", "a barrier while thread");
    row("multiplies_without_a_lane", "a lane that is not there is waited for");
    row("multiplies_while_others_wait", "threads wait for others that will not come");
    row("some_miss_the_barrier", "a barrier before which 91 threads have ended");
    row("shuffles_with_the_ended", "a lane that is not there is waited for");
    row("shuffles_outside_its_mask", "a lane is not in its own mask");
    row("shuffles_while_others_wait", "threads wait for others that will not come");
  }
  void finds() {
    QFETCH(PlantedLaunch, launch);
    QFETCH(QString, found);
    for (unsigned s = 0; s < 10; ++s) {
      const Bench bench(seed() + s);
      bench.set(Numbers(count, 0));
      const std::string wrong = bench.run(QTest::currentDataTag(), launch);
      if (found.isEmpty()) {
        QVERIFY2(wrong.empty(), wrong.c_str());
      } else {
        QVERIFY2(wrong.contains(QTest::currentDataTag()) && wrong.contains("block (") &&
                     wrong.contains("planted.cu:") && wrong.contains(found.toStdString()),
                 wrong.c_str());
      }
    }
  }

  void computes() {
    for (unsigned s = 0; s < 10; ++s) {
      const Bench bench(seed() + s);
      Numbers squares(count);
      for (std::size_t i = 0; i < count; ++i) squares[i] = static_cast<int>(i * i);
      bench.set(squares);
      QCOMPARE(bench.run("sums", {.blocks = 4}), std::string());
      const Numbers sums = bench.read(bench.y);
      for (std::size_t b = 0; b < 4; ++b) {
        int expected = 0;
        for (std::size_t i = 96 * b; i < 96 * (b + 1); ++i) expected += squares[i];
        QCOMPARE(sums[b], expected);
      }
      QCOMPARE(bench.run("copies"), std::string());
      const Numbers copied = bench.read(bench.y);
      const auto value = [&](std::size_t i) { return i / 4 % 5 != 0 ? squares[i] : 0; };
      for (std::size_t t = 0; t < 96; ++t)
        QCOMPARE(copied[t], value(4 * t) + value(4 * t + 3) + value((4 * t + 17) % 384));
      bench.set(Numbers(count, 0));
      QCOMPARE(bench.run("last_block_adds", {.blocks = 5}), std::string());
      QCOMPARE(bench.read(bench.y)[95], 5);
      bench.set(Numbers(count, 0));
      QCOMPARE(bench.run("counts", {.blocks = 3}), std::string());
      QCOMPARE(bench.read(bench.x)[0], 9);
      QCOMPARE(bench.read(bench.y)[2], 192);
    }
  }

  void a_wait_that_the_launch_did_not_ask_for_is_counted() {
    const Bench bench;
    bench.set(Numbers(count, 3));
    const std::int64_t before = ptx::waited_unasked();
    QCOMPARE(bench.run("waits", {.overlaps = true}), std::string());
    QCOMPARE(ptx::waited_unasked(), before);
    QCOMPARE(bench.run("waits"), std::string());
    QCOMPARE(ptx::waited_unasked(), before + 1);
  }

  // What is wrong by chance is so with some seeds, the same with one each time.
  void the_order_of_threads_varies() {
    const auto result = [](const char* kernel, const PlantedLaunch& launch, unsigned random) {
      const Bench bench(random, false);
      bench.set(Numbers(count, 0));
      bench.run(kernel, launch);
      return bench.read(bench.x);
    };
    std::set<Numbers> lanes, blocks, sums;
    for (unsigned s = 1; s <= 10; ++s) {
      lanes.insert(result("depends_on_order", {.threads = 32}, s));
      blocks.insert(result("blocks_write_the_same", {.blocks = 4}, s));
      QCOMPARE(result("depends_on_order", {}, s), result("depends_on_order", {}, s));
    }
    QVERIFY(lanes.size() > 1 && blocks.size() > 1);
  }

  void launches_are_checked() {
    const Bench bench;
    QCOMPARE(ptx::start_planted("counts", {.blocks = 0}, bench.stream, bench.x, bench.y),
             cudaErrorInvalidConfiguration);
    QCOMPARE(ptx::start_planted("counts", {.threads = 2048}, bench.stream, bench.x, bench.y),
             cudaErrorInvalidConfiguration);
  }

  // One byte less than the kernel takes.
  void dynamic_shared_memory_ends() {
    const Bench bench;
    bench.set(Numbers(count, 0));
    const std::string wrong = bench.run("fills_dynamic_shared", {.shared_bytes = 4 * 96 - 1});
    QVERIFY2(wrong.contains("thread 95") && wrong.contains("beyond the end of its memory"), wrong.c_str());
  }

  void a_kernel_reaches_its_own_cards_memory() {
    std::string wrong;
    const int other = ptx::add_card({.on_error = [&](const std::string& text) { wrong = text; }});
    cudaSetDevice(other);
    cudaStream_t stream = nullptr;
    int* there = nullptr;
    cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, 0);
    cudaMalloc(reinterpret_cast<void**>(&there), ptx::bytes);
    const auto finish = [&] {
      while (cudaStreamQuery(stream) == cudaErrorNotReady) {
      }
    };
    {
      cudaSetDevice(0);
      const Bench bench;
      QVERIFY(bench.run("each_its_own", {}).empty());
      // The stream's card is not the one that the thread has chosen.
      QCOMPARE(ptx::start_planted("each_its_own", {}, stream, there, there), cudaErrorInvalidResourceHandle);
      QVERIFY2(wrong.contains("has chosen another device than the stream's"), wrong.c_str());
      cudaGetLastError();
      cudaSetDevice(other);
      QCOMPARE(ptx::start_planted("each_its_own", {}, stream, there, there), cudaSuccess);
      finish();
      QCOMPARE(ptx::start_planted("each_its_own", {}, stream, bench.x, there), cudaSuccess);
      finish();
      QVERIFY2(wrong.contains("memory of another device"), wrong.c_str());
      cudaSetDevice(0);
      QCOMPARE(ptx::fault(), std::string());
    }
    cudaSetDevice(other);
    cudaFree(there);
    cudaStreamDestroy(stream);
    cudaGetLastError();
    cudaSetDevice(0);
    ptx::remove_card(other);
  }

  void fresh_memory_is_not_a_number() {
    const Bench bench;
    float value = 0;
    const int bits = bench.read(bench.x).back();
    std::memcpy(&value, &bits, sizeof value);
    QVERIFY(std::isnan(value));
  }

  void memory_that_is_not_there_is_refused() {
    std::size_t free = 0, less = 0, total = 0;
    cudaMemGetInfo(&free, &total);
    void* memory = nullptr;
    QCOMPARE(cudaMalloc(&memory, free + 1), cudaErrorMemoryAllocation);
    QCOMPARE(cudaMalloc(&memory, 1 << 20), cudaSuccess);
    cudaMemGetInfo(&less, &total);
    QCOMPARE(less, free - (1 << 20));
    cudaFree(memory);
    cudaMemGetInfo(&less, &total);
    QCOMPARE(less, free);
    cudaGetLastError();
  }

  void host_and_device_have_their_own_memory() {
    const Bench bench;
    const std::string words = last_words([&] { bench.x[3] = 1; });
    QVERIFY2(words.contains("the host touches byte 12 of 4000 bytes of a device's memory"), words.c_str());
    QCOMPARE(last_words([&] { bench.set({1}); }), std::string());
    int host = 0;
    ptx::start_planted("reads_host_memory", {}, bench.stream, bench.x, &host);
    bench.finish();
    QVERIFY(ptx::fault().contains("thread 7"));
    cudaMemcpyAsync(bench.x + 1, &host, sizeof host * count, cudaMemcpyHostToDevice, bench.stream);
    bench.finish();
    QVERIFY(ptx::fault().contains("a copy beyond the device's memory"));
  }

  // A host that changes what it gave before the copy was done is seen to have done so, at least with some
  // seed.
  void streams_run_late() {
    bool seen = false;
    for (unsigned s = 1; s <= 20; ++s) {
      const Bench bench(s);
      int value = 1;
      cudaMemcpyAsync(bench.x, &value, sizeof value, cudaMemcpyHostToDevice, bench.stream);
      value = 2;
      seen |= bench.read(bench.x)[0] == 2;
    }
    QVERIFY(seen);
  }
};
FOVEA_TEST(PtxPlantedTest)

#include "planted_test.moc"
