// What a text tells about the inputs of a model's units: which columns matter, and samples of the inputs
// themselves, to measure on them how much a tier hurts.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "engine/api/progress.h"
#include "engine/core/result.h"
#include "engine/models/model.h"
#include "engine/precision/calibrate_windows.h"
#include "engine/precision/prepare_version.h"
#include "engine/precision/units.h"
#include "kernels/api/device.h"

namespace fovea::precision {

struct CalibrationSettings {
  std::int64_t rows_per_unit = 256;                       // inputs kept; 0: none
  std::int64_t row_memory_bytes = std::int64_t{1} << 30;  // for all of them: fewer are kept when it is full
  int threads = 1;
};

class Calibration {
 public:
  std::uint64_t fingerprint() const { return fingerprint_; }  // calibration_fingerprint()
  // Tokens that reached the unit. A unit that none reached is quantised as without calibration.
  std::int64_t tokens(UnitId id) const;
  std::int64_t reached_units() const;
  // The columns' mean squares for each of the unit's matrices.
  Importance importance(UnitId id) const;
  bool has_inputs(UnitId id) const { return !units_[static_cast<std::size_t>(id)].chosen.empty(); }
  // Inputs that were kept [count, columns of the unit's first matrix]; second-moment matrices (XᵀX) for
  // roundings that follow the error are made from these, one matrix at a time.
  std::vector<float> inputs(UnitId id) const;

 private:
  friend class Collector;
  // Inputs of the same matrix or matrices.
  struct Statistics {
    std::int64_t tokens = 0;
    std::vector<double> sums;         // [columns], squares
    std::vector<float> mean_squares;  // [columns], at the end
  };
  // Whole rows, shared by the units that saw them.
  struct Rows {
    std::int64_t columns = 0;
    std::vector<float> values;
    std::int64_t count() const { return columns > 0 ? std::ssize(values) / columns : 0; }
  };
  struct UnitInputs {
    std::array<std::int32_t, 3> statistics = {-1, -1, -1};
    std::int32_t rows = -1;
    std::vector<std::int32_t> chosen;  // indices of rows
  };
  std::vector<Statistics> statistics_;
  std::vector<Rows> rows_;
  std::vector<UnitInputs> units_;
  std::uint64_t fingerprint_ = 0;
};

// activation(gate(x), up(x)): the inputs of the expert's down matrix [tokens, width], of x [tokens, d]. The
// expert's memory is the host's.
std::vector<float> hidden_activations(const kernels::Expert& expert, std::span<const float> x,
                                      const kernels::Device& device, kernels::Stream& stream);

// Of the windows and how they are used, never 0: what a store tells of its calibration.
std::uint64_t calibration_fingerprint(const Windows& windows, const CalibrationSettings& settings);

// Runs the model, loaded as its file has it, over the windows. Progress counts tokens.
Result<Calibration> calibrate(const models::Model& model, const UnitTable& units,
                              const kernels::Device& device, const Windows& windows,
                              const CalibrationSettings& settings, const ProgressSink& progress,
                              std::stop_token stop);

}  // namespace fovea::precision
