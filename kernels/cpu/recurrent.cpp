// What mixes positions by a state: the short convolution and the gated delta rule; and the gate of attention.
//
// A few tokens go through the state one by one. Many are taken 64 at a time (Yang et al. 2025, §3.3): with
// G_i the sum of g up to token i of a chunk, the corrections u of all its tokens solve
//   (1 + M) u = β (v − e^{G_i} Sᵀ k_i),  M_ij = β_i e^{G_i − G_j} (k_i · k_j) below the diagonal,
// and then o = e^{G_i} Sᵀ q_i + Σ_{j ≤ i} e^{G_i − G_j} (q_i · k_j) u_j and S ← e^{G} S + Σ e^{G − G_j} k_j
// u_jᵀ: products of small matrices, and the state is read and written once for all of them.
#include <math.h>

#include "kernels/cpu/operations.h"
#include "kernels/cpu/small_product.h"
#include "kernels/cpu/stream.h"
#include "kernels/cpu/vector_math.h"

namespace fovea::kernels::cpu::FOVEA_CPU_SET {
namespace {

constexpr std::int64_t chunk = recurrent_chunk;
// From so many tokens on a chunk is worth its products.
constexpr std::int64_t few_tokens = 8;
// Rows of the triangular system that are solved one by one; those before them by a product.
constexpr std::int64_t solved_rows = 8;

float softplus(float x) {
  return x > 20 ? x : log1pf(expf(x));
}

std::int64_t whole_vectors(std::int64_t count) {
  return (count + lanes - 1) / lanes * lanes;
}

float sum_of_squares(const float* x, std::int64_t count) {
  Floats sum = set_floats(0);
  for (std::int64_t i = 0; i < count; i += lanes) {
    const Floats v = load_some(x + i, count - i);
    sum = multiply_add(v, v, sum);
  }
  return sum_of(sum);
}

// One value head, in memory of its thread.
class DeltaHead {
 public:
  // Rows of k and q are `keys` floats apart, those of values and of the state `wide`.
  static std::int64_t floats(const GatedDelta& op) {
    const std::int64_t wide = whole_vectors(op.value_dim);
    return (3 * op.key_dim + 2 * wide + 2 * chunk + 7) * chunk + op.key_dim * wide;
  }

  DeltaHead(const GatedDelta& op, std::int64_t head, float* memory)
      : op_(op),
        head_(head),
        keys_(op.key_dim),
        wide_(whole_vectors(op.value_dim)),
        stored_(op.state + head * op.key_dim * op.value_dim) {
    const auto take = [&memory](std::int64_t count) {
      float* const taken = memory;
      memory += count;
      return taken;
    };
    q_ = take(chunk * keys_);
    k_ = take(chunk * keys_);
    turned_k_ = take(keys_ * chunk);
    u_ = take(chunk * wide_);
    o_ = take(chunk * wide_);
    system_ = take(chunk * chunk);
    scores_ = take(chunk * chunk);
    decays_ = take(chunk);
    apart_ = take(chunk);
    sums_ = reinterpret_cast<double*>(take(2 * chunk));
    grown_ = take(chunk);
    betas_ = take(chunk);
    left_ = take(chunk);
    state_ = take(keys_ * wide_);
    if (wide_ == op.value_dim) {
      state_ = stored_;
    } else {
      for (std::int64_t i = 0; i < keys_; ++i)
        copy_padded(stored_ + i * op.value_dim, op.value_dim, wide_, state_ + i * wide_);
    }
  }

  void run() {
    // What is left over goes one by one as well, so that the same tokens give the same state in one pass or,
    // divided at multiples of a chunk, in several.
    std::int64_t t = 0;
    for (; op_.tokens - t >= few_tokens; t += chunk)
      step_chunk(t, op_.tokens - t < chunk ? op_.tokens - t : chunk);
    for (; t < op_.tokens; ++t) step(t);
    if (state_ == stored_) return;
    for (std::int64_t i = 0; i < keys_; ++i)
      memcpy(stored_ + i * op_.value_dim, state_ + i * wide_,
             static_cast<std::size_t>(op_.value_dim) * sizeof(float));
  }

 private:
  static void copy_padded(const float* from, std::int64_t count, std::int64_t wide, float* to) {
    for (std::int64_t i = 0; i < count; i += lanes) store_floats(to + i, load_some(from + i, count - i));
    for (std::int64_t i = whole_vectors(count); i < wide; i += lanes) store_floats(to + i, set_floats(0));
  }

