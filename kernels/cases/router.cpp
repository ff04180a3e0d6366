// Cases of router.
#include <algorithm>
#include <cmath>
#include <functional>

#include "kernels/cases/quantised.h"
#include "kernels/cases/weights.h"

namespace fovea::kernels::cases {

namespace {

constexpr double unit = 0x1p-24;  // relative rounding of a float

struct RouterShape {
  std::int64_t tokens = 1;
  std::int64_t used = 1;
  bool normalise = false;
  float scale = 1;
  bool with_quantised = false;
  bool with_bias = false;
  bool with_expert_scales = false;
};

std::span<const float> row(const std::vector<float>& x, std::int64_t token, std::int64_t columns) {
  return std::span(x).subspan(static_cast<std::size_t>(token * columns), static_cast<std::size_t>(columns));
}

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

// What each product of x may be off by.
std::vector<double> product_errors(const HostWeight& weight, std::span<const float> x) {
  const std::vector<double> exact(x.begin(), x.end());
  std::vector<double> errors = output_sigma(weight, exact, input_sigma(weight.type, exact));
  for (double& error : errors) error = 6 * error + 1e-36;
  return errors;
}

class RouterCase final : public Case {
 public:
  RouterCase(const std::string& what, HostWeight weight, HostWeight gate, std::vector<float> x,
             const RouterShape& shape, std::vector<float> bias = {})
      : s_(shape),
        weight_(std::move(weight)),
        gate_(std::move(gate)),
        x_(std::move(x)),
        bias_(std::move(bias)) {
    name = "router " + what + " " + std::to_string(s_.tokens) + " tokens, " + std::to_string(s_.used) +
           " of " + std::to_string(weight_.rows) + (s_.normalise ? ", normalised" : "") +
           (gate_.rows > 0 ? ", gate" : "") + (s_.with_quantised ? ", quantised" : "") +
           (bias_.empty() ? "" : ", bias") + (s_.with_expert_scales ? ", scales" : "");
    work.bytes = static_cast<double>(weight_.bytes.size() + gate_.bytes.size());
    work.operations = 2.0 * static_cast<double>(s_.tokens * weight_.rows * weight_.columns);
  }

  std::function<void(Stream&)> build(Memory& memory) const override {
    Router a;
    a.tokens = s_.tokens;
    a.weight = memory.weight(weight_);
    if (!bias_.empty()) a.bias = memory.input(bias_);
    std::vector<float> scales;
    for (std::int64_t e = 0; e < weight_.rows; ++e) scales.push_back(static_cast<float>(e % 7) - 1.5F);
    if (s_.with_expert_scales) a.expert_scales = memory.input(scales);
    a.used = s_.used;
    a.normalise = s_.normalise;
    a.scale = s_.scale;
    a.logits = memory.output<float>(a.tokens * weight_.rows);
    a.ids = memory.output<std::int32_t>(a.tokens * a.used);
    a.weights = memory.output<float>(a.tokens * a.used);
    if (gate_.rows > 0) {
      a.shared_gate = memory.weight(gate_);
      a.shared_weights = memory.output<float>(a.tokens);
    }
    if (s_.with_quantised) {
      const QuantisedRows given(memory, x_, weight_.columns);
      a.x = given.x();
      a.quantised = given.quantised();
      return [&memory, given, a](Stream& stream) {
        given.make(stream);
        memory.device().operations().router(a, stream);
      };
    }
    a.x = memory.input(x_);
    return [&memory, a](Stream& stream) { memory.device().operations().router(a, stream); };
  }

