// Quantised activations (kernels/api/operations.h) in cases. What they hold is the device's own affair, so
// each case has both who makes one and who reads it.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cases/case.h"

namespace fovea::kernels::cases {

// Each row with a mean square of 1: the norm that weighs all columns alike changes nothing but by rounding.
std::vector<float> unit_rows(std::vector<float> x, std::int64_t columns);

// Such rows beside their quantised form, for operations that read it.
class QuantisedRows {
 public:
  QuantisedRows(Memory& memory, const std::vector<float>& unit_rows, std::int64_t columns);
  void make(Stream& stream) const { device_.operations().rms_norm(norm_, stream); }
  const float* x() const { return norm_.out; }
  const std::byte* quantised() const { return norm_.quantised; }

 private:
  const Device& device_;
  RmsNorm norm_;
};

// Reads the quantised form of [rows, columns] values for what makes it: by their product with Q8_0's unit
// matrix.
class QuantisedReader {
 public:
  QuantisedReader(Memory& memory, std::int64_t rows, std::int64_t columns);
  std::byte* quantised() const { return quantised_; }
  void read(const float* x, Stream& stream) const;
  // The tolerance of what is read, from its values in the reference and the tolerance of those written.
  static std::vector<double> tolerance(const std::vector<float>& read, const std::vector<double>& written,
                                       std::int64_t columns);

 private:
  const Device& device_;
  std::byte* quantised_;
  std::int64_t rows_;
  Projection unit_;
};

}  // namespace fovea::kernels::cases