  // A head of q or k at this length.
  void load_unit(const float* from, float length, float* to) const {
    const float factor = length / sqrtf(sum_of_squares(from, keys_) + 1e-6F);
    for (std::int64_t i = 0; i < keys_; i += lanes)
      store_some(to + i, multiply(load_some(from + i, keys_ - i), set_floats(factor)), keys_ - i);
  }

  // Row `row` of q, k and u = v, its g and β.
  void load_token(std::int64_t token, std::int64_t row) {
    const std::int64_t all_keys = op_.key_heads * keys_;
    const std::int64_t head = head_ / op_.sharing % op_.key_heads * keys_;
    const float* const from = op_.qkv + token * (2 * all_keys + op_.value_heads * op_.value_dim);
    load_unit(from + head, 1 / sqrtf(static_cast<float>(keys_)), q_ + row * keys_);
    load_unit(from + all_keys + head, 1, k_ + row * keys_);
    copy_padded(from + 2 * all_keys + head_ * op_.value_dim, op_.value_dim, wide_, u_ + row * wide_);
    const std::int64_t ab = token * op_.ab_stride + head_ + head_ / op_.ab_group * op_.ab_group;
    decays_[row] = op_.rate[head_] * softplus(op_.a[ab] + op_.step_bias[head_]);
    betas_[row] = 1 / (1 + expf(-op_.b[ab]));
  }

  // o_ row → out
  void write(std::int64_t token, std::int64_t row) const {
    const std::int64_t count = op_.value_dim;
    const std::int64_t at = (token * op_.value_heads + head_) * count;
    const float* const o = o_ + row * wide_;
    const float mean = sum_of_squares(o, count) / static_cast<float>(count);
    const Floats factor = set_floats(1 / sqrtf(mean + op_.eps));
    for (std::int64_t i = 0; i < count; i += lanes) {
      const Floats normed =
          multiply(multiply(load_floats(o + i), factor), load_some(op_.norm + i, count - i));
      store_some(op_.out + at + i, multiply(normed, silu_of(load_some(op_.z + at + i, count - i))),
                 count - i);
    }
  }

  // --- token by token ---

  // Two vectors of columns at a time: what the state recalls of k; then the state goes on, and q reads it.
  void step(std::int64_t token) {
    load_token(token, 0);
    const Floats decay = set_floats(expf(decays_[0])), beta = set_floats(betas_[0]);
    for (std::int64_t j = 0; j < wide_; j += lanes) {
      float* const column = state_ + j;
      Floats recalled[2] = {set_floats(0), set_floats(0)};
      std::int64_t i = 0;
      for (; i + 2 <= keys_; i += 2) {
        recalled[0] = multiply_add(load_floats(column + i * wide_), set_floats(k_[i]), recalled[0]);
        recalled[1] = multiply_add(load_floats(column + (i + 1) * wide_), set_floats(k_[i + 1]), recalled[1]);
      }
      if (i < keys_)
        recalled[0] = multiply_add(load_floats(column + i * wide_), set_floats(k_[i]), recalled[0]);
      const Floats before = multiply(add_floats(recalled[0], recalled[1]), decay);
      const Floats u = multiply(beta, subtract(load_floats(u_ + j), before));
      Floats o = set_floats(0);
      for (i = 0; i < keys_; ++i) {
        const Floats kept = multiply(load_floats(column + i * wide_), decay);
        const Floats next = multiply_add(u, set_floats(k_[i]), kept);
        store_floats(column + i * wide_, next);
        o = multiply_add(next, set_floats(q_[i]), o);
      }
      store_floats(o_ + j, o);
    }
    write(token, 0);
  }

  // --- 64 at a time ---

