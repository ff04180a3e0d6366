// From a type that is known only when the program runs to code for that type.
#pragma once

#include <cuda_runtime.h>

#include "kernels/api/operations.h"

namespace fovea::kernels::cuda {

__host__ __device__ constexpr bool is_quantised(Type type) {
  return type != Type::f32 && type != Type::f16 && type != Type::bf16;
}

// dispatch(type, [&]<Type type>() { … }), in the host's code and in kernels.
#pragma nv_exec_check_disable
template <typename F>
__host__ __device__ __forceinline__ void dispatch(Type type, const F& f) {
  switch (type) {
    case Type::f32:
      return f.template operator()<Type::f32>();
    case Type::f16:
      return f.template operator()<Type::f16>();
    case Type::bf16:
      return f.template operator()<Type::bf16>();
    case Type::q4_0:
      return f.template operator()<Type::q4_0>();
    case Type::q4_1:
      return f.template operator()<Type::q4_1>();
    case Type::q5_0:
      return f.template operator()<Type::q5_0>();
    case Type::q5_1:
      return f.template operator()<Type::q5_1>();
    case Type::q8_0:
      return f.template operator()<Type::q8_0>();
    case Type::q2_k:
      return f.template operator()<Type::q2_k>();
    case Type::q3_k:
      return f.template operator()<Type::q3_k>();
    case Type::q4_k:
      return f.template operator()<Type::q4_k>();
    case Type::q5_k:
      return f.template operator()<Type::q5_k>();
    case Type::q6_k:
      return f.template operator()<Type::q6_k>();
    case Type::iq4_nl:
      return f.template operator()<Type::iq4_nl>();
    case Type::iq4_xs:
      return f.template operator()<Type::iq4_xs>();
    case Type::mxfp4:
      return f.template operator()<Type::mxfp4>();
    case Type::q4_f:
      return f.template operator()<Type::q4_f>();
    case Type::q4_e:
      return f.template operator()<Type::q4_e>();
    case Type::q3_f:
      return f.template operator()<Type::q3_f>();
    case Type::q2_f:
      return f.template operator()<Type::q2_f>();
  }
}

}  // namespace fovea::kernels::cuda
