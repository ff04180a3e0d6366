#include "kernels/cuda/module/blas.h"

#include <array>
#include <cstdlib>
#include <dlfcn.h>
#include <string_view>

namespace fovea::kernels::cuda {
namespace {

// Values of NVIDIA's cublas_api.h; tests/kernels/cuda/blas_test.cpp holds them against it.
constexpr int success = 0;
constexpr int allocation_failed = 3;
constexpr int not_transposed = 0, transposed = 1;
constexpr int sums_in_float = 68;
constexpr int default_algorithm = -1;
constexpr int no_reduced_sums = 16;  // parts of a sum are not added up in bfloat16

// What the toolkit of this build has, and the version before, whose functions are the same.
constexpr std::array names = {"libcublas.so.13", "libcublas.so.12"};
// Where the loader looks by itself, then those of toolkits that told it nothing.
constexpr std::array folders = {"", "/usr/local/cuda/lib64/", "/opt/cuda/lib64/"};

constexpr std::string_view off = "off";
std::string asked_for() {
  const char* const value = std::getenv("FOVEA_CUBLAS");
  return value ? value : "";
}

template <class Function>
bool find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

bool find_all(void* library, BlasLibrary& found) {
  return find(library, "cublasCreate_v2", found.create) && find(library, "cublasDestroy_v2", found.destroy) &&
         find(library, "cublasSetStream_v2", found.set_stream) &&
         find(library, "cublasSetWorkspace_v2", found.set_workspace) &&
         find(library, "cublasSetMathMode", found.set_math_mode) &&
         find(library, "cublasGemmEx", found.multiply) &&
         find(library, "cublasGetProperty", found.property) &&
         find(library, "cublasGetStatusName", found.status_name);
}

std::string path_of(const void* function) {
  Dl_info info = {};
  return dladdr(function, &info) != 0 && info.dli_fname ? info.dli_fname : "";
}

std::string version_text(const BlasLibrary& library) {
  std::string text;
  for (const libraryPropertyType part : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
    int number = 0;
    library.property(part, &number);
    text += (text.empty() ? "" : ".") + std::to_string(number);
  }
  return text;
}

using Kind = Obstacle::Kind;

BlasLibrary none(Kind kind, std::vector<std::string> named = {}, std::string said = {}) {
  BlasLibrary found;
  found.obstacle = {.kind = kind, .names = std::move(named), .said = std::move(said)};
  return found;
}

BlasLibrary open(const std::string& file) {
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* const text = dlerror();
    return none(Kind::unloadable_library, {file, names.front()}, text ? text : "");
  }
  BlasLibrary found;
  if (!find_all(library, found)) return none(Kind::foreign_library, {file, names.front()});
  found.name = "cuBLAS " + version_text(found);
  found.path = path_of(reinterpret_cast<const void*>(found.multiply));
  return found;
}

}  // namespace

BlasLibrary BlasLibrary::load(const std::string& wanted) {
  if (wanted == off) return none(Kind::library_off);
  if (!wanted.empty()) return open(wanted);
  for (const char* const name : names) {
    for (const char* const folder : folders) {
      if (BlasLibrary found = open(std::string(folder) + name); !found.name.empty()) return found;
    }
  }
  return none(Kind::no_library, {names.front()});
}

const BlasLibrary& BlasLibrary::get() {
  static const BlasLibrary found = load(asked_for());
  return found;
}

Obstacle BlasLibrary::refusal() {
  return asked_for().empty() || asked_for() == off ? Obstacle{} : get().obstacle;
}

std::unique_ptr<Blas> Blas::create(const BlasLibrary& library, Context& context, cudaStream_t stream,
                                   void* workspace) {
  std::unique_ptr<Blas> made(new Blas(library, context));
  const int status = library.create(&made->handle_);
  if (status == allocation_failed || !made->check(status, Action::starting_the_library)) return nullptr;
  // In this order: a stream brings a workspace of its own.
  if (!made->check(library.set_stream(made->handle_, stream), Action::giving_the_library_its_stream) ||
      !made->check(library.set_workspace(made->handle_, workspace, workspace_bytes),
                   Action::giving_the_library_memory) ||
      !made->check(library.set_math_mode(made->handle_, no_reduced_sums),
                   Action::telling_the_library_how_to_add))
    return nullptr;
  return made;
}

Blas::~Blas() {
  if (handle_) library_.destroy(handle_);
}

// cuBLAS takes columns for rows: a row-major matrix is the transpose of what it sees, so it multiplies
// out[rows, tokens] = transposed weights[columns, rows] · x[columns, tokens].
void Blas::multiply(const Bfloat16Product& p) {
  const float one = 1, zero = 0;
  check(
      library_.multiply(handle_, transposed, not_transposed, static_cast<int>(p.rows),
                        static_cast<int>(p.tokens), static_cast<int>(p.columns), &one, p.weights, CUDA_R_16BF,
                        static_cast<int>(p.columns), p.x, CUDA_R_16BF, static_cast<int>(p.x_stride), &zero,
                        p.out, CUDA_R_32F, static_cast<int>(p.out_stride), sums_in_float, default_algorithm),
      Action::multiplying);
}

bool Blas::check(int status, Action action) {
  if (status == success) return true;
  context_.fail({.action = action, .said = library_.status_name(status), .library = library_.full_name()});
  return false;
}

}  // namespace fovea::kernels::cuda
