#include "tests/kernels/cuda/emulation/accesses.h"

#include "tests/kernels/cuda/emulation/block.h"
#include "tests/kernels/cuda/emulation/memory.h"

namespace fovea::kernels::cuda::emulation {
namespace {

constexpr std::uintptr_t page_bytes = 4096;

std::string text(const char* what, const Accesses::Actor& actor) {
  return std::string(what) + " of block " + std::to_string(actor.block) + ", warp " +
         std::to_string(actor.warp);
}

}  // namespace

bool Accesses::ordered(const Actor& before, const Actor& now) const {
  if (before.block != now.block) return fenced_.contains(before.block) && fenced_.contains(now.block);
  return before.warp == now.warp || before.phase != now.phase;
}

Accesses::Byte* Accesses::bytes_of(const DeviceMemory& memory, std::uintptr_t page) {
  Known& known = known_[page % known_.size()];
  if (known.launch == launch_ && known.page == page) return known.bytes;
  known = {page, launch_, nullptr};
  const int number = memory.number(reinterpret_cast<const void*>(page * page_bytes));
  if (number == 0) return nullptr;
  Page& kept = pages_[page];
  if (kept.number != number) kept = {number, std::vector<Byte>(page_bytes)};
  known.bytes = kept.bytes.data();
  return known.bytes;
}

std::string Accesses::add(const DeviceMemory& memory, const void* address, std::int64_t bytes, Kind kind,
                          const Actor& actor) {
  const auto first = reinterpret_cast<std::uintptr_t>(address);
  const Access now{actor, launch_};
  for (std::uintptr_t at = first; at < first + static_cast<std::uintptr_t>(bytes); ++at) {
    Byte* const page = bytes_of(memory, at / page_bytes);
    if (!page) return {};
    Byte& b = page[at % page_bytes];
    const bool both_atomic = kind == Kind::atomic && b.atomic;
    if (b.write.launch == launch_ && !both_atomic && !ordered(b.write.actor, actor))
      return text(b.atomic ? "an atomic operation" : "a write", b.write.actor);
    if (kind == Kind::read) {
      const bool same_warp = b.read.actor.block == actor.block && b.read.actor.warp == actor.warp;
      if (b.read.launch == launch_ && !same_warp) b.other_read = b.read;
      b.read = now;
      continue;
    }
    for (const Access* read : {&b.read, &b.other_read}) {
      if (read->launch == launch_ && !ordered(read->actor, actor)) return text("a read", read->actor);
    }
    b.write = now;
    b.atomic = kind == Kind::atomic;
  }
  return {};
}

int add_atomically(int* at, int value) {
#if defined(FOVEA_TRACE_ACCESSES)
  trace_access(at, sizeof *at, Accesses::Kind::atomic);
#endif
  const int old = *at;
  *at += value;
  return old;
}

#if defined(FOVEA_TRACE_ACCESSES)

void trace_fence() {
  if (Block* const block = Block::current()) block->trace_fence();
}

void trace_access(const void* address, std::int64_t bytes, Accesses::Kind kind) {
  if (Block* const block = Block::current()) block->trace(address, bytes, kind);
}

namespace {

void read_of(const void* address, std::int64_t bytes) {
  trace_access(address, bytes, Accesses::Kind::read);
}
void write_of(const void* address, std::int64_t bytes) {
  trace_access(address, bytes, Accesses::Kind::write);
}

}  // namespace

#endif

}  // namespace fovea::kernels::cuda::emulation

#if defined(FOVEA_TRACE_ACCESSES)
// What Clang has each access of a kernel call; the sanitizers' runtime has weak ones that do nothing.
extern "C" {
#define FOVEA_TRACED(size)                                    \
  void __sanitizer_cov_load##size(const void* address) {      \
    fovea::kernels::cuda::emulation::read_of(address, size);  \
  }                                                           \
  void __sanitizer_cov_store##size(const void* address) {     \
    fovea::kernels::cuda::emulation::write_of(address, size); \
  }
FOVEA_TRACED(1)
FOVEA_TRACED(2)
FOVEA_TRACED(4)
FOVEA_TRACED(8)
FOVEA_TRACED(16)
#undef FOVEA_TRACED
}
#endif
