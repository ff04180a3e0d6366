// Weights as the processor packs them become, byte by byte, what the device packs itself.
#include <random>
#include <vector>

#include "kernels/cases/weights.h"
#include "kernels/cpu/device.h"
#include "kernels/cuda/operations.h"
#include "tests/kernels/ptx/device.h"
#include "tests/support/test.h"

using namespace fovea::kernels;
using fovea::tests::seed;

namespace {

using Bytes = std::vector<std::byte>;

Bytes random_bytes(std::int64_t count, std::mt19937& random) {
  Bytes bytes(static_cast<std::size_t>(count));
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

}  // namespace

class RepackTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void gives_what_the_device_packs_data() {
    QTest::addColumn<int>("type");
    QTest::addColumn<int>("rows");
    QTest::addColumn<int>("columns");
    for (const Type type : cases::all_types) {
      const auto elements = static_cast<int>(block_shape(type).elements);
      for (const int rows : {16, 37, 96}) {
        for (const int blocks : elements == 1 ? std::vector{1, 37, 64} : std::vector{1, 3, 20})
          QTest::addRow("%s %dx%d", std::string(type_name(type)).c_str(), rows, blocks * elements)
              << static_cast<int>(type) << rows << blocks * elements;
      }
    }
  }
  void gives_what_the_device_packs() {
    QFETCH(int, type);
    QFETCH(int, rows);
    QFETCH(int, columns);
    constexpr std::int64_t count = 3;
    Repack op{.type = static_cast<Type>(type), .rows = rows, .columns = columns, .count = count};
    const Device& processor = *cpu::device("scalar");
    std::string errors;
    const auto device = fovea::tests::ptx::device(
        {.seed = seed(), .on_error = [&](const std::string& error) { errors += error + "\n"; }});
    const auto packed_bytes = [&](const Device& on) {
      return on.packed_bytes(on.preferred_packing(op.type, rows, columns), op.type, rows, columns);
    };
    const std::int64_t source_bytes = packed_bytes(processor), target_bytes = packed_bytes(*device);
    op.stride = (source_bytes + 63) / 64 * 64;

    std::mt19937 random(seed());
    std::byte* const host = device->allocate_host(count * op.stride);
    std::byte* const source = device->allocate(count * op.stride);
    op.target = device->allocate(count * op.stride);
    op.source = source;
    Bytes expected;
    const auto pack = [&](const Device& by, const Bytes& file, std::byte* to) {
      by.pack(by.preferred_packing(op.type, rows, columns), op.type, rows, columns, file.data(), 0, rows, to);
    };
    for (std::int64_t i = 0; i < count; ++i) {
      const Bytes file = random_bytes(rows * row_bytes(op.type, columns), random);
      pack(processor, file, host + i * op.stride);
      Bytes own(static_cast<std::size_t>(target_bytes));
      pack(*device, file, own.data());
      expected.insert(expected.end(), own.begin(), own.end());
    }
    const auto stream = device->make_stream({});
    device->copy(source, host, count * op.stride, *stream);
    device->operations().repack(op, *stream);
    device->read_back(host, op.target, count * op.stride, *stream);
    stream->synchronize();
    QCOMPARE(errors + stream->failure().said, std::string());
    for (std::int64_t i = 0; i < count; ++i) {
      const auto* const begin = host + i * op.stride;
      QVERIFY(std::equal(begin, begin + target_bytes, expected.begin() + i * target_bytes));
    }
    device->release_host(host, count * op.stride);
    device->release(source, count * op.stride);
    device->release(op.target, count * op.stride);
  }
};
FOVEA_TEST(RepackTest)

#include "repack_test.moc"
