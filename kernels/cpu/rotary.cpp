#include "kernels/cpu/attention_inputs.h"
#include "kernels/cpu/vector_math.h"

namespace fovea::kernels::cpu::FOVEA_CPU_SET {
namespace {

// Sines and cosines of position · frequency for up to this many frequencies at a time.
constexpr std::int64_t batch = 64;

struct Turns {
  float cosine[batch];
  float sine[batch];
};

// The angles are formed and reduced in double: a float angle would be wrong by 6e-8 of itself, which is a lot
// at position 100,000.
void turns_of(std::int32_t position, const float* frequency, std::int64_t count, float magnitude,
              Turns& out) {
  constexpr double quarters_per_radian = 0.63661977236758134308;
  constexpr double radians_per_quarter = 1.57079632679489661923;
  float rest[batch] = {};            // −π/4 … π/4
  std::int32_t quarter[batch] = {};  // the angle is rest + quarter · π/2
  for (std::int64_t i = 0; i < count; ++i) {
    const double angle = static_cast<double>(position) * static_cast<double>(frequency[i]);
    const double turned = angle * quarters_per_radian;
    const auto nearest = static_cast<std::int64_t>(turned < 0 ? turned - 0.5 : turned + 0.5);
    rest[i] = static_cast<float>(angle - static_cast<double>(nearest) * radians_per_quarter);
    quarter[i] = static_cast<std::int32_t>(nearest & 3);
  }
  for (std::int64_t i = 0; i < count; i += lanes) {
    const Floats r = load_floats(rest + i);
    const Floats square = multiply(r, r);
    Floats sine = multiply_add(square, set_floats(-1.958792439e-4F), set_floats(8.332748516e-3F));
    sine = multiply_add(multiply(r, square), multiply_add(sine, square, set_floats(-1.666666466e-1F)), r);
    Floats cosine = multiply_add(square, set_floats(2.454386496e-5F), set_floats(-1.388827144e-3F));
    cosine = multiply_add(cosine, square, set_floats(4.166666417e-2F));
    cosine = multiply_add(multiply(square, square), cosine,
                          multiply_add(square, set_floats(-0.5F), set_floats(1)));
    store_floats(out.sine + i, multiply(sine, set_floats(magnitude)));
    store_floats(out.cosine + i, multiply(cosine, set_floats(magnitude)));
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const float s = out.sine[i];
    const float c = out.cosine[i];
    const bool swapped = (quarter[i] & 1) != 0;
    out.sine[i] = (quarter[i] & 2) != 0 ? -(swapped ? c : s) : (swapped ? c : s);
    out.cosine[i] = ((quarter[i] + 1) & 2) != 0 ? -(swapped ? s : c) : (swapped ? s : c);
  }
}

// x pairs element i of `low` with element i of `high`.
void turn_halves(float* low, float* high, std::int64_t count, const Turns& turns) {
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const Floats a = load_floats(low + i);
    const Floats b = load_floats(high + i);
    const Floats cosine = load_floats(turns.cosine + i);
    const Floats sine = load_floats(turns.sine + i);
    store_floats(low + i, subtract(multiply(a, cosine), multiply(b, sine)));
    store_floats(high + i, multiply_add(a, sine, multiply(b, cosine)));
  }
  for (; i < count; ++i) {
    const float a = low[i];
    const float b = high[i];
    low[i] = a * turns.cosine[i] - b * turns.sine[i];
    high[i] = a * turns.sine[i] + b * turns.cosine[i];
  }
}

void turn_neighbours(float* x, std::int64_t count, const Turns& turns) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float a = x[2 * i];
    const float b = x[2 * i + 1];
    x[2 * i] = a * turns.cosine[i] - b * turns.sine[i];
    x[2 * i + 1] = a * turns.sine[i] + b * turns.cosine[i];
  }
}

}  // namespace

void turn_heads(const AttentionInputs& op, std::int32_t position, float* q, float* k) {
  const std::int64_t half = op.rotary / 2;
  const std::int64_t dim = op.pages.head_dim;
  Turns turns;
  for (std::int64_t i = 0; i < half; i += batch) {
    const std::int64_t count = half - i < batch ? half - i : batch;
    turns_of(position, op.inverse_frequency + i, count, op.magnitude, turns);
    for (std::int64_t head = 0; head < op.heads + op.pages.kv_heads; ++head) {
      float* const x = head < op.heads ? q + head * dim : k + (head - op.heads) * dim;
      if (op.style == RotaryStyle::half_split) {
        turn_halves(x + i, x + half + i, count, turns);
      } else {
        turn_neighbours(x + 2 * i, count, turns);
      }
    }
  }
}

}  // namespace fovea::kernels::cpu::FOVEA_CPU_SET