  // The ids are exact: where logits are not, they are further apart than their errors (apart()). A weight is
  // a quotient of exponentials: the errors of two logits, the rounding of logit − max (up to 200 here), of
  // the function and of the sum. A sigmoid has the roundings of exp, a sum and a quotient; what lies below
  // the normal floats may be flushed.
  std::vector<double> tolerance(const std::vector<float>& reference) const override {
    std::vector<double> result(reference.size(), 0.0);
    const auto weights = static_cast<std::size_t>(s_.tokens * (weight_.rows + s_.used));
    for (std::int64_t t = 0; t < s_.tokens; ++t) {
      std::vector<double> errors = product_errors(weight_, row(x_, t, weight_.columns));
      for (std::size_t e = 0; e < bias_.size(); ++e) {
        const float logit = reference[static_cast<std::size_t>(t * weight_.rows) + e];
        errors[e] += 4 * unit * (std::fabs(logit) + std::fabs(bias_[e]));
      }
      std::ranges::copy(errors, result.begin() + t * weight_.rows);
      const double largest_error = std::ranges::max(errors);
      for (std::int64_t j = 0; j < s_.used; ++j) {
        const std::size_t i = weights + static_cast<std::size_t>(t * s_.used + j);
        const double argument = std::fabs(std::log(std::fabs(reference[i]) + 1e-30));
        const double relative = std::expm1(2 * largest_error) +
                                unit * (12 + argument + std::sqrt(static_cast<double>(weight_.rows)));
        result[i] = relative * std::fabs(reference[i]) + 1e-37;
      }
      if (gate_.rows == 0) continue;
      const std::size_t shared = weights + static_cast<std::size_t>(s_.tokens * s_.used + t);
      const auto x = row(x_, t, gate_.columns);
      const double product = multiply(gate_, std::vector<double>(x.begin(), x.end())).front();
      const double error = product_errors(gate_, x).front();
      result[shared] =
          sigmoid(product + error) - sigmoid(product - error) + 6 * unit * reference[shared] + 2e-38;
    }
    return result;
  }

  // Whether the token's chosen experts and the next one are further apart than what errors may bring nearer.
  static bool apart(const HostWeight& weight, const std::vector<float>& bias, std::span<const float> x,
                    std::int64_t used) {
    std::vector<double> logits = multiply(weight, std::vector<double>(x.begin(), x.end()));
    for (std::size_t e = 0; e < bias.size(); ++e) logits[e] += bias[e];
    std::ranges::sort(logits, std::greater<>());
    const double error = std::ranges::max(product_errors(weight, x));
    for (std::int64_t j = 0; j < used && j + 1 < weight.rows; ++j) {
      const auto i = static_cast<std::size_t>(j);
      if (logits[i] - logits[i + 1] < 2.5 * error) return false;
    }
    return true;
  }

