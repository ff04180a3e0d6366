#include "kernels/cpu/stream.h"

#include <new>

namespace fovea::kernels::cpu {
namespace {
constexpr std::align_val_t alignment{64};
}

CpuStream::~CpuStream() {
  ::operator delete(scratch_, alignment);
}

std::byte* CpuStream::scratch(std::int64_t bytes) {
  if (bytes > scratch_bytes_) {
    ::operator delete(scratch_, alignment);
    scratch_ = nullptr;
    scratch_bytes_ = 0;
    const std::int64_t wanted = bytes + bytes / 4;  // pass sizes vary a little: do not grow each time
    scratch_ = static_cast<std::byte*>(::operator new(static_cast<std::size_t>(wanted), alignment));
    scratch_bytes_ = wanted;
  }
  return scratch_;
}

}  // namespace fovea::kernels::cpu
