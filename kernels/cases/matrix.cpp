// Cases of embed_rows and linear.
#include <cmath>
#include <limits>
#include <optional>

#include "kernels/cases/normed.h"
#include "kernels/cases/quantised.h"
#include "kernels/cases/weights.h"

namespace fovea::kernels::cases {

namespace {

std::string label(Type type) {
  return std::string(type_name(type));
}
std::string shape(std::int64_t rows, std::int64_t columns) {
  return std::to_string(rows) + "x" + std::to_string(columns);
}

class EmbedRowsCase final : public Case {
 public:
  EmbedRowsCase(HostWeight table, std::vector<std::int32_t> ids, float scale = 1)
      : table_(std::move(table)), ids_(std::move(ids)), scale_(scale) {
    name = "embed_rows " + label(table_.type) + " " + shape(table_.rows, table_.columns) +
           (scale == 1 ? "" : ", scaled");
    work.bytes = static_cast<double>(ids_.size()) *
                 static_cast<double>(row_bytes(table_.type, table_.columns) + 4 * table_.columns);
  }

  std::function<void(Stream&)> build(Memory& memory) const override {
    const auto tokens = static_cast<std::int64_t>(ids_.size());
    const EmbedRows a{memory.weight_in_rows(table_), memory.input(ids_), tokens,
                      memory.output<float>(tokens * table_.columns), scale_};
    return [&memory, a](Stream& stream) { memory.device().operations().embed_rows(a, stream); };
  }

  // Scales multiplied in another order: one rounding.
  std::vector<double> tolerance(const std::vector<float>&) const override {
    std::vector<double> result;
    for (const std::int32_t id : ids_) {
      double largest = 0;
      for (std::int64_t i = 0; i < table_.columns; ++i) {
        largest =
            std::fmax(largest, std::fabs(table_.values[static_cast<std::size_t>(id * table_.columns + i)]));
      }
      result.insert(result.end(), static_cast<std::size_t>(table_.columns),
                    static_cast<double>(scale_) * largest * 0x1p-22);
    }
    return result;
  }

 private:
  HostWeight table_;
  std::vector<std::int32_t> ids_;
  float scale_;
};

struct ProjectionPart {
  HostWeight weight;
  std::vector<float> bias;   // or empty
  std::int64_t padding = 0;  // floats between rows of the output
};

class LinearCase final : public Case {
 public:
  LinearCase(const std::string& what, std::vector<float> x, std::int64_t tokens,
             std::vector<ProjectionPart> parts, bool with_quantised = false)
      : x_(std::move(x)),
        tokens_(tokens),
        columns_(static_cast<std::int64_t>(x_.size()) / tokens),
        parts_(std::move(parts)),
        with_quantised_(with_quantised) {
    name = "linear " + what + (with_quantised ? ", quantised" : "");
    if (with_quantised) x_ = unit_rows(std::move(x_), columns_);
    for (const ProjectionPart& part : parts_) {
      work.bytes += static_cast<double>(part.weight.bytes.size());
      work.operations += 2.0 * static_cast<double>(part.weight.rows * part.weight.columns * tokens);
    }
  }

  // Of one matrix, without padding.
  void add_norm(Random& random, const NormedForm& form) {
    then_.emplace(random, tokens_, parts_.front().weight.rows, form);
    name += then_->what();
  }

  std::function<void(Stream&)> build(Memory& memory) const override {
    std::vector<Projection> projections;
    for (const ProjectionPart& part : parts_) {
      const std::int64_t stride = part.weight.rows + part.padding;
      projections.push_back({memory.weight(part.weight),
                             part.bias.empty() ? nullptr : memory.input(part.bias),
                             memory.output<float>(tokens_ * stride), stride});
    }
    if (with_quantised_) {
      const QuantisedRows given(memory, x_, columns_);
      return [&memory, given, projections, tokens = tokens_, columns = columns_](Stream& stream) {
        given.make(stream);
        memory.device().operations().linear({given.x(), tokens, columns, projections, given.quantised()},
                                            stream);
      };
    }
    const float* x = memory.input(x_);
    const NormedOutput::Built then =
        then_ ? then_->build(memory, projections.front().out) : NormedOutput::Built{};
    return [&memory, x, projections, then, tokens = tokens_, columns = columns_](Stream& stream) {
      memory.device().operations().linear({x, tokens, columns, projections, nullptr, then.norm}, stream);
      then.read(stream);
    };
  }

