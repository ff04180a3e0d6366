// cuBLAS's functions as NVIDIA documents them, over the host's memory: matrices lie column by column.
// fake_cublas() gives what it was told, and what it shall refuse.
#include "fake_cublas.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

using fovea::tests::FakeCublas;

namespace {

FakeCublas told;

float element(const void* matrix, std::int64_t at) {
  const std::uint32_t bits = std::uint32_t{static_cast<const std::uint16_t*>(matrix)[at]} << 16;
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

struct Product {
  bool transposed_a, transposed_b;
  std::int64_t m, n, k;
  float alpha, beta;
  const void *a, *b;
  std::int64_t lda, ldb, ldc;
  void* c;
};

// c[m, n] = alpha · op(a)[m, k] · op(b)[k, n] + beta · c, where a is [lda, …] column by column.
void multiply(const Product& p) {
  for (std::int64_t column = 0; column < p.n; ++column) {
    for (std::int64_t row = 0; row < p.m; ++row) {
      double sum = 0;
      for (std::int64_t i = 0; i < p.k; ++i)
        sum += static_cast<double>(element(p.a, p.transposed_a ? row * p.lda + i : i * p.lda + row)) *
               element(p.b, p.transposed_b ? i * p.ldb + column : column * p.ldb + i);
      float& out = static_cast<float*>(p.c)[column * p.ldc + row];
      out = p.alpha * static_cast<float>(sum) + (p.beta == 0 ? 0 : p.beta * out);
    }
  }
}

// Where all of a matrix of so many columns lies; the last has no more than its rows.
void* reach(const void* matrix, std::int64_t stride, std::int64_t rows, std::int64_t columns,
            std::int64_t element_bytes) {
  const std::int64_t bytes = ((columns - 1) * stride + rows) * element_bytes;
  return told.reach(told.stream, matrix, static_cast<std::size_t>(bytes));
}

}  // namespace

extern "C" {

FakeCublas* fake_cublas() {
  return &told;
}

int cublasCreate_v2(void** handle) {
  if (told.create_status != 0) return told.create_status;
  ++told.handles;
  *handle = &told;
  return 0;
}
int cublasDestroy_v2(void*) {
  --told.handles;
  return 0;
}
int cublasSetStream_v2(void*, void* stream) {
  told.stream = stream;
  told.workspace = nullptr;  // as documented: back to the library's own
  return 0;
}
int cublasSetWorkspace_v2(void*, void* workspace, std::size_t bytes) {
  told.workspace = workspace;
  told.workspace_bytes = bytes;
  return reinterpret_cast<std::uintptr_t>(workspace) % 256 == 0 ? 0 : 7;
}
int cublasSetMathMode(void*, int mode) {
  told.math_mode = mode;
  return 0;
}
int cublasGetProperty(int part, int* value) {
  *value = part == 0 ? 13 : part;
  return 0;
}
const char* cublasGetStatusName(int) {
  return "CUBLAS_STATUS_PLANTED";
}

int cublasGemmEx(void*, int transposed_a, int transposed_b, int m, int n, int k, const void* alpha,
                 const void* a, int type_a, int lda, const void* b, int type_b, int ldb, const void* beta,
                 void* c, int type_c, int ldc, int compute, int algorithm) {
  constexpr int bfloat16 = 14, float32 = 0, compute_float32 = 68;
  if (told.multiply_status != 0) return told.multiply_status;
  if (lda < (transposed_a ? k : m) || ldb < (transposed_b ? n : k) || ldc < m) return 7;
  if (type_a != bfloat16 || type_b != bfloat16 || type_c != float32 || compute != compute_float32 ||
      algorithm != -1)
    return 15;
  Product p{transposed_a != 0,
            transposed_b != 0,
            m,
            n,
            k,
            *static_cast<const float*>(alpha),
            *static_cast<const float*>(beta),
            a,
            b,
            lda,
            ldb,
            ldc,
            c};
  if (!told.later) {
    multiply(p);
    return 0;
  }
  const int a_rows = transposed_a ? k : m, b_rows = transposed_b ? n : k;
  p.a = reach(a, lda, a_rows, a_rows == k ? m : k, 2);
  p.b = reach(b, ldb, b_rows, b_rows == k ? n : k, 2);
  p.c = reach(c, ldc, m, n, 4);
  if (!p.a || !p.b || !p.c) return 7;
  told.later(told.stream, [p] { multiply(p); });
  return 0;
}
}
