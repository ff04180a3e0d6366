// cuBLAS as the device's part uses it: what it is told, against a library that does what NVIDIA documents,
// and what becomes of one that is missing, is none, or fails.
#include <cstring>
#include <dlfcn.h>
#include <random>
#include <vector>

#if __has_include(<cublas_v2.h>)
#include <cublas_v2.h>
#endif

#include "kernels/cuda/module/blas.h"
#include "kernels/cuda/module/stream.h"
#include "kernels/formats/half.h"
#include "tests/kernels/ptx/runtime.h"
#include "tests/support/test.h"

#include "fake_cublas.h"

using namespace fovea::kernels;
using namespace fovea::kernels::cuda;
using namespace fovea::kernels::formats;
using namespace fovea::tests;

// The declarations and numbers are NVIDIA's.
#if __has_include(<cublas_v2.h>)
namespace {
template <class Ours, class Theirs>
constexpr bool same_size_of_arguments = false;
template <class R, class... Ours, class S, class... Theirs>
constexpr bool same_size_of_arguments<R (*)(Ours...), S (*)(Theirs...)> =
    sizeof...(Ours) == sizeof...(Theirs) && sizeof(R) == sizeof(S) &&
    ((sizeof(Ours) == sizeof(Theirs)) && ...);
static_assert(same_size_of_arguments<decltype(BlasLibrary::create), decltype(&cublasCreate_v2)>);
static_assert(same_size_of_arguments<decltype(BlasLibrary::destroy), decltype(&cublasDestroy_v2)>);
static_assert(same_size_of_arguments<decltype(BlasLibrary::set_stream), decltype(&cublasSetStream_v2)>);
static_assert(same_size_of_arguments<decltype(BlasLibrary::set_workspace), decltype(&cublasSetWorkspace_v2)>);
static_assert(same_size_of_arguments<decltype(BlasLibrary::set_math_mode), decltype(&cublasSetMathMode)>);
using GemmEx = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                                  const void*, const void*, cudaDataType, int, const void*, cudaDataType, int,
                                  const void*, void*, cudaDataType, int, cublasComputeType_t,
                                  cublasGemmAlgo_t);
static_assert(
    same_size_of_arguments<decltype(BlasLibrary::multiply), decltype(static_cast<GemmEx>(&cublasGemmEx))>);
static_assert(same_size_of_arguments<decltype(BlasLibrary::property), decltype(&cublasGetProperty)>);
static_assert(same_size_of_arguments<decltype(BlasLibrary::status_name), decltype(&cublasGetStatusName)>);
static_assert(CUBLAS_STATUS_SUCCESS == 0 && CUBLAS_STATUS_ALLOC_FAILED == 3);
static_assert(CUBLAS_OP_N == 0 && CUBLAS_OP_T == 1);
static_assert(CUBLAS_COMPUTE_32F == 68 && CUBLAS_GEMM_DEFAULT == -1);
static_assert(CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION == 16);
}  // namespace
#endif

class BlasTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void init() {
    ptx::reset(2);
    library_ = BlasLibrary::load(FAKE_CUBLAS);
    QVERIFY(library_.obstacle.empty());
    void* const opened = dlopen(FAKE_CUBLAS, RTLD_NOW);
    auto* const give = reinterpret_cast<FakeCublas* (*)()>(dlsym(opened, "fake_cublas"));
    QVERIFY(give != nullptr);
    told_ = give();
    *told_ = {};
  }

  void says_which_one_it_is() {
    QCOMPARE(library_.name, std::string("cuBLAS 13.1.2"));
    QVERIFY(library_.path.ends_with("fake_cublas.so"));
  }

  void multiplies_rows_by_rows_data() {
    QTest::addColumn<int>("rows");
    QTest::addColumn<int>("columns");
    QTest::addColumn<int>("tokens");
    QTest::addColumn<int>("padding");
    QTest::newRow("one") << 1 << 1 << 1 << 0;
    QTest::newRow("odd") << 7 << 33 << 11 << 0;
    QTest::newRow("padded rows") << 5 << 40 << 3 << 6;
    QTest::newRow("wide") << 64 << 8 << 2 << 0;
  }
  void multiplies_rows_by_rows() {
    QFETCH(int, rows);
    QFETCH(int, columns);
    QFETCH(int, tokens);
    QFETCH(int, padding);
    const int x_stride = (columns + 31) / 32 * 32, out_stride = rows + padding;
    std::mt19937 random(seed());
    const auto draw = [&random](int count) {
      std::vector<std::uint16_t> values(static_cast<std::size_t>(count));
      std::uniform_real_distribution<float> uniform(-1, 1);
      for (auto& value : values) value = float_to_bfloat16(uniform(random));
      return values;
    };
    const auto weights = draw(rows * columns), x = draw(tokens * x_stride);
    std::vector<float> out(static_cast<std::size_t>(tokens * out_stride), -7.0F);

    Context context(0);
    alignas(256) static std::byte workspace[256];
    const auto blas = Blas::create(library_, context, nullptr, workspace);
    QVERIFY(blas != nullptr);
    blas->multiply({.weights = reinterpret_cast<const std::byte*>(weights.data()),
                    .rows = rows,
                    .columns = columns,
                    .x = reinterpret_cast<const std::uint32_t*>(x.data()),
                    .x_stride = x_stride,
                    .tokens = tokens,
                    .out = out.data(),
                    .out_stride = out_stride});
    QVERIFY(context.failure().empty());
    for (int t = 0; t < tokens; ++t) {
      for (int r = 0; r < out_stride; ++r) {
        double sum = 0;
        for (int k = 0; k < columns && r < rows; ++k)
          sum += static_cast<double>(bfloat16_to_float(weights[static_cast<std::size_t>(r * columns + k)])) *
                 bfloat16_to_float(x[static_cast<std::size_t>(t * x_stride + k)]);
        const float expected = r < rows ? static_cast<float>(sum) : -7.0F;
        QCOMPARE(out[static_cast<std::size_t>(t * out_stride + r)], expected);
      }
    }
  }

  // A stream of the device: its workspace lies behind the scratch memory, within what was allocated.
  void a_stream_that_asks_has_it() {
    QVERIFY(make_stream(&library_)->multiply_bfloat16(one_product()));
    const auto stream = make_stream(&library_);
    QCOMPARE(told_->handles, 1);
    QCOMPARE(told_->stream, stream->handle());
    QCOMPARE(told_->workspace,
             static_cast<void*>(stream->scratch() + stream->scratch_bytes() + counter_bytes));
    QCOMPARE(told_->workspace_bytes, static_cast<std::size_t>(Blas::workspace_bytes));
    QCOMPARE(told_->math_mode, 16);
    QVERIFY(!make_stream(nullptr)->multiply_bfloat16(one_product()));
  }

  void leaves_nothing_behind() {
    const int before = ptx::objects();
    {
      const auto stream = make_stream(&library_);
    }
    QCOMPARE(told_->handles, 0);
    QCOMPARE(ptx::objects(), before);
    told_->create_status = 3;
    QVERIFY(make_stream(&library_) == nullptr);
    QCOMPARE(ptx::objects(), before);
  }

  void no_memory_is_no_failure() {
    told_->create_status = 3;
    QVERIFY(make_stream(&library_) == nullptr);
    QVERIFY(context_.failure().empty());
  }

  void what_fails_is_told_with_the_remedy() {
    Context refused(0);
    told_->create_status = 1;
    QVERIFY(Blas::create(library_, refused, nullptr, nullptr) == nullptr);
    QCOMPARE(refused.failure().action, Action::starting_the_library);
    QCOMPARE(refused.failure().said, std::string("CUBLAS_STATUS_PLANTED"));
    QVERIFY2(refused.failure().library.starts_with("cuBLAS 13.1.2, "), refused.failure().library.c_str());

    told_->create_status = 0;
    const auto stream = make_stream(&library_);
    told_->multiply_status = 13;
    QVERIFY(stream->multiply_bfloat16(one_product()));
    QCOMPARE(stream->failure().action, Action::multiplying);
    QCOMPARE(stream->failure().said, std::string("CUBLAS_STATUS_PLANTED"));
  }

  void a_file_that_is_named_must_be_one() {
    const BlasLibrary missing = BlasLibrary::load("/nowhere/libcublas.so.13");
    QVERIFY(missing.name.empty());
    QCOMPARE(missing.obstacle.kind, Obstacle::Kind::unloadable_library);
    QCOMPARE(missing.obstacle.names.front(), std::string("/nowhere/libcublas.so.13"));
    QVERIFY(!missing.obstacle.said.empty());
    const BlasLibrary other = BlasLibrary::load("libc.so.6");
    QVERIFY(other.name.empty());
    QCOMPARE(other.obstacle.kind, Obstacle::Kind::foreign_library);
    QCOMPARE(other.obstacle.names.front(), std::string("libc.so.6"));
    QCOMPARE(BlasLibrary::load("off").obstacle.kind, Obstacle::Kind::library_off);
  }

 private:
  std::unique_ptr<DriverStream> make_stream(const BlasLibrary* library) {
    return DriverStream::create(context_, {.library = library});
  }
  Bfloat16Product one_product() const {
    return {.weights = reinterpret_cast<const std::byte*>(halves_),
            .rows = 1,
            .columns = 1,
            .x = reinterpret_cast<const std::uint32_t*>(halves_),
            .x_stride = 2,
            .tokens = 1,
            .out = &out_,
            .out_stride = 1};
  }

  BlasLibrary library_;
  FakeCublas* told_ = nullptr;
  Context context_{0};
  alignas(4) std::uint16_t halves_[2] = {0x3F80, 0};
  mutable float out_ = 0;
};
FOVEA_TEST(BlasTest)

#include "blas_test.moc"
