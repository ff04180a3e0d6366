// Cases of shortlist.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cases/case.h"

namespace fovea::kernels::cases {

namespace {

constexpr double unit = 0x1p-24;  // relative rounding of a float
constexpr float lowest = -std::numeric_limits<float>::infinity();

class ShortlistCase final : public Case {
 public:
  ShortlistCase(const std::string& what, std::vector<float> logits, std::int64_t listed, float sharpness = 1)
      : logits_(std::move(logits)), sharpness_{sharpness}, listed_(listed) {
    name = "shortlist " + what + " " + std::to_string(listed) + " of " + std::to_string(logits_.size());
    work.bytes = 4.0 * static_cast<double>(logits_.size());
    work.operations = 6.0 * static_cast<double>(logits_.size());
  }

  std::function<void(Stream&)> build(Memory& memory) const override {
    const Shortlist a = {.logits = memory.input(logits_),
                         .count = static_cast<std::int64_t>(logits_.size()),
                         .sharpness = memory.input(sharpness_),
                         .listed = listed_,
                         .ids = memory.output<std::int32_t>(listed_),
                         .values = memory.output<float>(listed_),
                         .sums = memory.output<float>(3)};
    return [&memory, a](Stream& stream) { memory.device().operations().shortlist(a, stream); };
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
  std::vector<float> sharpness_;  // [1]
  std::int64_t listed_;
};

}  // namespace

void add_shortlist_sweep(Cases& cases, Random& random) {
  const auto add = [&cases](const std::string& what, std::vector<float> logits, std::int64_t listed,
                            float sharpness = 1) {
    cases.push_back(std::make_unique<ShortlistCase>(what, std::move(logits), listed, sharpness));
  };
  for (const std::int64_t count : {1, 2, 100, 2047, 2048, 2049, 5000})
    add("normals", normals(random, count, 4), std::min(count, most_shortlisted));
  // Three launches where a block has 2,048.
  add("normals", normals(random, 40000, 4), most_shortlisted, 0.5F);
  add("normals", normals(random, 3000, 4), 1, 1 / 0.6F);
  add("far apart", normals(random, 3000, 60), 20, 3);
  add("huge", normals(random, 3000, 1e30), 20);
  add("all equal", std::vector<float>(4500, -2.5F), 100);

  std::vector<float> ties = normals(random, 6000, 3);
  for (float& logit : ties) logit = std::round(logit);  // 0 and −0 among them
  add("ties", ties, most_shortlisted);

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

void add_shortlist_benchmarks(Benchmarks& all) {
  all.push_back({"shortlist normals 128 of 151936", []() -> std::unique_ptr<Case> {
                   Random random(8);
                   return std::make_unique<ShortlistCase>("normals", normals(random, 151936, 3),
                                                          most_shortlisted, 1.25F);
                 }});
}

}  // namespace fovea::kernels::cases
