// Executes kernels from their PTX, one block after the other, a thread until it must wait for others. What a
// GPU does not allow ends a launch with a text that names the instruction: memory that is not the device's,
// an address that its size does not divide, a barrier or an exchange that some of its threads never reach.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <random>

#include "program.h"

namespace fovea::tests::ptx {

// The device's.
class Memory {
 public:
  void add(const void* memory, std::int64_t bytes);
  void remove(const void* memory);
  bool holds(Slot address, std::int64_t bytes) const;

 private:
  std::map<Slot, std::int64_t> pieces_;
  mutable std::pair<Slot, Slot> last_ = {1, 0};  // where the last address was found
};

struct Grid {
  std::array<std::uint32_t, 3> blocks = {1, 1, 1};
  std::uint32_t threads = 1;  // of a block
  std::int64_t shared_bytes = 0;
};

class Machine {
 public:
  explicit Machine(const Memory& memory);
  ~Machine();

  // Drawn from it: the order of blocks, and of warps within one; by how much ex2, rsqrt and rcp are off, up
  // to 2 units in the last place, the same for the same operand; and the order in which mma adds.
  void use_seed(std::uint64_t seed);
  // That threads have done so far, of all launches.
  std::int64_t instructions() const;
  // `parameters` has one pointer for each of the kernel's. Empty, or what went wrong. A launch in which a
  // thread sleeps waits for the host: it ends there, and as it may have written nothing yet it is to be done
  // anew.
  bool waits_for_host() const { return waits_for_host_; }
  std::string execute(const Program& program, const Function& kernel, const Grid& grid,
                      const void* const* parameters);

 private:
  class Launch;
  struct State;
  std::unique_ptr<State> state_;
  bool waits_for_host_ = false;
};

}  // namespace fovea::tests::ptx
