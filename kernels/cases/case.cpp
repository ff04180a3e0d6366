#include "kernels/cases/case.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fovea::kernels::cases {

Cases sweep_cases(unsigned seed) {
  Cases cases;
  Random random(seed);
  add_vector_sweep(cases, random);
  add_router_sweep(cases, random);
  add_attention_inputs_sweep(cases, random);
  add_attention_sweep(cases, random);
  add_matrix_sweep(cases, random);
  add_feed_forward_sweep(cases, random);
  add_host_share_sweep(cases, random);
  add_repack_sweep(cases, random);
  add_top_k_sweep(cases, random);
  add_recurrent_sweep(cases, random);
  return cases;
}

Benchmarks benchmarks() {
  Benchmarks all;
  add_vector_benchmarks(all);
  add_router_benchmarks(all);
  add_attention_inputs_benchmarks(all);
  add_attention_benchmarks(all);
  add_matrix_benchmarks(all);
  add_feed_forward_benchmarks(all);
  add_top_k_benchmarks(all);
  add_recurrent_benchmarks(all);
  return all;
}

std::vector<float> run_once(const Case& one, const Device& device, Stream& stream, bool preferred_packing,
                            std::string& damage) {
  Memory memory(device, preferred_packing);
  const auto run = one.build(memory);
  memory.reset();
  run(stream);
  stream.synchronize();
  damage = memory.damage();
  return memory.outputs();
}

std::string difference(const std::vector<float>& outputs, const std::vector<float>& reference,
                       const std::vector<double>& tolerance) {
  if (outputs.size() != reference.size() || outputs.size() != tolerance.size()) {
    return "sizes differ: " + std::to_string(outputs.size()) + ", " + std::to_string(reference.size()) +
           ", " + std::to_string(tolerance.size());
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (std::isnan(reference[i]) && std::isnan(outputs[i])) continue;
    if (std::isnan(reference[i])) return "element " + std::to_string(i) + " must stay unwritten";
    if (std::isnan(outputs[i])) return "element " + std::to_string(i) + " is unwritten or NaN";
    if (outputs[i] == reference[i]) continue;  // infinite ones too
    const double error = std::fabs(static_cast<double>(outputs[i]) - reference[i]);
    if (error <= tolerance[i]) continue;
    char text[160];
    std::snprintf(text, sizeof text, "element %zu of %zu: %.9g, expected %.9g, off by %.3g, allowed %.3g", i,
                  outputs.size(), static_cast<double>(outputs[i]), static_cast<double>(reference[i]), error,
                  tolerance[i]);
    return text;
  }
  return {};
}

double worst_share(const std::vector<float>& outputs, const std::vector<float>& reference,
                   const std::vector<double>& tolerance) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  if (outputs.size() != reference.size() || outputs.size() != tolerance.size()) return infinite;
  double worst = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] == reference[i] || (std::isnan(outputs[i]) && std::isnan(reference[i]))) continue;
    const double error = std::fabs(static_cast<double>(outputs[i]) - reference[i]);
    const double share = error / tolerance[i];
    worst = std::max(worst, std::isnan(share) ? infinite : share);
  }
  return worst;
}

std::vector<float> normals(Random& random, std::int64_t count, double scale) {
  std::normal_distribution<float> normal(0, static_cast<float>(scale));
  std::vector<float> result(static_cast<std::size_t>(count));
  for (float& value : result) value = normal(random);
  return result;
}

}  // namespace fovea::kernels::cases
