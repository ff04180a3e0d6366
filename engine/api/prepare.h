// Making a model's expert store: every version of every weight unit, quantised and packed, in one file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/api/error.h"
#include "engine/api/progress.h"

namespace fovea {

// automatic: the experts of a Mixture-of-Experts model, the linear layers of a dense one.
enum class PrepareScope : std::uint8_t { automatic, experts, linear_layers };

inline constexpr std::int64_t usual_divergence_tokens = 256;

// What the quantisers learn from a text that the model reads before.
struct CalibrationRequest {
  std::string text;                  // empty: data-free
  std::int64_t tokens = 16'384;      // of the text at most, in windows spread over it
  std::int64_t window = 512;         // tokens that see each other
  std::int64_t rows_per_unit = 256;  // inputs kept, on which output errors are measured
  // That each unit's divergence is measured on; 0: it is not measured. -1: usual_divergence_tokens where the
  // units are experts, which are measured by layers; linear layers, each measured alone, are not.
  std::int64_t divergence_tokens = -1;
};

struct PrepareRequest {
  std::filesystem::path model;
  std::filesystem::path store;
  // From high to low, "file", "q4", "q2"; empty: "file" and the next two lower ones.
  std::vector<std::string> tiers;
  PrepareScope scope = PrepareScope::automatic;
  bool rebuild = false;      // replace a store that is there, sound or not
  bool recalibrate = false;  // replace one that fits, but was made without this calibration
  int threads = 0;           // 0: the physical cores
  std::string device = {};   // that the store is for, as LoadOptions's; the processor does the work
  CalibrationRequest calibration;
};

// What a store would be, from the model's shapes alone.
struct StorePlan {
  std::string name;  // the file name that it has in a folder of stores
  std::uint64_t model_fingerprint = 0;
  std::string scope;  // "experts", "linear_layers"
  std::vector<std::string> tiers;
  std::int64_t units = 0;
  std::int64_t parameters = 0;  // of the units
  std::int64_t bytes = 0;       // of the finished file
  // In a folder that was named: this store, or one of the same model that holds more tiers; empty: none.
  std::filesystem::path found = {};
};
Result<StorePlan> describe_store(const PrepareRequest&, const std::filesystem::path& folder = {});

// A tier of as many bits whose versions would be clearly closer to the weights, on a sample of them and
// without calibration. Errors as PreparedTier's weight_error_mean.
struct CloserTier {
  std::string tier;  // as requested, "q4"
  double weight_error = 0;
  std::string closer;  // "q4e"
  double closer_weight_error = 0;
};
// None: the tiers are the right ones. Takes a second or so, whatever the size of the model.
Result<std::optional<CloserTier>> closer_tier(const PrepareRequest&);

struct PreparedTier {
  std::string name;
  double bits_per_weight = 0;
  std::int64_t bytes = 0;                              // of all units
  double weight_error_mean = 0, weight_error_max = 0;  // ‖W − W'‖ / ‖W‖ of a unit
  // ‖Y − Y'‖ / ‖Y‖ of a unit's outputs on calibration inputs, of the units that have some; −1: none has.
  double output_error_mean = -1, output_error_max = -1;
  double divergence_mean = -1;  // in nats, of the units; −1: not measured
};

struct PrepareReport {
  std::filesystem::path path;
  std::int64_t bytes = 0;
  std::int64_t units = 0;
  std::vector<PreparedTier> tiers;
  double seconds = 0;
  std::int64_t calibrated_units = 0;  // that the calibration's tokens reached
  bool was_there = false;             // nothing had to be done
  bool recalibrated = false;          // one that fits was replaced, for it was made without this calibration
};

// Goes on with one that was interrupted. A store that is there and fits is left as it is. One that does not
// fit or is damaged is an error unless `rebuild`, one that was made without the calibration unless
// `recalibrate`. Progress counts bytes. ErrorKind::cancelled when stopped.
Result<PrepareReport> prepare(const PrepareRequest&, const ProgressSink& = {}, std::stop_token = {});

// How far tiers move the distribution of a linear layer's weights from the file's: KL divergences in nats,
// [tiers]. What the policy flexquant orders layers by.
struct UnitDivergence {
  std::string unit;  // "blk.3.attn_q"
  std::vector<float> tiers;
};
// Of every linear layer, from a sample of its weights. Errors: the file's, and of a tier that is unknown, out
// of order, or whose blocks do not fit the rows.
Result<std::vector<UnitDivergence>> weight_divergences(const std::filesystem::path& model,
                                                       const std::vector<std::string>& tiers);

struct StoreCheck {
  std::int64_t versions = 0;
  std::int64_t bytes = 0;  // of them
};
// Reads every version of a store and compares its checksum. ErrorKind::format names the first that is
// damaged.
Result<StoreCheck> verify_store(const std::filesystem::path& store, const ProgressSink& = {},
                                std::stop_token = {});

}  // namespace fovea
