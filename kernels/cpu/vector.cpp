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

// x += y · factor · weight
void add_normed_row(float* x, const float* y, const float* weight, float factor, std::int64_t count) {
  const Floats factors = set_floats(factor);
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const Floats normed = multiply(multiply(load_floats(y + i), factors), load_floats(weight + i));
    store_floats(x + i, add_floats(load_floats(x + i), normed));
  }
  for (; i < count; ++i) x[i] += y[i] * factor * weight[i];
}

void scale_row(float* x, float scale, std::int64_t count) {
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) store_floats(x + i, multiply(load_floats(x + i), set_floats(scale)));
  for (; i < count; ++i) x[i] *= scale;
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
      float* const out = op.out + t * columns;
      formats::dequantize(op.table.type, op.table.data + op.ids[t] * bytes, columns, out);
      if (op.scale != 1) scale_row(out, op.scale, columns);
    }
  });
}

float norm_factor(const float* x, float eps, std::int64_t count) {
  return 1.0F / sqrtf(sum_of_squares(x, count) / static_cast<float>(count) + eps);
}

void norm_rows(const float* x, const float* weight, float eps, std::int64_t rows, std::int64_t columns,
               float* out) {
  for (std::int64_t at = 0; at < rows * columns; at += columns) {
    const float factor = norm_factor(x + at, eps, columns);
    if (weight) {
      normalise_row(x + at, weight, factor, columns, out + at);
    } else {
      if (out != x) memcpy(out + at, x + at, static_cast<std::size_t>(columns) * sizeof(float));
      scale_row(out + at, factor, columns);
    }
  }
}

void rms_norm(const RmsNorm& op, Stream& stream) {
  const std::int64_t rows = op.columns < chunk_elements ? chunk_elements / op.columns : 1;
  on_cpu(stream).pool().for_chunks(op.rows, rows, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) {
      float* const x = op.x + row * op.columns;
      const float* const residual = op.residual ? op.residual + row * op.columns : nullptr;
      if (residual && op.residual_weight) {
        add_normed_row(x, residual, op.residual_weight, norm_factor(residual, op.residual_eps, op.columns),
                       op.columns);
      } else if (residual) {
        add_row(x, residual, op.columns);
      }
      if (residual && op.scale != 1) scale_row(x, op.scale, op.columns);
      if (op.out) norm_rows(x, op.weight, op.eps, 1, op.columns, op.out + row * op.columns);
    }
  });
}

void add(const Add& op, Stream& stream) {
  on_cpu(stream).pool().for_chunks(op.count, chunk_elements, [&](std::int64_t begin, std::int64_t end, int) {
    add_row(op.x + begin, op.y + begin, end - begin);
  });
}

// cap · tanh(x / cap) = cap (1 − 2 / (1 + e^(2 x / cap)))
void soft_cap(const SoftCap& op, Stream& stream) {
  const Floats one = set_floats(1), two = set_floats(2), cap = set_floats(op.cap);
  on_cpu(stream).pool().for_chunks(op.count, chunk_elements, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; i += lanes) {
      const Floats x = load_some(op.x + i, end - i);
      const Floats power = exp_of(multiply(x, set_floats(2 / op.cap)));
      const Floats capped = subtract(one, divide(two, add_floats(one, power)));
      store_some(op.x + i, multiply(cap, capped), end - i);
    }
  });
}

}  // namespace fovea::kernels::cpu::FOVEA_CPU_SET
