// The device's host code over a runtime library that remembers and refuses as NVIDIA's does: what is no error
// must not become one, what is one must not be lost, and no thread takes memory on a card that nobody chose.
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <thread>

#include "kernels/cuda/module/device.h"
#include "kernels/cuda/stream.h"
#include "tests/kernels/ptx/runtime.h"
#include "tests/support/test.h"

using namespace fovea::kernels;
using namespace fovea::tests;
using cuda::CudaDevice;

namespace {

constexpr int devices = 2;

// On the second device, as a thread with nothing to tell it which would take the first.
struct Bench {
  std::unique_ptr<CudaDevice> device = std::make_unique<CudaDevice>(1);
  std::unique_ptr<Stream> stream = device->make_stream({});
  std::unique_ptr<Event> event = device->make_event();

  Failure failure() const { return stream->failure(); }
};

using Act = std::function<void(Bench&)>;

}  // namespace
Q_DECLARE_METATYPE(Act)

class DriverTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void init() { ptx::reset(devices); }

  void anEventThatIsNotDoneIsNoError() {
    Bench bench;
    bench.device->record(*bench.event, *bench.stream);
    ptx::keep_events_waiting(2);
    QVERIFY(!bench.event->done());
    QVERIFY(!bench.event->done());
    bench.stream->synchronize();
    QCOMPARE(bench.failure(), Failure{});

    ptx::keep_events_waiting(1);
    QVERIFY(!bench.event->done());
    QVERIFY(bench.stream->begin_capture());
    std::string why;
    QVERIFY(bench.stream->end_capture(why) != nullptr);
    QVERIFY(bench.event->done());
    QCOMPARE(bench.failure(), Failure{});
  }

  void noMemoryIsNoFailure() {
    Bench bench;
    ptx::take_memory(true);
    QVERIFY(bench.device->allocate(64) == nullptr);
    QVERIFY(bench.device->allocate_host(64) == nullptr);
    alignas(4096) static std::byte memory[4096];
    QVERIFY(!bench.device->pin(memory, sizeof memory));
    QVERIFY(bench.device->make_stream({}) == nullptr);
    bench.stream->synchronize();
    QCOMPARE(bench.failure(), Failure{});
  }

  void aStreamThatCannotBeMadeLeavesNothing_data() {
    QTest::addColumn<bool>("memory");
    QTest::newRow("no memory") << false;
    QTest::newRow("memory that cannot be cleared") << true;
  }
  void aStreamThatCannotBeMadeLeavesNothing() {
    QFETCH(bool, memory);
    const CudaDevice device(1);
    const int before = ptx::objects();
    memory ? ptx::refuse_clearing() : ptx::take_memory(true);
    QVERIFY(device.make_stream({}) == nullptr);
    QCOMPARE(ptx::objects(), before);
  }

  void anUnknownAttributeIsNoFailure() {
    ptx::know_no_attributes();
    Bench bench;
    QCOMPARE(bench.device->known_facts().bandwidth_gb_per_s, 0.0);
    bench.stream->synchronize();
    QCOMPARE(bench.failure(), Failure{});
  }

  // By its own code, by that of an earlier one of its generation, or by PTX.
  void anArchitectureIsServedOrNamed_data() {
    QTest::addColumn<int>("architecture");
    QTest::addColumn<bool>("served");
    for (const int served : {86, 87, 89, 90, 100, 103, 110, 120, 121, 130})
      QTest::addRow("sm_%d", served) << served << true;
    for (const int not_served : {70, 75, 80}) QTest::addRow("sm_%d", not_served) << not_served << false;
  }
  void anArchitectureIsServedOrNamed() {
    QFETCH(int, architecture);
    QFETCH(bool, served);
    ptx::be_architecture(architecture);
    const Obstacle other{
        .kind = Obstacle::Kind::architecture,
        .names = {"sm_" + std::to_string(architecture), "sm_86", "sm_89", "sm_90", "sm_120"}};
    QCOMPARE(CudaDevice(1).why_not(), served ? Obstacle{} : other);
  }

  void anotherDevicesFailureIsItsOwn() {
    const CudaDevice broken(devices);
    QVERIFY(!broken.why_not().empty());
    Bench bench;
    bench.stream->synchronize();
    QCOMPARE(bench.failure(), Failure{});
  }

  // Whoever waits for a kernel that never began must not read what it was to write.
  void aRefusedLaunchIsNotLost_data() {
    QTest::addColumn<Act>("act");
    const auto row = [](const char* name, Act act) { QTest::newRow(name) << std::move(act); };
    row("synchronize", [](Bench& b) { b.stream->synchronize(); });
    row("wait", [](Bench& b) { b.event->wait(); });
    row("done", [](Bench& b) { b.event->done(); });
    row("not done", [](Bench& b) {
      ptx::keep_events_waiting(1);
      b.event->done();
    });
    row("no memory", [](Bench& b) {
      ptx::take_memory(true);
      b.device->allocate(64);
    });
    row("no pinned memory", [](Bench& b) {
      ptx::take_memory(true);
      b.device->allocate_host(64);
    });
    row("memory that cannot be pinned", [](Bench& b) {
      ptx::take_memory(true);
      alignas(4096) static std::byte memory[4096];
      b.device->pin(memory, sizeof memory);
    });
    row("capture", [](Bench& b) { b.stream->begin_capture(); });
  }
  void aRefusedLaunchIsNotLost() {
    QFETCH(Act, act);
    Bench bench;
    ptx::refuse_launch();
    act(bench);
    QCOMPARE(bench.failure(), (Failure{.action = Action::starting_a_kernel,
                                       .said = "planted (cudaErrorInvalidConfiguration)"}));
  }

  void whatCannotBeCapturedIsNoFailure_data() {
    QTest::addColumn<bool>("refused");
    QTest::newRow("a refused launch") << true;
    QTest::newRow("memory") << false;
  }
  void whatCannotBeCapturedIsNoFailure() {
    QFETCH(bool, refused);
    Bench bench;
    QVERIFY(bench.stream->begin_capture());
    if (refused) {
      ptx::refuse_launch();
    } else {
      QVERIFY(bench.device->allocate(64) == nullptr);
    }
    std::string why;
    QVERIFY(bench.stream->end_capture(why) == nullptr);
    QVERIFY(!why.empty());
    bench.stream->synchronize();
    QCOMPARE(bench.failure(), Failure{});
  }

  void aLostDeviceIsSaid() {
    Bench bench;
    ptx::fail_with(cudaErrorLaunchFailure);
    QVERIFY(bench.event->done());
    QVERIFY(bench.failure().said.contains("cudaErrorLaunchFailure"));
    bench.event->wait();
    bench.stream->synchronize();
    QVERIFY(!bench.stream->begin_capture());
  }

  // What would wait for a kernel that never ends says which it was, and nothing waits for the device after
  // it.
  void aDeviceThatHangsIsSaid_data() {
    QTest::addColumn<Act>("act");
    const auto row = [](const char* name, Act act) { QTest::newRow(name) << std::move(act); };
    row("synchronize", [](Bench& b) { b.stream->synchronize(); });
    row("wait", [](Bench& b) { b.event->wait(); });
    row("wait asleep", [](Bench& b) { b.event->wait_asleep(); });
    row("a graph", [](Bench& b) {
      std::string why;
      b.stream->begin_capture();
      const auto graph = b.stream->end_capture(why);
      cuda::on_cuda(*b.stream).note_kernel("another_kernel");
      b.stream->launch(*graph);
      b.stream->synchronize();
    });
  }
  void aDeviceThatHangsIsSaid() {
    QFETCH(Act, act);
    Bench bench{std::make_unique<CudaDevice>(1, cuda::Switches{}, std::chrono::milliseconds(1))};
    cuda::on_cuda(*bench.stream).note_kernel("planted_kernel<3>");
    bench.device->record(*bench.event, *bench.stream);
    ptx::keep_events_waiting(std::numeric_limits<int>::max());
    act(bench);
    QCOMPARE(bench.failure(),
             (Failure{.action = Action::waiting, .waited_s = 0, .last_kernel = "planted_kernel<3>"}));
    const int asks = ptx::asks();
    bench.stream->synchronize();
    bench.event->wait();
    bench.stream.reset();
    QCOMPARE(ptx::asks(), asks);
  }

  // Twice as long from one question to the next, from 20 µs up to 500.
  void whoWaitsAsleepAsksNowAndThen() {
    Bench bench;
    const auto elapsed = [&](bool asleep) {
      ptx::keep_events_waiting(8);
      const auto begin = std::chrono::steady_clock::now();
      asleep ? bench.event->wait_asleep() : bench.event->wait();
      return std::chrono::steady_clock::now() - begin;
    };
    bench.device->record(*bench.event, *bench.stream);
    elapsed(false);
    QCOMPARE(ptx::asks(), 9);
    QVERIFY(elapsed(true) >= std::chrono::microseconds(20 + 40 + 80 + 160 + 320 + 3 * 500));
    QCOMPARE(bench.failure(), Failure{});
  }

  void switchesAreNamed_data() {
    QTest::addColumn<std::string>("text");
    QTest::addColumn<std::string>("off");
    QTest::addColumn<std::vector<std::string>>("unknown");
    const auto row = [](const char* text, const std::string& off,
                        const std::vector<std::string>& unknown = {}) {
      QTest::newRow(text) << std::string(text) << off << unknown;
    };
    row("", "");
    row("graph", "graph");
    row("prefetch,pdl", "pdl, prefetch");
    row("pdl,graph,prefetch", "pdl, graph, prefetch");
    row("graphs", "", {"graphs"});
    row("pdl, graph", "pdl", {" graph"});
    row("pdl,,graph", "pdl, graph", {""});
  }
  void switchesAreNamed() {
    QFETCH(std::string, text);
    QFETCH(std::string, off);
    QFETCH(std::vector<std::string>, unknown);
    const cuda::Switches switches = cuda::Switches::parse(text);
    QCOMPARE(switches.off(), off);
    QCOMPARE(switches.obstacle.names, unknown);
    QCOMPARE(switches.obstacle.empty(), unknown.empty());
  }

  void whatIsSwitchedOffIsNotUsed() {
    const CudaDevice all(1, {}), none(1, {.pdl = false, .graph = false, .prefetch = false});
    const auto with = all.make_stream({}), without = none.make_stream({});
    QVERIFY(cuda::on_cuda(*with).overlaps() && cuda::on_cuda(*with).prefetches());
    QVERIFY(!cuda::on_cuda(*without).overlaps() && !cuda::on_cuda(*without).prefetches());
    QVERIFY(!without->begin_capture());
    QVERIFY(with->begin_capture());
    std::string why;
    QVERIFY(with->end_capture(why) != nullptr);
    QCOMPARE(none.switched_off(), std::string("pdl, graph, prefetch"));
  }

  // Each in a thread of its own, which has chosen nothing yet.
  void everyThreadChoosesTheDevice() {
    Bench bench;
    std::byte *memory = nullptr, *pinned = nullptr;
    std::unique_ptr<Graph> graph;
    std::unique_ptr<Event> second = bench.device->make_event();
    const std::function<void()> calls[] = {
        [&] { bench.event->done(); },
        [&] { bench.event->wait(); },
        [&] { bench.device->record(*bench.event, *bench.stream); },
        [&] { bench.stream->synchronize(); },
        [&] {
          std::string why;
          bench.stream->begin_capture();
          graph = bench.stream->end_capture(why);
        },
        [&] { bench.stream->launch(*graph); },
        [&] { memory = bench.device->allocate(64); },
        [&] { pinned = bench.device->allocate_host(64); },
        [&] { QVERIFY(bench.device->pin(pinned, 64)); },
        [&] { bench.device->unpin(pinned); },
        [&] { bench.device->copy(memory, pinned, 64, *bench.stream); },
        [&] { bench.device->release(memory, 64); },
        [&] { bench.device->release_host(pinned, 64); },
        [&] { (void)bench.device->facts(); },
        [&] { graph.reset(); },
        [&] { second.reset(); },
        [&] { bench.stream.reset(); },
    };
    for (const auto& call : calls) {
      std::thread(call).join();
      QCOMPARE(ptx::contexts(0), 0);
    }
    QCOMPARE(ptx::contexts(1), 1);
  }
};
FOVEA_TEST(DriverTest)

#include "driver_test.moc"
