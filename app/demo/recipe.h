// The demo model's recipe, a safetensors file that is part of the program.
//
// For layer i: shared.i [768] and experts.i [24, 32] are neurons of the dense feed-forward, router.i [24,
// 576], down_scale.i [1536] a factor for each neuron, attn_norm.i and ffn_norm.i [576], attn_{q,k,v}_bias.i;
// and output_norm [576], active [1].
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
  std::vector<std::int64_t> integers(const std::string& name) const;  // I16 or I32
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
