// Captured work: what a thread may not do while it captures, and what is gone before it is done, is found.
#include <functional>
#include <string>
#include <utility>

#include "planted_bench.h"

using namespace fovea::tests;
using Bench = ptx::PlantedBench;
using ptx::Numbers;
using Act = std::function<void(Bench&)>;

namespace {

struct Captured {
  Captured(Bench& bench, const Act& act) {
    cudaStreamBeginCapture(bench.stream, cudaStreamCaptureModeThreadLocal);
    act(bench);
    cudaGraph_t graph = nullptr;
    error = cudaStreamEndCapture(bench.stream, &graph);
    if (!graph) return;
    cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphDestroy(graph);
  }
  ~Captured() { release(); }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;
  void release() {
    if (executable) cudaGraphExecDestroy(std::exchange(executable, nullptr));
  }

  cudaGraphExec_t executable = nullptr;
  cudaError_t error = cudaSuccess;
};

void add_two(Bench& bench) {
  ptx::start_planted("waits", {.overlaps = true}, bench.stream, bench.x, bench.y);
}

}  // namespace
Q_DECLARE_METATYPE(Act)

class PtxCaptureTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void work_waits_for_its_launch() {
    Bench bench;
    bench.set(Numbers(96, 3));
    const Captured graph(bench, [](Bench& b) { add_two(b), add_two(b); });
    QCOMPARE(bench.read(bench.x)[95], 3);
    for (int k = 0; k < 3; ++k) cudaGraphLaunch(graph.executable, bench.stream);
    QCOMPARE(bench.read(bench.x)[95], 3 + 3 * 4);
    QCOMPARE(ptx::fault(), std::string());
  }

  void what_spoils_a_capture_is_found_data() {
    QTest::addColumn<Act>("act");
    QTest::addColumn<QString>("words");
    const auto row = [](const char* words, Act act) {
      QTest::newRow(words) << std::move(act) << QString::fromUtf8(words);
    };
    row("waits for a stream", [](Bench& b) { cudaStreamQuery(b.stream); });
    row("allocates memory", [](Bench&) {
      void* memory = nullptr;
      cudaMalloc(&memory, 64);
    });
    row("releases memory", [](Bench& b) { cudaFree(b.y); });
    row("allocates pinned memory", [](Bench&) {
      void* memory = nullptr;
      cudaHostAlloc(&memory, 64, cudaHostAllocDefault);
    });
    row("releases pinned memory", [](Bench&) { cudaFreeHost(nullptr); });
    row("pins memory", [](Bench& b) { cudaHostRegister(&b, 64, cudaHostRegisterPortable); });
    row("copies host memory that is not pinned",
        [](Bench& b) { cudaMemcpyAsync(b.x, &b, 4, cudaMemcpyHostToDevice, b.stream); });
    row("records an event", [](Bench& b) { cudaEventRecord(nullptr, b.stream); });
    row("asks an event", [](Bench&) { cudaEventQuery(nullptr); });
    row("launches a graph", [](Bench& b) { cudaGraphLaunch(nullptr, b.stream); });
    row("begins another capture",
        [](Bench& b) { cudaStreamBeginCapture(b.stream, cudaStreamCaptureModeThreadLocal); });
  }
  void what_spoils_a_capture_is_found() {
    QFETCH(Act, act);
    QFETCH(QString, words);
    Bench bench;
    bench.set(Numbers(96, 3));
    const Captured graph(bench, [&](Bench& b) { add_two(b), act(b), add_two(b); });
    QCOMPARE(graph.error, cudaErrorStreamCaptureInvalidated);
    QCOMPARE(ptx::fault(), "while a stream captures, its thread " + words.toStdString());
    cudaGetLastError();
    // Nothing of it was done, and the stream goes on.
    QCOMPARE(bench.read(bench.x)[95], 3);
    add_two(bench);
    QCOMPARE(bench.read(bench.x)[95], 5);
  }

  void pinned_memory_may_be_copied() {
    Bench bench;
    void* pinned = nullptr;
    cudaHostAlloc(&pinned, 8, cudaHostAllocDefault);
    const auto copies = [&](std::size_t bytes) {
      return [&, bytes](Bench& b) { cudaMemcpyAsync(b.x, pinned, bytes, cudaMemcpyHostToDevice, b.stream); };
    };
    {
      const Captured graph(bench, copies(8)), beyond(bench, copies(9));
      QCOMPARE(graph.error, cudaSuccess);
      QVERIFY(beyond.error != cudaSuccess);
      ptx::fault();
      *static_cast<int*>(pinned) = 7;
      cudaGraphLaunch(graph.executable, bench.stream);
      QCOMPARE(bench.read(bench.x)[0], 7);
      cudaFreeHost(pinned);
      cudaGraphLaunch(graph.executable, bench.stream);
      bench.finish();
      QCOMPARE(ptx::fault(),
               std::string("a copy was captured with pinned memory that has been released since"));
    }
  }

  // Also where others have been given the same bytes.
  void released_memory_is_found() {
    for (const bool replaced : {false, true}) {
      Bench bench;
      const Captured graph(bench, add_two);
      cudaGraphLaunch(graph.executable, bench.stream);
      bench.finish();
      QCOMPARE(ptx::fault(), std::string());
      cudaFree(std::exchange(bench.y, nullptr));
      if (replaced) cudaMalloc(reinterpret_cast<void**>(&bench.y), ptx::bytes);
      cudaGraphLaunch(graph.executable, bench.stream);
      bench.finish();
      const std::string fault = ptx::fault();
      QVERIFY2(fault.contains("waits") &&
                   fault.ends_with(" was captured with device memory that has been released since"),
               fault.c_str());
    }
  }

  // With some seed at least; what is done at once needs it no more.
  void a_graph_outlives_its_work() {
    Bench bench;
    std::string fault;
    for (int k = 0; k < 100 && fault.empty(); ++k) {
      Captured graph(bench, add_two);
      cudaGraphLaunch(graph.executable, bench.stream);
      graph.release();
      bench.finish();
      fault = ptx::fault();
    }
    QVERIFY2(fault.ends_with(" was launched with a graph that has been released before it was done"),
             fault.c_str());
  }

  void graphs_belong_to_their_stream() {
    Bench bench;
    const Bench other;
    const Captured graph(bench, add_two);
    cudaGraphLaunch(graph.executable, other.stream);
    QCOMPARE(ptx::fault(), std::string("a graph is launched in a stream that has not captured it"));
    cudaGraph_t none = nullptr;
    QCOMPARE(cudaStreamEndCapture(other.stream, &none), cudaErrorIllegalState);
    cudaGetLastError();
  }
};
FOVEA_TEST(PtxCaptureTest)

#include "capture_test.moc"
