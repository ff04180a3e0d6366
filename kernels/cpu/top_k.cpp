#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/cpu/kernels.h"

namespace fovea::kernels::cpu {
namespace {

struct Listed {
  float logit;
  std::int32_t id;
  bool operator<(const Listed& other) const {
    return logit > other.logit || (logit == other.logit && id < other.id);
  }
};

}  // namespace

// The processor's own logits are read where they lie: this is for devices that stand in for others.
void top_k(const TopK& op, Stream&) {
  std::vector<Listed> all;
  for (std::int64_t id = 0; id < op.count; ++id) {
    const float logit = op.logits[id];
    all.push_back(
        {std::isnan(logit) ? -std::numeric_limits<float>::infinity() : logit, static_cast<std::int32_t>(id)});
  }
  std::partial_sort(all.begin(), all.begin() + op.listed, all.end());
  for (std::int64_t i = 0; i < op.listed; ++i) {
    op.ids[i] = all[static_cast<std::size_t>(i)].id;
    op.values[i] = all[static_cast<std::size_t>(i)].logit;
  }
  double scaled = 0, plain = 0, weighted = 0;
  const float largest = all.front().logit;
  for (const Listed& each : all) {
    if (!std::isfinite(largest) || !std::isfinite(each.logit)) continue;
    const float d = each.logit - largest, weight = std::exp(d);
    scaled += static_cast<double>(std::exp(*op.inverse_temperature * d));
    plain += static_cast<double>(weight);
    weighted += static_cast<double>(d * weight);
  }
  op.sums[0] = static_cast<float>(scaled);
  op.sums[1] = static_cast<float>(plain);
  op.sums[2] = static_cast<float>(weighted);
}

}  // namespace fovea::kernels::cpu