  void step_chunk(std::int64_t first, std::int64_t tokens) {
    const std::int64_t rows = (tokens + product_rows - 1) / product_rows * product_rows;
    load_chunk(first, tokens, rows);
    form_system(rows);

    // o = e^{G_i} Sᵀ q_i,  u = β (v − e^{G_i} Sᵀ k_i)
    fill(o_, rows * wide_);
    add_product(k_, keys_, state_, wide_, rows, keys_, wide_, o_, wide_);
    for (std::int64_t i = 0; i < rows; ++i) {
      const Floats grown = set_floats(-grown_[i]), beta = set_floats(betas_[i]);
      float* const u = u_ + i * wide_;
      for (std::int64_t j = 0; j < wide_; j += lanes) {
        const Floats error = multiply_add(load_floats(o_ + i * wide_ + j), grown, load_floats(u + j));
        store_floats(u + j, multiply(beta, error));
      }
    }
    solve(rows);

    for (std::int64_t i = 0; i < rows; ++i) scale(q_ + i * keys_, keys_, grown_[i]);
    fill(o_, rows * wide_);
    add_product(q_, keys_, state_, wide_, rows, keys_, wide_, o_, wide_);
    for (std::int64_t i = 0; i < rows; i += product_rows)
      add_product(scores_ + i * chunk, chunk, u_, wide_, product_rows, i + product_rows, wide_,
                  o_ + i * wide_, wide_);

    // S ← e^{G} S + Σ e^{G − G_j} k_j u_jᵀ
    const Floats kept = set_floats(grown_[rows - 1]);
    std::int64_t i = 0;
    for (; i < keys_; ++i) {
      for (std::int64_t j = 0; j < wide_; j += lanes)
        store_floats(state_ + i * wide_ + j, multiply(load_floats(state_ + i * wide_ + j), kept));
      for (std::int64_t j = 0; j < rows; j += lanes)
        store_some(turned_k_ + i * chunk + j,
                   multiply(load_some(turned_k_ + i * chunk + j, rows - j), load_some(left_ + j, rows - j)),
                   rows - j);
    }
    const std::int64_t whole = keys_ / product_rows * product_rows;
    add_product(turned_k_, chunk, u_, wide_, whole, rows, wide_, state_, wide_);
    for (i = whole; i < keys_; ++i) {
      for (std::int64_t r = 0; r < rows; ++r)
        add_row(u_ + r * wide_, turned_k_[i * chunk + r], state_ + i * wide_);
    }
    for (std::int64_t t = 0; t < tokens; ++t) write(first + t, t);
  }

  static void fill(float* x, std::int64_t count) {
    memset(x, 0, static_cast<std::size_t>(count) * sizeof(float));
  }
  static void scale(float* x, std::int64_t count, float factor) {
    for (std::int64_t i = 0; i < count; i += lanes)
      store_some(x + i, multiply(load_some(x + i, count - i), set_floats(factor)), count - i);
  }
  // to += factor · x   [wide]
  void add_row(const float* x, float factor, float* to) const {
    for (std::int64_t j = 0; j < wide_; j += lanes)
      store_floats(to + j, multiply_add(set_floats(factor), load_floats(x + j), load_floats(to + j)));
  }

  // q, k, kᵀ, v, β, and G: its sums in sums_, e^{G_i} in grown_, e^{G − G_i} in left_. Rows behind the last
  // token are zeros and let everything pass.
  void load_chunk(std::int64_t first, std::int64_t tokens, std::int64_t rows) {
    double sum = 0;  // a float would lose what a token forgets behind one that forgets all
    for (std::int64_t i = 0; i < rows; ++i) {
      if (i < tokens) {
        load_token(first + i, i);
        sum += decays_[i];
      } else {
        fill(q_ + i * keys_, keys_);
        fill(k_ + i * keys_, keys_);
        fill(u_ + i * wide_, wide_);
        betas_[i] = 0;
      }
      sums_[i] = sum;
      grown_[i] = expf(static_cast<float>(sum));
      for (std::int64_t j = 0; j < keys_; ++j) turned_k_[j * chunk + i] = k_[i * keys_ + j];
    }
    for (std::int64_t i = 0; i < rows; ++i) left_[i] = expf(static_cast<float>(sum - sums_[i]));
  }

  // system_ = −M, scores_ = e^{G_i − G_j} (q_i · k_j), zeros above their diagonals.
  void form_system(std::int64_t rows) {
    fill(system_, chunk * chunk);
    fill(scores_, chunk * chunk);
    for (std::int64_t i = 0; i < rows; i += product_rows) {
      const std::int64_t columns = whole_vectors(i + product_rows);
      add_product(k_ + i * keys_, keys_, turned_k_, chunk, product_rows, keys_, columns, system_ + i * chunk,
                  chunk);
      add_product(q_ + i * keys_, keys_, turned_k_, chunk, product_rows, keys_, columns, scores_ + i * chunk,
                  chunk);
    }
    for (std::int64_t i = 0; i < rows; ++i) {
      float* const system = system_ + i * chunk;
      float* const scores = scores_ + i * chunk;
      for (std::int64_t j = 0; j <= i; ++j) apart_[j] = static_cast<float>(sums_[i] - sums_[j]);
      for (std::int64_t j = 0; j < i + 1; j += lanes) {
        const Floats factor = exp_of(load_floats(apart_ + j));
        store_floats(scores + j, multiply(load_floats(scores + j), factor));
        store_floats(system + j, multiply(load_floats(system + j), multiply(factor, set_floats(-betas_[i]))));
      }
      for (std::int64_t j = i; j < chunk; ++j) {
        system[j] = 0;
        if (j > i) scores[j] = 0;
      }
    }
  }

