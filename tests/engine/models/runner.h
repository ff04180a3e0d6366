// Runs a model as the runtime does, with pages of its own.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/checkpoint/checkpoint.h"
#include "engine/layers/forward.h"
#include "engine/models/model.h"
#include "kernels/api/device.h"

namespace fovea::tests {

// The pages of one sequence in the device's memory, in an order that is not that of their addresses.
class Pages {
 public:
  Pages(const kernels::Device&, const models::ModelConfig&, std::int64_t tokens, std::int64_t page_tokens,
        kernels::Type type = kernels::Type::f32);
  ~Pages();
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  std::span<const kernels::KvPages> layers() const { return layers_; }
  std::byte* state() const { return state_; }  // zeros at first; null where the model keeps none

 private:
  const kernels::Device& device_;
  std::int64_t bytes_ = 0;
  std::byte* memory_ = nullptr;
  std::byte* state_ = nullptr;
  std::int64_t state_bytes_ = 0;
  std::vector<std::vector<std::byte*>> pointers_;  // [2 · layers][pages]
  std::vector<kernels::KvPages> layers_;
};

// The processor's fastest kernels, with memory that the host cannot touch.
const kernels::Device& apart();
// The GPU's kernels, executed by the processor (tests/kernels/ptx); null where they are not.
const kernels::Device* gpu();
bool is_gpu(const kernels::Device&);
// The reference device, every CPU instruction set of this machine, and these.
std::vector<const kernels::Device*> all_devices();

Result<models::Model> load(const std::filesystem::path&, const kernels::Device&,
                           const std::vector<models::HostShare>& host = {});

// Logits [tokens, vocabulary] of one sequence in passes of `chunk` tokens (0: all at once).
std::vector<float> logits(const models::Model&, const kernels::Device&, std::span<const TokenId>,
                          std::int64_t chunk, std::int64_t page_tokens = 5, const layers::HostPart& host = {},
                          kernels::Type cache = kernels::Type::f32);

// The largest absolute difference; infinite when sizes differ or a value is not a number.
double largest_difference(std::span<const float> a, std::span<const float> b);

// A float32 array in NumPy's format; empty when the file is not one.
std::vector<float> read_npy(const std::filesystem::path&);

}  // namespace fovea::tests
