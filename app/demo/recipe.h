// The demo model's recipe, a safetensors file that is part of the program.
//
// For layer i: shared.i [1024] and experts.i [512] are neurons of the dense feed-forward (I16), the always
// active ones and those that all sixteen experts start from; router.i [16, 576] (F16); scale.i [1] multiplies
// the experts' down matrices. What an expert adds to gate, up and down: gate_a.i [16, 8, 576] and gate_b.i
// [16, 512, 8] (I8) with gate_a_scale.i and gate_b_scale.i [16, 8] (F16), and so on. And active [1] (I32):
// experts used for a token.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/api/error.h"

namespace fovea::app {

class Recipe {
 public:
  static Result<Recipe> open();

  // Empty when the recipe has no tensor of this name and kind.
  std::vector<float> floats(const std::string& name) const;           // F32 or F16
  std::vector<std::int64_t> integers(const std::string& name) const;  // I8, I16 or I32
  std::vector<std::int64_t> shape(const std::string& name) const;

 private:
  struct Tensor {
    std::string type;
    std::vector<std::int64_t> shape;
    std::span<const std::byte> bytes;
  };
  const Tensor* find(const std::string& name) const;
  std::map<std::string, Tensor> tensors_;
};

}  // namespace fovea::app
