#include "kernels/cpu/memory.h"

#include <cstring>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace fovea::kernels::cpu {
namespace {

constexpr std::int64_t page_bytes = 4096;

}  // namespace

#if defined(__linux__)

namespace {

constexpr std::int64_t huge_page_bytes = std::int64_t{2} << 20;

std::size_t mapped_bytes(std::int64_t bytes) {
  const std::int64_t unit = bytes >= huge_page_bytes ? huge_page_bytes : page_bytes;
  return static_cast<std::size_t>((bytes + unit - 1) / unit * unit);
}

}  // namespace

// The pages are zero and take no memory until they are first written, which the threads that pack do in
// parallel.
std::byte* allocate_pages(std::int64_t bytes) {
  const std::size_t size = mapped_bytes(bytes > 0 ? bytes : 1);
  // A huge page must start at a multiple of its size: map more, and give back what is too much.
  const std::size_t slack = bytes >= huge_page_bytes ? static_cast<std::size_t>(huge_page_bytes) : 0;
  void* const mapped =
      mmap(nullptr, size + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  if (slack == 0) return static_cast<std::byte*>(mapped);
  const auto address = reinterpret_cast<std::uintptr_t>(mapped);
  const std::size_t before = (slack - address % slack) % slack;
  std::byte* const memory = static_cast<std::byte*>(mapped) + before;
  if (before > 0) munmap(mapped, before);
  if (slack > before) munmap(memory + size, slack - before);
  madvise(memory, size, MADV_HUGEPAGE);
  return memory;
}

void release_pages(std::byte* memory, std::int64_t bytes) {
  if (memory) munmap(memory, mapped_bytes(bytes > 0 ? bytes : 1));
}

#else

std::byte* allocate_pages(std::int64_t bytes) {
  void* const memory =
      ::operator new(static_cast<std::size_t>(bytes), std::align_val_t{page_bytes}, std::nothrow);
  if (memory) std::memset(memory, 0, static_cast<std::size_t>(bytes));
  return static_cast<std::byte*>(memory);
}

void release_pages(std::byte* memory, std::int64_t) {
  ::operator delete(memory, std::align_val_t{page_bytes});
}

#endif

}  // namespace fovea::kernels::cpu