  std::vector<double> tolerance(const std::vector<float>& reference) const override {
    std::vector<double> result;
    for (const ProjectionPart& part : parts_) {
      for (std::int64_t t = 0; t < tokens_; ++t) {
        const std::vector<double> x(x_.begin() + t * columns_, x_.begin() + (t + 1) * columns_);
        const std::vector<double> sigma = output_sigma(part.weight, x, input_sigma(part.weight.type, x));
        for (std::size_t row = 0; row < sigma.size(); ++row) {
          // The bias adds one rounding; below 1e-36 nothing is promised.
          const double bias = part.bias.empty() ? 0 : std::fabs(part.bias[row]);
          result.push_back(6 * sigma[row] + bias * 0x1p-22 + 1e-36);
        }
        result.insert(result.end(), static_cast<std::size_t>(part.padding), 0.0);
      }
    }
    if (then_) then_->add_tolerances(reference, result);
    return result;
  }

 private:
  std::vector<float> x_;
  std::int64_t tokens_;
  std::int64_t columns_;
  std::vector<ProjectionPart> parts_;
  bool with_quantised_;
  std::optional<NormedOutput> then_;
};

std::int64_t block_elements(Type type) {
  return block_shape(type).elements;
}

// One matrix, a random input.
void add_plain(Cases& cases, Random& random, Type type, std::int64_t rows, std::int64_t columns,
               std::int64_t tokens) {
  std::vector<ProjectionPart> parts;
  parts.push_back({random_weight(random, type, rows, columns), {}, 0});
  cases.push_back(std::make_unique<LinearCase>(
      label(type) + " " + shape(rows, columns) + " " + std::to_string(tokens) + " tokens",
      normals(random, tokens * columns), tokens, std::move(parts)));
}

// Inputs that break kernels: a row of zeros, denormals, one outlier, values that all round to ±127.
std::vector<float> awkward_inputs(Random& random, std::int64_t columns) {
  std::vector<float> x = normals(random, 5 * columns);
  for (std::int64_t i = 0; i < columns; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const auto n = static_cast<std::size_t>(columns);
    x[at] = 0;
    x[n + at] *= 1e-40F;
    if (i == columns / 2) x[2 * n + at] = -1e6F;
    x[3 * n + at] = i % 2 == 0 ? 1.0F : -1.0F;
    x[4 * n + at] = -3.0F;
  }
  return x;
}

// `repeats`: of the five inputs, so that they are few or many.
void add_awkward(Cases& cases, Random& random, Type type, int repeats) {
  const std::int64_t columns = block_elements(type) == 1 ? 100 : 3 * block_elements(type);
  std::vector<float> x;
  for (int i = 0; i < repeats; ++i) {
    const std::vector<float> five = awkward_inputs(random, columns);
    x.insert(x.end(), five.begin(), five.end());
  }
  const std::int64_t tokens = 5 * std::int64_t{repeats};
  const std::string many = repeats > 1 ? ", " + std::to_string(tokens) + " tokens" : "";
  const std::int64_t zero_rows[] = {0, 5, 18};
  std::vector<ProjectionPart> parts;
  parts.push_back(
      {with_zero_rows(random_weight(random, type, 19, columns), zero_rows), normals(random, 19), 3});
  cases.push_back(std::make_unique<LinearCase>(
      label(type) + " awkward inputs, zero rows, bias, stride" + many, x, tokens, std::move(parts)));
  if (block_elements(type) == 1) return;
  for (const bool high : {false, true}) {
    parts.clear();
    parts.push_back({extreme_weight(type, 9, columns, high), {}, 0});
    cases.push_back(std::make_unique<LinearCase>(
        label(type) + (high ? " highest codes" : " lowest codes") + many, x, tokens, std::move(parts)));
  }
}

// Query, key and value as a model has them: one input, three matrices of different types and sizes.
void add_mixed(Cases& cases, Random& random, Type q, Type k, Type v, std::int64_t tokens,
               bool with_quantised = false) {
  std::vector<ProjectionPart> parts;
  parts.push_back({random_weight(random, q, 48, 512), normals(random, 48), 0});
  parts.push_back({random_weight(random, k, 16, 512), {}, 5});
  parts.push_back({random_weight(random, v, 23, 512), normals(random, 23), 1});
  cases.push_back(std::make_unique<LinearCase>(
      "mixed " + label(q) + " " + label(k) + " " + label(v) + " " + std::to_string(tokens) + " tokens",
      normals(random, tokens * 512), tokens, std::move(parts), with_quantised));
}

// An output matrix, whose product is added to what was computed.
void add_normed(Cases& cases, Random& random, Type type, std::int64_t rows, std::int64_t columns,
                std::int64_t tokens, const NormedForm& form) {
  add_plain(cases, random, type, rows, columns, tokens);
  static_cast<LinearCase&>(*cases.back()).add_norm(random, form);
}

}  // namespace

void add_matrix_sweep(Cases& cases, Random& random) {
  for (const Type type : all_types) {
    const std::int64_t block = block_elements(type);
    cases.push_back(std::make_unique<EmbedRowsCase>(random_weight(random, type, 11, 3 * block),
                                                    std::vector<std::int32_t>{10, 0, 3, 3, 7}));
    cases.push_back(std::make_unique<EmbedRowsCase>(random_weight(random, type, 5, 2 * block),
                                                    std::vector<std::int32_t>{4, 1}, 25.298F));
    const std::int64_t one = block == 1 ? 7 : block;
    add_plain(cases, random, type, 1, one, 1);
    add_plain(cases, random, type, 3, 2 * one, 2);
    add_plain(cases, random, type, 17, 3 * one, 1);
    add_plain(cases, random, type, 33, one, 5);
    add_plain(cases, random, type, 70, block == 1 ? 129 : 512, 1);
    add_plain(cases, random, type, 64, block == 1 ? 64 : 512, 8);
    add_plain(cases, random, type, 37, block == 1 ? 100 : 256, 19);
    add_plain(cases, random, type, 21, block == 1 ? 33 : 768, 67);
    add_awkward(cases, random, type, 1);
    add_awkward(cases, random, type, 2);
    if (block == 1) add_plain(cases, random, type, 40, 96, 11);  // rows that 16 bytes divide
  }
  // Few rows of many columns, which a device may divide.
  for (const Type type : {Type::f16, Type::q8_0, Type::q4_k, Type::q3_f}) {
    add_plain(cases, random, type, 5, 8192, 1);
    add_plain(cases, random, type, 3, 8192, 3);
  }
  // … also in tiles: parts of which one has nothing, and one a ragged end.
  for (const Type type : {Type::f32, Type::bf16, Type::q8_0, Type::q3_f}) {
    add_plain(cases, random, type, 20, 2304, 9);
    add_plain(cases, random, type, 12, type == Type::f32 ? 2881 : 2880, 70);
  }
  for (const std::int64_t tokens : {1, 6, 17}) {
    add_mixed(cases, random, Type::q4_k, Type::q4_k, Type::q6_k, tokens);
    add_mixed(cases, random, Type::f32, Type::q8_0, Type::bf16, tokens);
    add_mixed(cases, random, Type::q4_1, Type::f16, Type::iq4_xs, tokens);
    add_mixed(cases, random, Type::q8_0, Type::q8_0, Type::q8_0, tokens);
    add_mixed(cases, random, Type::bf16, Type::bf16, Type::bf16, tokens);
  }
  for (const std::int64_t tokens : {1, 3, 8, 9}) {
    add_mixed(cases, random, Type::q4_k, Type::q4_k, Type::q6_k, tokens, true);
    add_mixed(cases, random, Type::q3_f, Type::q3_f, Type::q3_f, tokens, true);
  }
  // Rows of a thread's registers, of more than they hold, and of no whole warps.
  for (const std::int64_t tokens : {1, 2, 5, 8, 9}) {
    add_normed(cases, random, Type::q4_f, 96, 512, tokens, {.quantised = true});
    add_normed(cases, random, Type::q8_0, 2080, 64, tokens, {.residual_norm = true, .scale = 0.625F});
    add_normed(cases, random, Type::f16, 45, 33, tokens, {.scale = 0.625F});
    add_normed(cases, random, Type::q6_k, 70, 256, tokens, {.residual_norm = true, .out = false});
  }
  add_normed(cases, random, Type::q4_0, 4128, 32, 1, {.residual_norm = true, .quantised = true});
}

void add_matrix_benchmarks(Benchmarks& all) {
  // Qwen3-30B-A3B's attention output, 4096 to 2048, decoding one sequence and several, and in one chunk of
  // prefill.
  for (const Type type : all_types) {
    for (const std::int64_t tokens : {1, 2, 4, 8, 512}) {
      const std::string what = label(type) + " 2048x4096 " + std::to_string(tokens) + " tokens";
      all.push_back({"linear " + what, [=] {
                       Random random(1);
                       std::vector<ProjectionPart> parts;
                       parts.push_back({benchmark_weight(type, 2048, 4096), {}, 0});
                       return std::make_unique<LinearCase>(what, normals(random, tokens * 4096), tokens,
                                                           std::move(parts));
                     }});
    }
  }
}

}  // namespace fovea::kernels::cases
