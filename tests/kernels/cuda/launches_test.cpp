// How a token's work is divided among blocks, for published shapes on cards of several sizes: what the host's
// code launches, without running it. The file is what scripts/machine_code reads, which adds what the
// compiler made of the kernels: how many of these blocks are on a card at once.
#include <QFile>
#include <array>
#include <string>
#include <vector>

#include "engine/precision/model_shapes.h"
#include "kernels/api/device.h"
#include "kernels/cuda/stream.h"
#include "tests/kernels/ptx/device.h"
#include "tests/support/test.h"

using namespace fovea::kernels;
using fovea::precision::ModelShape;

namespace {

// An address for what no kernel will read.
template <typename T = float>
T* somewhere() {
  alignas(256) static std::byte memory[256];
  return reinterpret_cast<T*>(memory);
}

Weight weight_of(Type type, std::int64_t rows, std::int64_t columns) {
  return {.data = somewhere<std::byte>(),
          .type = type,
          .packing = Packing::tiles,
          .rows = rows,
          .columns = columns};
}

// The launches of one token behind 512 positions, by what they compute, in a layer with full attention and
// for the logits.
class Token {
 public:
  Token(const ModelShape& shape, int multiprocessors) : shape_(shape) {
    device_ = fovea::tests::ptx::device(
        {.multiprocessors = multiprocessors, .on_launch = [this](const auto& launch) { note(launch); }});
    stream_ = device_->make_stream({});
    prefix_ = std::string(shape.name) + " " + std::to_string(multiprocessors) + " ";
  }

  std::string launches() {
    const std::int64_t heads = shape_.heads * shape_.head_dim;
    const std::int64_t kv = shape_.kv_heads * shape_.head_dim;
    multiply("q,k,v", {shape_.attention_gate ? 2 * heads : heads, kv, kv}, shape_.hidden, {});
    attend(512);
    attend(32768);
    multiply("o", {shape_.hidden}, heads, norm());
    route();
    feed_forward();
    multiply("logits", {shape_.vocabulary}, shape_.hidden, {});
    return text_;
  }

 private:
  void note(const fovea::tests::ptx::ToldLaunch& launch) {
    text_ += prefix_ + what_ + " " + cuda::on_cuda(*stream_).last_kernel() + " " +
             std::to_string(std::int64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2]) + " " +
             std::to_string(launch.threads) + " " + std::to_string(launch.shared_bytes) + "\n";
  }

  RmsNorm norm() const {
    return {.x = somewhere(),
            .residual = somewhere(),
            .weight = somewhere(),
            .rows = 1,
            .columns = shape_.hidden,
            .out = somewhere(),
            .quantised = somewhere<std::byte>()};
  }

  void multiply(const char* what, const std::vector<std::int64_t>& rows, std::int64_t columns,
                const RmsNorm& then) {
    what_ = what;
    std::vector<Projection> projections;
    for (const std::int64_t count : rows) {
      projections.push_back(
          {.weight = weight_of(Type::q4_f, count, columns), .out = somewhere(), .out_stride = count});
    }
    device_->operations().linear({.x = somewhere(),
                                  .tokens = 1,
                                  .columns = columns,
                                  .projections = projections,
                                  .quantised = somewhere<std::byte>(),
                                  .then = then},
                                 *stream_);
  }

  // Where every layer has a window, the further of the two is only as far.
  void attend(std::int64_t behind) {
    what_ = "attention_" + std::to_string(behind);
    std::int64_t reach = 1024;  // of the graph (engine/layers/graphs.h)
    while (reach <= behind) reach *= 2;
    device_->operations().attention({.q = somewhere(),
                                     .q_stride = shape_.heads * shape_.head_dim,
                                     .first = reach - 1,
                                     .tokens = 1,
                                     .heads = shape_.heads,
                                     .pages = {.page_tokens = 256,
                                               .type = Type::f16,
                                               .kv_heads = shape_.kv_heads,
                                               .head_dim = shape_.head_dim},
                                     .out = somewhere(),
                                     .position = somewhere<std::int32_t>(),
                                     .quantised = somewhere<std::byte>(),
                                     .alone = true},
                                    *stream_);
  }

  void route() {
    what_ = "router";
    device_->operations().router(
        {.x = somewhere(),
         .tokens = 1,
         .weight = weight_of(Type::f32, shape_.experts, shape_.hidden),
         .shared_gate = shape_.shared_width > 0 ? weight_of(Type::f32, 1, shape_.hidden) : Weight{},
         .used = shape_.experts_used},
        *stream_);
  }

  void feed_forward() {
    what_ = "experts";
    const auto expert = [&](std::int64_t width) {
      return Expert{.gate = weight_of(Type::q4_f, width, shape_.hidden),
                    .up = weight_of(Type::q4_f, width, shape_.hidden),
                    .down = weight_of(Type::q4_f, shape_.hidden, width)};
    };
    const std::vector<Expert> experts(static_cast<std::size_t>(shape_.experts), expert(shape_.expert_width));
    const Expert shared = expert(shape_.shared_width);
    device_->operations().feed_forward({.x = somewhere(),
                                        .tokens = 1,
                                        .d = shape_.hidden,
                                        .experts = experts,
                                        .table = somewhere<const Expert>(),
                                        .used = shape_.experts_used,
                                        .shared = shape_.shared_width > 0 ? &shared : nullptr,
                                        .quantised = somewhere<std::byte>(),
                                        .then = norm()},
                                       *stream_);
  }

  const ModelShape& shape_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
  std::string prefix_, what_, text_;
};

}  // namespace

class LaunchesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // FOVEA_LAUNCHES=FILE writes what the file should be.
  void are_those_of_the_file() {
    std::string text =
        "# shape, multiprocessors, what for, kernel: blocks, threads of one, bytes of its dynamic shared "
        "memory\n";
    for (const char* name : {"qwen3-30b-a3b", "gpt-oss-20b", "qwen3-next-80b-a3b"}) {
      const auto shape = fovea::precision::find_shape(name);
      QVERIFY(shape.has_value());
      for (const int multiprocessors : {84, 128, 132, 170})
        text += Token(**shape, multiprocessors).launches();
    }
    if (const QString path = qEnvironmentVariable("FOVEA_LAUNCHES"); !path.isEmpty()) {
      QFile file(path);
      QVERIFY(file.open(QIODevice::WriteOnly));
      file.write(text.data(), static_cast<qint64>(text.size()));
    }
    QFile file(LAUNCHES);
    QVERIFY(file.open(QIODevice::ReadOnly));
    QCOMPARE(QString::fromStdString(text), QString::fromUtf8(file.readAll()));
  }
};

FOVEA_TEST(LaunchesTest)
#include "launches_test.moc"
