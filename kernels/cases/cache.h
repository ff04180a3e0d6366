// The KV cache's shape in a case.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/api/types.h"

namespace fovea::kernels::cases {

struct CacheShape {
  Type type = Type::f32;
  std::int64_t kv_heads = 1;
  std::int64_t head_dim = 32;
  std::int64_t page_tokens = 16;

  std::int64_t page_elements() const { return kv_heads * page_tokens * head_dim; }
  std::string text() const {
    return std::string(type_name(type)) + " " + std::to_string(kv_heads) + "x" + std::to_string(head_dim) +
           ", pages of " + std::to_string(page_tokens);
  }
};

}  // namespace fovea::kernels::cases
