// What the panel is told about the model besides its snapshots. Plain data.
#pragma once

#include <QString>
#include <cstdint>
#include <vector>

#include "engine/api/precision.h"

namespace fovea::ui {

struct LiveModel {
  QString name;
  PolicyKind policy = PolicyKind::none;
  std::int64_t experts = 0;       // of a layer, the most; 0: a model without experts
  std::int64_t experts_used = 0;  // top-k
  std::vector<std::int64_t> layer_numbers =
      {};  // in the model, of the layers that have experts; empty: 0, 1, …
  std::vector<std::int64_t> experts_per_layer = {};  // empty: all the same
  // Of all experts, layer after layer: the share of its layer's uses over the many subjects of the store's
  // calibration; empty: there is none.
  std::vector<float> calibrated_uses = {};
  Plan plan = {};
  double link_bytes_per_s = 0;  // measured: what versions can be read with; 0: not known
};

}  // namespace fovea::ui
