// Executes kernels from their PTX: some blocks of a launch at a time, each thread until it must wait for
// others. What a GPU does not allow ends a launch with a text that names the instruction: memory that is not
// the device's, an address that its size does not divide, a barrier or an exchange that some of its threads
// never reach, and, where it is asked for, races (races.h).
#pragma once

#include <array>
#include <memory>

#include "memory.h"
#include "program.h"

namespace fovea::tests::ptx {

struct Grid {
  std::array<std::uint32_t, 3> blocks = {1, 1, 1};
  std::uint32_t threads = 1;  // of a block
  std::int64_t shared_bytes = 0;
  bool overlaps = false;  // begins before earlier kernels have ended
};

class Machine {
 public:
  explicit Machine(const Memory& memory);
  ~Machine();

  // Drawn from it: which blocks are there together, in which order they, their warps and the lanes of those
  // get on; by how much ex2, rsqrt and rcp are off, up to 2 units in the last place, the same for the same
  // operand; and the order in which mma adds. With another `order` only what comes first is another.
  void use_seed(std::uint64_t seed, std::uint64_t order = 0);
  // Whether races are looked for, which takes its time.
  void watch(bool races);
  // That threads have done so far, of all launches.
  std::int64_t instructions() const;
  // `parameters` has one pointer for each of the kernel's. Empty, or what went wrong. A launch in which a
  // thread sleeps waits for the host: it ends there, and as it may have written nothing yet it is to be done
  // anew.
  bool waits_for_host() const { return waits_for_host_; }
  // Whether the host will not come: who sleeps finds that more time has gone by than anybody waits.
  void give_up_host(bool late);
  std::string execute(const Program& program, const Function& kernel, const Grid& grid,
                      const void* const* parameters);
  // Whether the last launch has waited for earlier kernels that was not to overlap them; known where races
  // are looked for.
  bool waited_unasked() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
  bool waits_for_host_ = false;
};

}  // namespace fovea::tests::ptx
