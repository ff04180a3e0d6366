// What a model would take on a device, before it is loaded: byte by byte, and what a larger or smaller budget
// would change. Reads no weights.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "engine/api/error.h"
#include "engine/api/precision.h"
#include "engine/api/request.h"

namespace fovea {

struct PlanSettings {
  std::int64_t context = 0;  // tokens; 0: the model's, at most 8,192
  KvType kv = KvType::f16;
  std::int64_t chunk = 0;  // tokens in one prefill pass; 0: as loading chooses
  PrecisionRequest precision;
  // As LoadRequest's: plans with its packing, and its free memory is the budget unless one is given.
  std::string device = {};
  // A card's memory: the budget unless another one is given, 1 GiB of it kept free; the host computes what is
  // offloaded. 0: the device is this machine's processor, and what is offloaded lives on disk.
  std::int64_t device_memory_bytes = 0;
  // Main memory for what lies beside a card. 0: what this machine has free; with device_memory_bytes, which
  // may be another machine's, it is not looked at.
  std::int64_t main_memory_bytes = 0;
  // How fast the card's memory and main memory are read, for the predicted times. 0: what the device says,
  // and what is measured here.
  double device_gb_per_s = 0, main_memory_gb_per_s = 0;
  std::string dense_tier = "bf16";  // shapes: format of what is not an expert ("bf16", "q8", "q4")
  std::int64_t dense_bytes = 0;     // shapes: what that takes, where it is known; 0: as dense_tier has it
};

// One side's part in decoding a token, beside a card: what it is expected to read of weights, every expert of
// a layer alike, and how long that takes at least. Without the KV cache.
struct TokenPart {
  double bytes_per_token = 0;
  double gb_per_s = 0;  // of the memory; 0: not known
  double ms_per_token() const { return gb_per_s > 0 ? bytes_per_token / (1e6 * gb_per_s) : 0; }
};

struct PlanReport {
  std::string model;  // its name
  PolicyKind policy = PolicyKind::none;
  Plan plan;
  std::int64_t context = 0;
  KvType kv = KvType::f16;
  std::int64_t chunk = 0;
  std::int64_t units = 0;
  std::int64_t units_per_layer = 0;            // the most
  std::int64_t units_offloaded = 0;            // the policy's doing
  bool host_computes = false;                  // what is offloaded, beside a card; else it is read from disk
  std::int64_t cpu_moe_layers = 0;             // found or given
  TokenPart device_part = {}, host_part = {};  // beside a card
};

// Says `plan.fits = false` and advises when the budget is too small; an error is one of the file or the
// flags.
Result<PlanReport> plan_model(const std::filesystem::path& model, const PlanSettings& settings);
// The same for a published model's shape.
Result<PlanReport> plan_shape(std::string_view name, const PlanSettings& settings);
std::vector<std::string> shape_names();

}  // namespace fovea
