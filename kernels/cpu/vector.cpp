// What handles rows one by one: the embedding, the norm, and addition.
#include <math.h>

#include "kernels/cpu/operations.h"
#include "kernels/cpu/stream.h"
#include "kernels/cpu/vector_math.h"
#include "kernels/formats/formats.h"

namespace fovea::kernels::cpu::FOVEA_CPU_SET {
namespace {

constexpr std::int64_t chunk_elements = 16384;  // less is not worth waking a thread for

void add_row(float* x, const float* y, std::int64_t count) {
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    store_floats(x + i, add_floats(load_floats(x + i), load_floats(y + i)));
  for (; i < count; ++i) x[i] += y[i];
}

// Four partial sums: the squares of a row are added pairwise rather than one after another.
float sum_of_squares(const float* x, std::int64_t count) {
  Floats sums[4] = {set_floats(0), set_floats(0), set_floats(0), set_floats(0)};
  std::int64_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      const Floats v = load_floats(x + i + j * lanes);
      sums[j] = multiply_add(v, v, sums[j]);
    }
  }
  for (; i < count; i += lanes) {
    const Floats v = count - i < lanes ? load_first(x + i, count - i) : load_floats(x + i);
    sums[0] = multiply_add(v, v, sums[0]);
  }
  return sum_of(add_floats(add_floats(sums[0], sums[1]), add_floats(sums[2], sums[3])));
}

void normalise_row(const float* x, const float* weight, float scale, std::int64_t count, float* out) {
  const Floats factor = set_floats(scale);
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    store_floats(out + i, multiply(multiply(load_floats(x + i), factor), load_floats(weight + i)));
  }
  for (; i < count; ++i) out[i] = x[i] * scale * weight[i];
}

}  // namespace

void embed_rows(const EmbedRows& op, Stream& stream) {
  const std::int64_t columns = op.table.columns;
  const std::int64_t bytes = row_bytes(op.table.type, columns);
  on_cpu(stream).pool().for_chunks(op.tokens, 16, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t t = begin; t < end; ++t) {
      formats::dequantize(op.table.type, op.table.data + op.ids[t] * bytes, columns, op.out + t * columns);
    }
  });
}

void norm_rows(const float* x, const float* weight, float eps, std::int64_t rows, std::int64_t columns,
               float* out) {
  for (std::int64_t at = 0; at < rows * columns; at += columns) {
    const float mean = sum_of_squares(x + at, columns) / static_cast<float>(columns);
    normalise_row(x + at, weight, 1.0F / sqrtf(mean + eps), columns, out + at);
  }
}

void rms_norm(const RmsNorm& op, Stream& stream) {
  const std::int64_t rows = op.columns < chunk_elements ? chunk_elements / op.columns : 1;
  on_cpu(stream).pool().for_chunks(op.rows, rows, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) {
      float* const x = op.x + row * op.columns;
      if (op.residual) add_row(x, op.residual + row * op.columns, op.columns);
      norm_rows(x, op.weight, op.eps, 1, op.columns, op.out + row * op.columns);
    }
  });
}

void add(const Add& op, Stream& stream) {
  on_cpu(stream).pool().for_chunks(op.count, chunk_elements, [&](std::int64_t begin, std::int64_t end, int) {
    add_row(op.x + begin, op.y + begin, end - begin);
  });
}

}  // namespace fovea::kernels::cpu::FOVEA_CPU_SET
