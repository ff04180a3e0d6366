// What comes behind a product in cases (Linear::then, FeedForward::then).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/cases/quantised.h"

namespace fovea::kernels::cases {

struct NormedForm {
  bool residual_norm = false;
  bool out = true;  // or the sum alone
  bool quantised = false;
  float scale = 1;
};

class NormedOutput {
 public:
  NormedOutput(Random&, std::int64_t rows, std::int64_t columns, NormedForm);
  std::string what() const;

  // On one device. Its outputs are those of the case's end: the sum, the norm's, and what was quantised.
  struct Built {
    RmsNorm norm;
    std::optional<QuantisedReader> reader;
    void read(Stream& stream) const {
      if (reader) reader->read(norm.out, stream);
    }
  };
  // `in_place`: values of the product's input, which is where the norm's out goes.
  Built build(Memory&, const float* output, const std::vector<float>* in_place = nullptr) const;
  // `tolerances` are the product's, which the reference's outputs begin with; those of the rest are added.
  void add_tolerances(const std::vector<float>& reference, std::vector<double>& tolerances) const;

 private:
  std::int64_t rows_, columns_;
  NormedForm form_;
  std::vector<float> x_, residual_weight_, weight_;
};

}  // namespace fovea::kernels::cases
