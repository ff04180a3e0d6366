// Cases of feed_forward.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "kernels/cases/normed.h"
#include "kernels/cases/quantised.h"
#include "kernels/cases/weights.h"

namespace fovea::kernels::cases {

namespace {

struct HostExpert {
  HostWeight gate;
  HostWeight up;
  HostWeight down;
  Activation activation = Activation::silu;
  std::vector<float> gate_bias = {}, up_bias = {}, down_bias = {};  // or empty

  double bytes() const {
    return static_cast<double>(gate.bytes.size() + up.bytes.size() + down.bytes.size());
  }
  double weights() const { return static_cast<double>(gate.rows * gate.columns * 3); }
};

struct Estimate {
  std::vector<double> value;
  std::vector<double> sigma;
};

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

// The two factors of an activation (Activation): of the gate, and of the up-projection.
double of_gate(Activation activation, double g) {
  switch (activation) {
    case Activation::gelu_tanh:
      return g * sigmoid(2 * std::sqrt(2 / std::numbers::pi) * (g + 0.044715 * g * g * g));
    case Activation::clamped_silu:
      g = std::min<double>(g, clamped_silu_limit);
      return g * sigmoid(clamped_silu_alpha * g);
    case Activation::silu:
      break;
  }
  return g * sigmoid(g);
}
double of_up(Activation activation, double u) {
  return activation == Activation::clamped_silu
             ? std::clamp<double>(u, -clamped_silu_limit, clamped_silu_limit) + 1
             : u;
}

// Adds the bias, and to sigma the rounding of the sum.
Estimate with_bias(Estimate product, const std::vector<float>& bias) {
  for (std::size_t i = 0; i < bias.size(); ++i) {
    product.value[i] += bias[i];
    product.sigma[i] += 0x1p-22 * (std::fabs(product.value[i]) + std::fabs(bias[i]));
  }
  return product;
}

// One expert's output and its sigma, by the error model of weights.h: x is rounded before gate and up, the
// product of their two factors carries both errors (the gate's slope is at most 1.13) and is rounded again
// before down.
Estimate estimate(const HostExpert& expert, const std::vector<double>& x) {
  const auto product = [&x](const HostWeight& weight, const std::vector<float>& bias) {
    return with_bias({multiply(weight, x), output_sigma(weight, x, input_sigma(weight.type, x))}, bias);
  };
  const Estimate gate = product(expert.gate, expert.gate_bias);
  const Estimate up = product(expert.up, expert.up_bias);
  std::vector<double> hidden(gate.value.size());
  std::vector<double> from(hidden.size());
  for (std::size_t i = 0; i < hidden.size(); ++i) {
    const double g = of_gate(expert.activation, gate.value[i]), u = of_up(expert.activation, up.value[i]);
    hidden[i] = g * u;
    const double from_gate = 1.13 * gate.sigma[i] * (std::fabs(u) + up.sigma[i]);
    const double from_up = std::fabs(g) * up.sigma[i];
    from[i] = from_gate * from_gate + from_up * from_up;
  }
  std::vector<double> sigma = input_sigma(expert.down.type, hidden);
  for (std::size_t i = 0; i < hidden.size(); ++i)
    sigma[i] = std::sqrt(sigma[i] * sigma[i] + from[i]) + 0x1p-22 * std::fabs(hidden[i]);
  return with_bias({multiply(expert.down, hidden), output_sigma(expert.down, hidden, sigma)},
                   expert.down_bias);
}

class FeedForwardCase final : public Case {
 public:
  std::int64_t tokens = 0;
  std::int64_t d = 0;
  std::int64_t used = 0;
  std::vector<float> x;
  std::vector<HostExpert> experts;
  std::vector<bool> elsewhere;  // [experts] without data here; or empty
  std::vector<std::int32_t> ids;
  std::vector<float> weights;
  std::vector<HostExpert> shared;     // none or one
  std::vector<float> shared_weights;  // or empty
  bool with_quantised = false;
  std::optional<NormedOutput> then;

