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

// A quantised type and whether it lies in tiles, as one number.
__host__ __device__ constexpr int quantised_form(Type type, bool packed) {
  return 2 * static_cast<int>(type) + (packed ? 1 : 0);
}

// dispatch_quantised(form, [&]<Type type, bool packed>() { … }); nothing where it is no such form.
#pragma nv_exec_check_disable
template <typename F>
__host__ __device__ __forceinline__ void dispatch_quantised(int form, const F& f) {
  switch (form) {
    case quantised_form(Type::q4_0, true):
      return f.template operator()<Type::q4_0, true>();
    case quantised_form(Type::q4_0, false):
      return f.template operator()<Type::q4_0, false>();
    case quantised_form(Type::q4_1, true):
      return f.template operator()<Type::q4_1, true>();
    case quantised_form(Type::q4_1, false):
      return f.template operator()<Type::q4_1, false>();
    case quantised_form(Type::q5_0, true):
      return f.template operator()<Type::q5_0, true>();
    case quantised_form(Type::q5_0, false):
      return f.template operator()<Type::q5_0, false>();
    case quantised_form(Type::q5_1, true):
      return f.template operator()<Type::q5_1, true>();
    case quantised_form(Type::q5_1, false):
      return f.template operator()<Type::q5_1, false>();
    case quantised_form(Type::q8_0, true):
      return f.template operator()<Type::q8_0, true>();
    case quantised_form(Type::q8_0, false):
      return f.template operator()<Type::q8_0, false>();
    case quantised_form(Type::q2_k, true):
      return f.template operator()<Type::q2_k, true>();
    case quantised_form(Type::q2_k, false):
      return f.template operator()<Type::q2_k, false>();
    case quantised_form(Type::q3_k, true):
      return f.template operator()<Type::q3_k, true>();
    case quantised_form(Type::q3_k, false):
      return f.template operator()<Type::q3_k, false>();
    case quantised_form(Type::q4_k, true):
      return f.template operator()<Type::q4_k, true>();
    case quantised_form(Type::q4_k, false):
      return f.template operator()<Type::q4_k, false>();
    case quantised_form(Type::q5_k, true):
      return f.template operator()<Type::q5_k, true>();
    case quantised_form(Type::q5_k, false):
      return f.template operator()<Type::q5_k, false>();
    case quantised_form(Type::q6_k, true):
      return f.template operator()<Type::q6_k, true>();
    case quantised_form(Type::q6_k, false):
      return f.template operator()<Type::q6_k, false>();
    case quantised_form(Type::iq4_nl, true):
      return f.template operator()<Type::iq4_nl, true>();
    case quantised_form(Type::iq4_nl, false):
      return f.template operator()<Type::iq4_nl, false>();
    case quantised_form(Type::iq4_xs, true):
      return f.template operator()<Type::iq4_xs, true>();
    case quantised_form(Type::iq4_xs, false):
      return f.template operator()<Type::iq4_xs, false>();
    case quantised_form(Type::mxfp4, true):
      return f.template operator()<Type::mxfp4, true>();
    case quantised_form(Type::mxfp4, false):
      return f.template operator()<Type::mxfp4, false>();
    case quantised_form(Type::q4_f, true):
      return f.template operator()<Type::q4_f, true>();
    case quantised_form(Type::q4_f, false):
      return f.template operator()<Type::q4_f, false>();
    case quantised_form(Type::q4_e, true):
      return f.template operator()<Type::q4_e, true>();
    case quantised_form(Type::q4_e, false):
      return f.template operator()<Type::q4_e, false>();
    case quantised_form(Type::q3_f, true):
      return f.template operator()<Type::q3_f, true>();
    case quantised_form(Type::q3_f, false):
      return f.template operator()<Type::q3_f, false>();
    case quantised_form(Type::q2_f, true):
      return f.template operator()<Type::q2_f, true>();
    case quantised_form(Type::q2_f, false):
      return f.template operator()<Type::q2_f, false>();
    default:
      return;
  }
}

}  // namespace fovea::kernels::cuda