 private:
  RouterShape s_;
  HostWeight weight_;
  HostWeight gate_;
  std::vector<float> x_;
  std::vector<float> bias_;  // or empty
};

// These logits [tokens, experts] on every device and to the bit, and of the gate [tokens], or none: each
// token has one input that is not zero.
std::unique_ptr<Case> with_logits(Random& random, const std::string& what, const std::vector<float>& logits,
                                  std::int64_t experts, std::int64_t used, bool normalise,
                                  const std::vector<float>& gates = {}) {
  const std::int64_t tokens = std::ssize(logits) / experts;
  const std::int64_t columns = tokens + 3;
  HostWeight weight = random_weight(random, Type::f32, experts, columns);
  HostWeight gate;
  if (!gates.empty()) gate = random_weight(random, Type::f32, 1, columns);
  std::vector<float> x(static_cast<std::size_t>(tokens * columns), 0.0F);
  for (std::int64_t t = 0; t < tokens; ++t) {
    const std::int64_t column = (t + 2) % columns;
    x[static_cast<std::size_t>(t * columns + column)] = 1;
    for (std::int64_t e = 0; e < experts; ++e) {
      weight.values[static_cast<std::size_t>(e * columns + column)] =
          logits[static_cast<std::size_t>(t * experts + e)];
    }
    if (!gates.empty()) gate.values[static_cast<std::size_t>(column)] = gates[static_cast<std::size_t>(t)];
  }
  for (HostWeight* const each : {&weight, &gate}) {
    const std::byte* const values = reinterpret_cast<const std::byte*>(each->values.data());
    each->bytes.assign(values, values + 4 * each->values.size());
  }
  return std::make_unique<RouterCase>(what, std::move(weight), std::move(gate), std::move(x),
                                      RouterShape{tokens, used, normalise, normalise ? 2.5F : 1.0F});
}

std::unique_ptr<Case> with_weights(Random& random, Type type, Type gate, std::int64_t experts,
                                   std::int64_t columns, bool shared, const RouterShape& shape) {
  HostWeight weight = random_weight(random, type, experts, columns);
  std::vector<float> bias;
  if (shape.with_bias) bias = normals(random, experts, 20);
  std::vector<float> x;
  for (std::int64_t t = 0; t < shape.tokens; ++t) {
    std::vector<float> token;
    do {
      token = normals(random, columns, 2);
      if (shape.with_quantised) token = unit_rows(std::move(token), columns);
    } while (!RouterCase::apart(weight, bias, token, shape.used));
    x.insert(x.end(), token.begin(), token.end());
  }
  return std::make_unique<RouterCase>(
      std::string(type_name(type)) + (shared ? " and " + std::string(type_name(gate)) : std::string()),
      std::move(weight), shared ? random_weight(random, gate, 1, columns) : HostWeight{}, std::move(x), shape,
      std::move(bias));
}

}  // namespace

void add_router_sweep(Cases& cases, Random& random) {
  for (const bool normalise : {false, true}) {
    const auto add = [&](const std::string& what, const std::vector<float>& logits, std::int64_t experts,
                         std::int64_t used) {
      cases.push_back(with_logits(random, what, logits, experts, used, normalise));
    };
    add("random", normals(random, 1 * 8, 2), 8, 2);
    add("random", normals(random, 3 * 60, 2), 60, 4);
    add("random", normals(random, 70 * 128, 2), 128, 8);
    add("random", normals(random, 2 * 512, 2), 512, 10);
    add("odd", normals(random, 5 * 17, 2), 17, 17);
    add("one expert", normals(random, 2, 2), 1, 1);
    add("all equal", std::vector<float>(3 * 21, 0.25F), 21, 5);
    std::vector<float> ties = normals(random, 6 * 64, 2);
    for (float& value : ties) value = std::round(value);  // many equal logits
    add("ties", ties, 64, 9);
    add("far apart", normals(random, 4 * 32, 60), 32, 4);
    add("far apart", normals(random, 40 * 32, 60), 32, 4);
  }
  const std::vector<float> far_out = {0,      -0.0F,   20, -20, 87,  -87,  1e6F,  -3e38F,
                                      1e-42F, -1e-40F, 89, -89, 104, -104, -1e6F, 3e38F};
  for (const std::size_t tokens : {far_out.size() / 2, far_out.size()}) {
    const std::vector<float> gates(far_out.begin(), far_out.begin() + static_cast<std::ptrdiff_t>(tokens));
    cases.push_back(
        with_logits(random, "gate far out", normals(random, std::ssize(gates) * 12), 12, 3, true, gates));
  }
  for (const auto& [type, gate] : {std::pair{Type::f32, Type::f32},
                                   {Type::f32, Type::q8_0},
                                   {Type::bf16, Type::f16},
                                   {Type::f16, Type::q4_k},
                                   {Type::q8_0, Type::f32},
                                   {Type::q6_k, Type::q6_k}}) {
    for (const std::int64_t tokens : {1, 3, 8, 9, 21}) {
      const bool shared = tokens != 3;
      cases.push_back(with_weights(random, type, gate, 24, 512, shared, {tokens, 3, tokens % 2 == 0, 1.5F}));
    }
  }
  for (const std::int64_t tokens : {1, 8, 9}) {
    cases.push_back(with_weights(random, Type::q8_0, Type::q8_0, 24, 512, true, {tokens, 2, true, 1, true}));
  }
  for (const Type type : {Type::f32, Type::bf16, Type::q8_0}) {
    for (const std::int64_t tokens : {1, 8, 9}) {
      cases.push_back(
          with_weights(random, type, type, 32, 512, tokens == 8, {tokens, 4, tokens != 9, 1, false, true}));
    }
  }
  for (const std::int64_t tokens : {1, 8, 9}) {
    cases.push_back(with_weights(random, Type::f32, Type::f32, 24, 96, false,
                                 {tokens, 5, true, 1.5F, false, false, true}));
  }
  // An odd number of columns.
  cases.push_back(with_weights(random, Type::f32, Type::f32, 60, 129, true, {2, 4, true, 1}));
  cases.push_back(with_weights(random, Type::bf16, Type::bf16, 10, 77, true, {1, 2, false, 1}));
}

void add_router_benchmarks(Benchmarks& all) {
  // Qwen3-30B-A3B, decoding and one chunk of prefill.
  for (const std::int64_t tokens : {1, 512}) {
    const auto make = [tokens]() -> std::unique_ptr<Case> {
      Random random(6);
      HostWeight weight = random_weight(random, Type::f32, 128, 2048);
      return std::make_unique<RouterCase>("F32 d 2048", std::move(weight), HostWeight{},
                                          normals(random, tokens * 2048), RouterShape{tokens, 8, true, 1});
    };
    all.push_back({"router F32 d 2048 " + std::to_string(tokens) + " tokens, 8 of 128, normalised", make});
  }
}

}  // namespace fovea::kernels::cases