  void finish(const std::string& what) {
    name = "feed_forward " + what;
    std::vector<bool> touched(experts.size());
    for (const std::int32_t id : ids) touched[static_cast<std::size_t>(id)] = true;
    for (std::size_t i = 0; i < experts.size(); ++i) work.bytes += touched[i] ? experts[i].bytes() : 0;
    for (const std::int32_t id : ids) work.operations += 2 * experts[static_cast<std::size_t>(id)].weights();
    for (const HostExpert& expert : shared) {
      work.bytes += expert.bytes();
      work.operations += 2 * expert.weights() * static_cast<double>(tokens);
    }
  }

  std::function<void(Stream&)> build(Memory& memory) const override {
    const auto upload = [&memory](const HostExpert& expert) {
      const auto bias = [&memory](const std::vector<float>& values) {
        return values.empty() ? nullptr : memory.input(values);
      };
      return Expert{memory.weight(expert.gate), memory.weight(expert.up), memory.weight(expert.down),
                    expert.activation,          bias(expert.gate_bias),   bias(expert.up_bias),
                    bias(expert.down_bias)};
    };
    std::vector<Expert> uploaded;
    for (std::size_t e = 0; e < experts.size(); ++e) {
      uploaded.push_back(upload(experts[e]));
      if (!elsewhere.empty() && elsewhere[e])
        uploaded.back().gate.data = uploaded.back().up.data = uploaded.back().down.data = nullptr;
    }
    std::vector<Expert> uploaded_shared;
    for (const HostExpert& expert : shared) uploaded_shared.push_back(upload(expert));
    FeedForward a;
    if (!memory.device().memory_is_host()) a.table = memory.table(uploaded);
    a.out = memory.output<float>(tokens * d);
    std::optional<QuantisedRows> given;
    if (with_quantised) given.emplace(memory, x, d);
    const NormedOutput::Built behind = then ? then->build(memory, a.out, &x) : NormedOutput::Built{};
    a.then = behind.norm;
    a.x = given ? given->x() : a.then.out ? a.then.out : memory.input(x);
    if (given) a.quantised = given->quantised();
    a.tokens = tokens;
    a.d = d;
    a.used = used;
    if (used > 0) {
      a.ids = memory.input(ids);
      a.weights = memory.input(weights);
    }
    if (!shared_weights.empty()) a.shared_weights = memory.input(shared_weights);
    return [&memory, a, given, behind, uploaded, uploaded_shared](Stream& stream) {
      if (given) given->make(stream);
      FeedForward arguments = a;
      arguments.experts = uploaded;
      arguments.shared = uploaded_shared.empty() ? nullptr : uploaded_shared.data();
      memory.device().operations().feed_forward(arguments, stream);
      behind.read(stream);
    };
  }