  // u ← (1 + M)⁻¹ u
  void solve(std::int64_t rows) {
    static_assert(solved_rows % product_rows == 0);
    for (std::int64_t begin = 0; begin < rows; begin += solved_rows) {
      const std::int64_t end = begin + solved_rows < rows ? begin + solved_rows : rows;
      add_product(system_ + begin * chunk, chunk, u_, wide_, end - begin, begin, wide_, u_ + begin * wide_,
                  wide_);
      for (std::int64_t i = begin + 1; i < end; ++i) {
        for (std::int64_t j = begin; j < i; ++j)
          add_row(u_ + j * wide_, system_[i * chunk + j], u_ + i * wide_);
      }
    }
  }

  const GatedDelta& op_;
  const std::int64_t head_, keys_, wide_;
  float* const stored_;
  float *q_, *k_, *turned_k_, *u_, *o_, *system_, *scores_, *decays_, *apart_, *grown_, *betas_, *left_,
      *state_;
  double* sums_;
};

// Channels that are convolved together: pieces of rows, so that a page of memory is not one element's.
constexpr std::int64_t convolved = 256;

// Channels [begin, end), from the last token back: what a row reads is not yet overwritten.
void convolve(const ShortConvolution& op, std::int64_t begin, std::int64_t end) {
  const std::int64_t before = op.positions - 1, count = end - begin;
  float weights[max_convolution][convolved] = {};
  for (std::int64_t c = 0; c < count; ++c) {
    for (std::int64_t i = 0; i < op.positions; ++i) weights[i][c] = op.weight[(begin + c) * op.positions + i];
  }
  // Row t of the state and the tokens behind each other.
  const auto row = [&](std::int64_t t) {
    return (t < before ? op.state + t * op.channels : op.x + (t - before) * op.channels) + begin;
  };
  float next[max_convolution][convolved];
  const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(float);
  for (std::int64_t i = 0; i < before; ++i) memcpy(next[i], row(op.tokens + i), bytes);
  for (std::int64_t t = op.tokens - 1; t >= 0; --t) {
    const float* from[max_convolution];
    for (std::int64_t i = 0; i < op.positions; ++i) from[i] = row(t + i);
    float* const out = op.x + t * op.channels + begin;
    for (std::int64_t c = 0; c < count; c += lanes) {
      Floats sum = set_floats(0);
      for (std::int64_t i = 0; i < op.positions; ++i)
        sum = multiply_add(load_floats(weights[i] + c), load_some(from[i] + c, count - c), sum);
      store_some(out + c, silu_of(sum), count - c);
    }
  }
  for (std::int64_t i = 0; i < before; ++i) memcpy(op.state + i * op.channels + begin, next[i], bytes);
}

}  // namespace

void gating(const Gating& op, Stream& stream) {
  constexpr std::int64_t chunk_elements = 16384;
  const std::int64_t rows = op.columns < chunk_elements ? chunk_elements / op.columns : 1;
  on_cpu(stream).pool().for_chunks(op.rows, rows, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) {
      float* const x = op.x + row * op.columns;
      const float* const gate = op.gate + row * op.gate_stride;
      for (std::int64_t i = 0; i < op.columns; i += lanes) {
        const std::int64_t count = op.columns - i;
        const Floats value = load_some(x + i, count), factor = load_some(gate + i, count);
        const Floats gated = op.form == GatingForm::sigmoid ? multiply(value, sigmoid_of(factor))
                                                            : multiply(gelu_of(value), factor);
        store_some(x + i, gated, count);
      }
    }
  });
}

void short_convolution(const ShortConvolution& op, Stream& stream) {
  // Of a few tokens more pieces at a time, so that they are worth a thread.
  const std::int64_t grain = op.tokens < few_tokens ? 8 * convolved : convolved;
  on_cpu(stream).pool().for_chunks(op.channels, grain, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t c = begin; c < end; c += convolved)
      convolve(op, c, end - c < convolved ? end : c + convolved);
  });
}

void gated_delta(const GatedDelta& op, Stream& stream) {
  CpuStream& cpu = on_cpu(stream);
  const std::int64_t each = (DeltaHead::floats(op) + 15) / 16 * 16;
  auto* const memory = reinterpret_cast<float*>(
      cpu.scratch(cpu.pool().threads() * each * static_cast<std::int64_t>(sizeof(float))));
  cpu.pool().for_chunks(op.value_heads, 1, [&](std::int64_t begin, std::int64_t end, int thread) {
    for (std::int64_t head = begin; head < end; ++head) DeltaHead(op, head, memory + thread * each).run();
  });
}

}  // namespace fovea::kernels::cpu::FOVEA_CPU_SET
