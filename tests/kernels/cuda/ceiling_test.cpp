// What measures a GPU's ceilings does nothing wrong where the processor executes its kernels, whose speed
// says nothing, and says so where there is no memory to measure with.
#include "kernels/cuda/ceiling.h"

#include <string>
#include <vector>

#include "tests/kernels/ptx/device.h"
#include "tests/support/test.h"

using namespace fovea::kernels;
namespace ptx = fovea::tests::ptx;

class CudaCeilingTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void measuresWithoutAFault() {
    std::vector<std::string> errors;
    const auto device = ptx::device({.on_error = [&](const std::string& error) { errors.push_back(error); }});
    const auto stream = device->make_stream({});
    const std::int64_t free = device->facts().memory_free_bytes;
    const DeviceCeiling found = device->measure_ceiling(*stream);
    QVERIFY2(errors.empty(), errors.empty() ? "" : errors.front().c_str());
    QVERIFY(found.read_gb_per_s > 0 && found.byte_gop_per_s > 0 && found.half_gop_per_s > 0);
    QVERIFY(found.node_us > 0 && found.overlapping_node_us > 0);
    QCOMPARE(device->facts().memory_free_bytes, free);
  }

  void takesASmallerBuffer_data() {
    QTest::addColumn<int>("free_buffers");  // halves of what is asked for
    QTest::addColumn<bool>("measures");
    QTest::newRow("the half") << 1 << true;
    QTest::newRow("nothing") << 0 << false;
  }
  void takesASmallerBuffer() {
    QFETCH(int, free_buffers);
    QFETCH(bool, measures);
    constexpr std::int64_t half = std::int64_t{1} << 20;
    constexpr std::int64_t for_alignment = 4096;  // of each piece of memory
    const auto device = ptx::device(
        {.memory_bytes = ptx::DeviceOptions{}.scratch_bytes + free_buffers * (half + for_alignment)});
    const auto stream = device->make_stream({});
    const DeviceCeiling found = cuda::measure_ceiling(*device, *stream,
                                                      {.buffer_bytes = 2 * half,
                                                       .min_buffer_bytes = half,
                                                       .min_seconds = 0,
                                                       .repetitions = 1,
                                                       .nodes = 20});
    QCOMPARE(found.read_gb_per_s > 0, measures);
    QVERIFY(found.byte_gop_per_s > 0);
  }
};

FOVEA_TEST(CudaCeilingTest)
#include "ceiling_test.moc"