  std::vector<double> tolerance(const std::vector<float>& reference) const override {
    std::vector<double> result;
    for (std::int64_t t = 0; t < tokens; ++t) {
      const std::vector<double> row(x.begin() + t * d, x.begin() + (t + 1) * d);
      std::vector<double> squares(static_cast<std::size_t>(d), 0.0);
      std::vector<double> sums(static_cast<std::size_t>(d), 0.0);
      const auto add = [&](const HostExpert& expert, double weight) {
        const Estimate part = estimate(expert, row);
        for (std::size_t i = 0; i < squares.size(); ++i) {
          squares[i] += std::pow(weight * part.sigma[i], 2);
          sums[i] += std::fabs(weight * part.value[i]);
        }
      };
      for (std::int64_t j = 0; j < used; ++j) {
        const auto at = static_cast<std::size_t>(t * used + j);
        if (!elsewhere.empty() && elsewhere[static_cast<std::size_t>(ids[at])]) continue;
        add(experts[static_cast<std::size_t>(ids[at])], weights[at]);
      }
      for (const HostExpert& expert : shared) {
        add(expert, shared_weights.empty() ? 1 : shared_weights[static_cast<std::size_t>(t)]);
      }
      for (std::size_t i = 0; i < squares.size(); ++i) {
        result.push_back(6 * std::sqrt(squares[i]) + 0x1p-22 * sums[i] + 1e-36);
      }
    }
    if (then) then->add_tolerances(reference, result);
    return result;
  }
};

using MakeWeight = std::function<HostWeight(Type, std::int64_t rows, std::int64_t columns)>;

HostExpert make_expert(const MakeWeight& make, Type in, Type out, std::int64_t d, std::int64_t width) {
  return {make(in, width, d), make(in, width, d), make(out, d, width)};
}

std::string label(Type type) {
  return std::string(type_name(type));
}

// Gate and up of different types, as no packer makes them but a file may have them.
void unlike(FeedForwardCase& one, Random& random, Type up) {
  for (HostExpert& expert : one.experts)
    expert.up = random_weight(random, up, expert.up.rows, expert.up.columns);
  one.name += ", up " + label(up);
}

// Distinct experts for each token, none of them expert 1, so that one expert has no tokens.
void choose(FeedForwardCase& one, Random& random) {
  const std::size_t count = one.experts.size();
  for (std::int64_t t = 0; t < one.tokens; ++t) {
    std::vector<std::int32_t> order;
    for (std::size_t i = 0; i < count; ++i) {
      if (i != 1 || count == 1) order.push_back(static_cast<std::int32_t>(i));
    }
    for (std::int64_t j = 0; j < one.used; ++j) {
      const auto at = static_cast<std::size_t>(j);
      std::swap(order[at], order[at + random() % (order.size() - at)]);
      one.ids.push_back(order[at]);
      one.weights.push_back(0.05F + static_cast<float>(random() % 1000) / 1000.0F);
    }
  }
}

struct Shape {
  std::int64_t experts;
  std::int64_t used;
  std::int64_t d;
  std::int64_t width;
  std::int64_t tokens;
  bool with_shared;
  bool with_shared_weights;
};

std::string text(const Shape& s) {
  return std::to_string(s.experts) + " experts, " + std::to_string(s.used) + " used, d " +
         std::to_string(s.d) + ", width " + std::to_string(s.width) + ", " + std::to_string(s.tokens) +
         " tokens" + (s.with_shared ? s.with_shared_weights ? ", weighted shared" : ", shared" : "");
}

using Types = std::vector<std::pair<Type, Type>>;  // of gate and up, of down

std::string text(const Types& types, const Shape& shape) {
  const std::string names =
      types.size() > 1 ? "mixed types" : label(types[0].first) + "/" + label(types[0].second);
  return names + " " + text(shape);
}

// Experts take the types in turn.
std::unique_ptr<Case> make_case(Random& random, const MakeWeight& make, const Types& types, const Shape& s) {
  auto one = std::make_unique<FeedForwardCase>();
  one->tokens = s.tokens;
  one->d = s.d;
  one->used = s.used;
  one->x = normals(random, s.tokens * s.d);
  for (std::int64_t i = 0; i < s.experts; ++i) {
    const auto [in, out] = types[static_cast<std::size_t>(i) % types.size()];
    one->experts.push_back(make_expert(make, in, out, s.d, s.width));
  }
  choose(*one, random);
  const auto [in, out] = types[0];
  // Wider than the experts where there are any.
  if (s.with_shared)
    one->shared.push_back(make_expert(make, in, out, s.d, s.width + (s.experts > 0 ? 256 : 0)));
  if (s.with_shared_weights) one->shared_weights = normals(random, s.tokens);
  one->finish(text(types, s));
  return one;
}

void add_case(Cases& cases, Random& random, const Types& types, const Shape& shape) {
  const MakeWeight make = [&random](Type type, std::int64_t rows, std::int64_t columns) {
    return random_weight(random, type, rows, columns);
  };
  cases.push_back(make_case(random, make, types, shape));
}

// The last `count` experts are another device's.
void take_away(Cases& cases, std::int64_t count) {
  auto& one = static_cast<FeedForwardCase&>(*cases.back());
  one.elsewhere.resize(one.experts.size());
  std::fill_n(one.elsewhere.rbegin(), count, true);
  one.name += ", " + std::to_string(count) + " elsewhere";
}

// Every expert of the last case computes so, with biases large enough that some values meet the limit.
void activate(Cases& cases, Random& random, Activation activation, bool biases) {
  auto& one = static_cast<FeedForwardCase&>(*cases.back());
  const auto change = [&](HostExpert& expert) {
    expert.activation = activation;
    if (!biases) return;
    expert.gate_bias = normals(random, expert.gate.rows, 2);
    expert.up_bias = normals(random, expert.up.rows, 2);
    expert.down_bias = normals(random, expert.down.rows);
  };
  std::ranges::for_each(one.experts, change);
  std::ranges::for_each(one.shared, change);
  one.name += activation == Activation::gelu_tanh ? ", gelu"
              : activation == Activation::silu    ? ""
                                                  : ", clamped";
  if (biases) one.name += ", biases";
}

void give_quantised(Cases& cases) {
  auto& one = static_cast<FeedForwardCase&>(*cases.back());
  one.with_quantised = true;
  one.x = unit_rows(std::move(one.x), one.d);
  one.name += ", quantised";
}

void add_norm(Cases& cases, Random& random, const NormedForm& form) {
  auto& one = static_cast<FeedForwardCase&>(*cases.back());
  one.then.emplace(random, one.tokens, one.d, form);
  one.name += one.then->what();
}

}  // namespace

void add_feed_forward_sweep(Cases& cases, Random& random) {
  for (const Type type : all_types) {
    const bool plain = block_shape(type).elements == 1;
    const std::int64_t d = plain ? 45 : 256;
    const std::int64_t width = plain ? 19 : block_shape(type).elements == 32 ? 96 : 256;
    add_case(cases, random, {{type, type}}, {5, 2, d, width, 1, false, false});
    add_case(cases, random, {{type, type}}, {5, 2, d, width, 13, true, true});
    for (const std::int64_t tokens : {3, 11})  // a dense layer
      add_case(cases, random, {{type, type}}, {0, 0, d, width, tokens, true, false});
  }
  // Different types for gate/up and down, as GGUF files have them, and across experts.
  add_case(cases, random, {{Type::q4_k, Type::q6_k}}, {4, 3, 512, 256, 2, true, false});
  add_case(cases, random, {{Type::q4_0, Type::q4_1}}, {8, 2, 64, 160, 40, false, false});
  const Types mixed = {{Type::q4_k, Type::q6_k},
                       {Type::f32, Type::bf16},
                       {Type::q8_0, Type::q8_0},
                       {Type::mxfp4, Type::q2_k},
                       {Type::f16, Type::iq4_nl}};
  add_case(cases, random, mixed, {7, 3, 256, 256, 1, true, true});
  add_case(cases, random, mixed, {7, 3, 256, 256, 21, true, true});
  add_case(cases, random, {{Type::q4_0, Type::q4_0}},
           {1, 1, 32, 32, 70, false, false});  // everything to one expert
  add_case(cases, random, {{Type::q8_0, Type::q8_0}},
           {64, 8, 64, 32, 5, false, false});  // more experts than tokens
  // More than the scratch memory holds at once.
  add_case(cases, random, {{Type::q8_0, Type::q8_0}}, {9, 8, 512, 32, 230, false, false});
  for (const auto& [gate, up] : {std::pair{Type::q4_0, Type::q2_k},
                                 {Type::q6_k, Type::q4_k},
                                 {Type::f32, Type::q8_0},
                                 {Type::bf16, Type::q4_f}}) {
    add_case(cases, random, {{gate, Type::q5_1}}, {3, 2, 256, 96, 12, false, false});
    unlike(static_cast<FeedForwardCase&>(*cases.back()), random, up);
  }
  for (const std::int64_t tokens : {1, 8, 9}) {
    add_case(cases, random, {{Type::q4_k, Type::q6_k}, {Type::q8_0, Type::q8_0}},
             {16, 3, 256, 256, tokens, true, false});
    give_quantised(cases);
  }
  for (const auto& [activation, biases] : {std::pair{Activation::gelu_tanh, false},
                                           {Activation::gelu_tanh, true},
                                           {Activation::clamped_silu, true},
                                           {Activation::silu, true}}) {
    for (const std::int64_t tokens : {1, 7, 70}) {
      add_case(cases, random, {{Type::mxfp4, Type::mxfp4}, {Type::q8_0, Type::q4_0}},
               {6, 2, 96, 160, tokens, false, false});
      activate(cases, random, activation, biases);
      add_case(cases, random, {{Type::f32, Type::f32}}, {6, 2, 45, 19, tokens, true, true});
      activate(cases, random, activation, biases);
    }
    // Not even those of experts that are another device's.
    add_case(cases, random, mixed, {7, 3, 256, 256, 21, false, false});
    activate(cases, random, activation, biases);
    take_away(cases, 3);
    add_case(cases, random, {{Type::q4_k, Type::q6_k}}, {0, 0, 256, 256, 3, true, false});
    activate(cases, random, activation, biases);
  }
  for (const std::int64_t tokens : {1, 4, 8, 9, 21}) {
    add_case(cases, random, {{Type::q4_f, Type::q5_1}}, {5, 2, 256, 96, tokens, true, true});
    add_norm(cases, random, {.quantised = true});
    add_case(cases, random, {{Type::f32, Type::f32}}, {0, 0, 45, 19, tokens, true, false});
    add_norm(cases, random, {.residual_norm = true, .scale = 0.625F});
    add_case(cases, random, {{Type::q8_0, Type::q8_0}}, {3, 1, 96, 64, tokens, false, false});
    add_norm(cases, random, {.residual_norm = true, .out = false});
  }
  // More columns than a block keeps.
  add_case(cases, random, {{Type::q8_0, Type::q8_0}}, {2, 1, 4128, 32, 1, false, false});
  add_norm(cases, random, {.residual_norm = true, .quantised = true});
  for (const std::int64_t elsewhere : {3, 7}) {
    for (const std::int64_t tokens : {1, 21}) {
      add_case(cases, random, mixed, {7, 3, 256, 256, tokens, true, true});
      take_away(cases, elsewhere);
      add_case(cases, random, mixed, {7, 3, 256, 256, tokens, false, false});
      take_away(cases, elsewhere);
    }
  }
}

void add_feed_forward_benchmarks(Benchmarks& all) {
  const auto add = [&all](const Types& types, const Shape& shape) {
    all.push_back({"feed_forward " + text(types, shape), [=] {
                     Random random(2);
                     return make_case(random, benchmark_weight, types, shape);
                   }});
  };
  // Qwen3-30B-A3B's experts; 64 of its 128.
  for (const auto& types : {std::pair{Type::q4_k, Type::q6_k}, std::pair{Type::q4_0, Type::q4_0},
                            std::pair{Type::q8_0, Type::q8_0}}) {
    for (const std::int64_t tokens : {1, 64, 256}) add({types}, {64, 8, 2048, 768, tokens, false, false});
  }
  // SmolLM2's dense layer.
  for (const std::int64_t tokens : {1, 2, 4, 8, 512})
    add({{Type::q4_1, Type::q4_1}}, {0, 0, 576, 1536, tokens, true, false});
}

}  // namespace fovea::kernels::cases
