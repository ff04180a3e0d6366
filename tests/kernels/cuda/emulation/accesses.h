// Races in device memory: threads of one launch that reach the same bytes, one of them writing, with nothing
// between that orders them: fences of two blocks, barriers of two warps of a block; lanes of a warp are
// left alone, and so are atomic operations among themselves.
//
// Known only where the compiler tells each access: Clang's -fsanitize-coverage=trace-loads,trace-stores, with
// which kernels are compiled for the address sanitizer (FOVEA_TRACE_ACCESSES). Elsewhere this costs nothing
// and sees nothing. What Clang copies as a whole struct goes untold.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace fovea::kernels::cuda::emulation {

class DeviceMemory;

class Accesses {
 public:
  // Who reaches memory. `phase` is another one behind each barrier of a block.
  struct Actor {
    std::uint32_t block = 0;
    std::uint32_t warp = 0;
    std::uint32_t phase = 0;
  };
  enum class Kind : std::uint8_t { read, write, atomic };

  void begin_launch() {
    ++launch_;
    fenced_.clear();
  }
  // A block has a fence: what blocks with one reach is taken to be ordered by what they count atomically.
  void fence(std::uint32_t block) { fenced_.insert(block); }
  // What it races with, "a write of block 3, warp 1"; empty: nothing.
  std::string add(const DeviceMemory& memory, const void* address, std::int64_t bytes, Kind kind,
                  const Actor& actor);

 private:
  struct Access {
    Actor actor;
    std::uint32_t launch = 0;  // 0: there was none
  };
  struct Byte {
    Access write, read, other_read;  // other_read: by another warp than `read`, or block
    bool atomic = false;             // the write was
  };
  struct Page {
    int number = 0;  // of the allocation that it belongs to
    std::vector<Byte> bytes;
  };
  // Most of what is told are a thread's own variables, of which nothing is to be looked up twice.
  struct Known {
    std::uintptr_t page = 0;
    std::uint32_t launch = 0;
    Byte* bytes = nullptr;  // null: no device memory
  };

  // Null where it is no device memory.
  Byte* bytes_of(const DeviceMemory& memory, std::uintptr_t page);

  bool ordered(const Actor& before, const Actor& now) const;

  std::uint32_t launch_ = 0;
  std::unordered_set<std::uint32_t> fenced_;
  std::unordered_map<std::uintptr_t, Page> pages_;
  std::array<Known, 1024> known_;
};

#if defined(FOVEA_TRACE_ACCESSES)
constexpr bool traces_accesses = true;
void trace_fence();
// By the thread that runs; nothing outside kernels.
void trace_access(const void* address, std::int64_t bytes, Accesses::Kind kind);
inline void trace_read(const void* address, std::int64_t bytes) {
  trace_access(address, bytes, Accesses::Kind::read);
}
#else
constexpr bool traces_accesses = false;
inline void trace_fence() {}
inline void trace_read(const void*, std::int64_t) {}
#endif

int add_atomically(int* at, int value);  // what it was

}  // namespace fovea::kernels::cuda::emulation
