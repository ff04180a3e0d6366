// Cases of top_k.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cases/case.h"

namespace fovea::kernels::cases {

namespace {

constexpr double unit = 0x1p-24;  // relative rounding of a float
constexpr float lowest = -std::numeric_limits<float>::infinity();

class TopKCase final : public Case {
 public:
  TopKCase(const std::string& what, std::vector<float> logits, std::int64_t listed,
           float inverse_temperature = 1)
      : logits_(std::move(logits)), inverse_temperature_{inverse_temperature}, listed_(listed) {
    name = "top_k " + what + " " + std::to_string(listed) + " of " + std::to_string(logits_.size());
    work.bytes = 4.0 * static_cast<double>(logits_.size());
    work.operations = 6.0 * static_cast<double>(logits_.size());
  }

  std::function<void(Stream&)> build(Memory& memory) const override {
    const TopK a = {.logits = memory.input(logits_),
                    .count = static_cast<std::int64_t>(logits_.size()),
                    .inverse_temperature = memory.input(inverse_temperature_),
                    .listed = listed_,
                    .ids = memory.output<std::int32_t>(listed_),
                    .values = memory.output<float>(listed_),
                    .sums = memory.output<float>(3)};
    return [&memory, a](Stream& stream) { memory.device().operations().top_k(a, stream); };
  }

  // What is listed is exact. A term's exponent is a difference and a product, in two steps on devices that
  // sum runs of their own largest: four roundings of what does not vanish (down to −87); then roundings of
  // the functions and of sums that no term's sign makes smaller.
  std::vector<double> tolerance(const std::vector<float>& reference) const override {
    std::vector<double> result(reference.size(), 0.0);
    const double relative = unit * (4 * 87 + 20 + std::sqrt(static_cast<double>(logits_.size())));
    for (std::size_t i = reference.size() - 3; i < reference.size(); ++i)
      result[i] = relative * std::fabs(reference[i]) + 1e-34 * static_cast<double>(logits_.size());
    return result;
  }

 private:
  std::vector<float> logits_;
  std::vector<float> inverse_temperature_;  // [1]
  std::int64_t listed_;
};

}  // namespace

void add_top_k_sweep(Cases& cases, Random& random) {
  const auto add = [&cases](const std::string& what, std::vector<float> logits, std::int64_t listed,
                            float inverse_temperature = 1) {
    cases.push_back(std::make_unique<TopKCase>(what, std::move(logits), listed, inverse_temperature));
  };
  for (const std::int64_t count : {1, 2, 100, 2047, 2048, 2049, 5000})
    add("normals", normals(random, count, 4), std::min(count, max_top_k));
  // Three launches where a block has 2,048.
  add("normals", normals(random, 40000, 4), max_top_k, 0.5F);
  add("normals", normals(random, 3000, 4), 1, 1 / 0.6F);
  add("far apart", normals(random, 3000, 60), 20, 3);
  add("huge", normals(random, 3000, 1e30), 20);
  add("all equal", std::vector<float>(4500, -2.5F), 100);

  std::vector<float> ties = normals(random, 6000, 3);
  for (float& logit : ties) logit = std::round(logit);  // 0 and −0 among them
  add("ties", ties, max_top_k);

  // The first run of 2,048 has nothing to list.
  std::vector<float> odd = normals(random, 4200, 3);
  std::ranges::fill_n(odd.begin(), 2048, lowest);
  odd[3000] = std::numeric_limits<float>::quiet_NaN();
  odd[4199] = lowest;
  add("−∞ and not-a-number", odd, 64, 0.7F);
  odd[2222] = -lowest;
  odd[2111] = -lowest;
  add("the largest infinite", odd, 2);
}

void add_top_k_benchmarks(Benchmarks& all) {
  all.push_back({"top_k normals 128 of 151936", []() -> std::unique_ptr<Case> {
                   Random random(8);
                   return std::make_unique<TopKCase>("normals", normals(random, 151936, 3), max_top_k, 1.25F);
                 }});
}

}  // namespace fovea::kernels::cases
