// cuBLAS, NVIDIA's library of dense products, for matrices of BF16 with many tokens. It is looked for when a
// stream first wants it: hundreds of megabytes that Fovea neither needs nor brings along. Where it is not
// installed, Fovea's own tiles do the same.
#pragma once

#include <cuda_runtime_api.h>
#include <library_types.h>
#include <memory>
#include <string>

#include "kernels/cuda/module/device.h"
#include "kernels/cuda/stream.h"

namespace fovea::kernels::cuda {

// The library's functions, by their names and values in NVIDIA's cublas_api.h.
struct BlasLibrary {
  using Handle = void*;
  int (*create)(Handle*) = nullptr;
  int (*destroy)(Handle) = nullptr;
  int (*set_stream)(Handle, cudaStream_t) = nullptr;
  int (*set_workspace)(Handle, void*, std::size_t) = nullptr;
  int (*set_math_mode)(Handle, int) = nullptr;
  int (*multiply)(Handle, int transposed_a, int transposed_b, int m, int n, int k, const void* alpha,
                  const void* a, cudaDataType, int lda, const void* b, cudaDataType, int ldb,
                  const void* beta, void* c, cudaDataType, int ldc, int compute, int algorithm) = nullptr;
  int (*property)(libraryPropertyType, int*) = nullptr;
  const char* (*status_name)(int) = nullptr;

  std::string name;   // "cuBLAS 13.1.0", empty: it cannot be used
  std::string path;   // of the file
  Obstacle obstacle;  // why not

  // "cuBLAS 13.1.0, /usr/lib/libcublas.so.13"; empty: it cannot be used.
  std::string full_name() const { return name.empty() ? name : name + ", " + path; }

  // The one of the toolkit or the system; the file that FOVEA_CUBLAS names, or none where it says "off".
  // Looks once.
  static const BlasLibrary& get();
  // Why the file that FOVEA_CUBLAS names cannot be used; empty: it can, or none is named.
  static Obstacle refusal();
  static BlasLibrary load(const std::string& wanted);  // what FOVEA_CUBLAS says
};

// One stream's.
class Blas {
 public:
  // Of a workspace, as NVIDIA advises for its largest devices.
  static constexpr std::int64_t workspace_bytes = std::int64_t{32} << 20;

  // `workspace` is the device's memory, aligned to 256. Null where the device has no memory left, and where
  // it failed, which the context then says.
  static std::unique_ptr<Blas> create(const BlasLibrary&, Context&, cudaStream_t, void* workspace);
  ~Blas();
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;

  void multiply(const Bfloat16Product&);

 private:
  Blas(const BlasLibrary& library, Context& context) : library_(library), context_(context) {}
  bool check(int status, Action action);

  const BlasLibrary& library_;
  Context& context_;
  BlasLibrary::Handle handle_ = nullptr;
};

}  // namespace fovea::kernels::cuda
