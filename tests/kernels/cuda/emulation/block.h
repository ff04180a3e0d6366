// Runs a kernel's blocks one after the other on the host: each thread of a block is a fibre that runs until
// it waits for others or ends. Which waiting thread goes on is drawn from a seed.
//
// What a kernel does wrong ends the launch with a message that names kernel, block and thread: barriers that
// some threads do not reach, operations of a warp without some of its lanes, wrong use of shared memory
// (shared.h), accesses outside the device's memory and, where the compiler tells them, races in it
// (accesses.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <source_location>
#include <string>
#include <vector>

#include "tests/kernels/cuda/emulation/accesses.h"
#include "tests/kernels/cuda/emulation/fibre.h"
#include "tests/kernels/cuda/emulation/shared.h"

namespace fovea::kernels::cuda::emulation {

struct Grid {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;
};

struct Launch {
  std::string kernel;
  Grid grid;
  unsigned threads = 1;                 // of a block
  std::int64_t shared_bytes = 0;        // of dynamic shared memory
  bool overlaps = false;                // each thread waits for earlier kernels before all else
  std::function<void()> body;           // runs once for each thread
  std::vector<const void*> words = {};  // of a captured one: what of its arguments may be addresses
};

// Where the running thread is, for threadIdx and its like.
struct Here {
  unsigned thread = 0;
  unsigned threads = 0;
  Grid block;
  Grid grid;
};
extern constinit thread_local Here here;

// What the lanes of a warp do together. lanes[i] is what lane i brought, null for one that takes no part.
using Together = void (*)(void* const* lanes);

class Block {
 public:
  Block(std::uint64_t seed, const DeviceMemory& memory) : random_(seed), memory_(memory) {}
  ~Block();

  // All blocks of a launch, in an order drawn from the seed. Empty, or what went wrong. `earlier_ended` is
  // called when the first thread of a launch that overlaps has waited: before, it must not reach what earlier
  // kernels may still be writing or reading, which is anything.
  std::string run(const Launch&, const std::function<void()>& earlier_ended = nullptr);
  // Whether the host may take its time for an answer, and whether the launch has ended for want of one.
  void host_has_time(bool has) { host_has_time_ = has; }
  bool waits_for_host() const { return waits_for_host_; }

  // --- for the thread that runs; each names the location in the kernel ---
  void wait_for_earlier();
  void wait_for_block(std::source_location);
  void wait_for_warp(unsigned mask, std::source_location);
  void act_together(unsigned mask, void* mine, Together, const char* what, std::source_location);
  SharedArray& shared_array(const void* key, const char* name, std::size_t element_bytes, std::int64_t count);
  SharedArray& dynamic_array(const void* key, const char* name, std::int64_t offset_bytes,
                             std::size_t element_bytes, std::int64_t count);
  void begin_copy(SharedArray&, std::int64_t first, std::int64_t count, const void* source,
                  std::int64_t bytes);
  void commit_copies();
  void wait_for_copies(int groups_left);
  // Ends the launch where it is a race.
  void trace(const void* address, std::int64_t bytes, Accesses::Kind kind);
  void trace_fence() { accesses_.fence(number()); }
  // Where the host has time, the launch ends here, to be done anew later: no thread may have written anything
  // yet. Otherwise the host is late.
  void wait_for_host();
  // Ends the launch: "kernel k, block (0, 0, 0), thread 3 <what>".
  [[noreturn]] void fail(const std::string& what);
  [[noreturn]] void fail_in_signal(
      const std::string& what);     // likewise, without unwinding the thread's stack
  std::string whereabouts() const;  // "kernel k, block (0, 0, 0), thread 3"

  std::uint64_t phase() const { return phase_; }
  std::uint64_t first_phase() const { return first_phase_; }
  std::uint32_t warp_step(unsigned thread) const { return warps_[thread / 32].step; }
  bool in_thread() const { return running_ != nullptr; }
  bool stack_overflow(const void* address) const;

  // The block that runs on this host thread, or null.
  static Block* current();

 private:
  enum class State : std::uint8_t { ready, at_barrier, in_warp, ended };
  struct Copy {
    SharedArray* array;
    std::int64_t first;
    std::int64_t count;
    const void* source;
    std::int64_t bytes;
  };
  struct Thread {
    std::unique_ptr<Fibre> fibre;
    unsigned index = 0;
    State state = State::ended;
    std::source_location location;
    bool waited = false;                    // for earlier kernels
    std::vector<std::vector<Copy>> copies;  // by group; the last one is open
  };
  struct Warp {
    unsigned lanes = 0;  // those that the block has
    unsigned arrived = 0;
    unsigned mask = 0;
    unsigned ended = 0;
    const char* what = "";
    std::source_location location;
    void* brought[32] = {};
    std::uint32_t step = 1;
  };
  struct Array {
    const void* key;
    std::int64_t offset;  // in dynamic shared memory; −1: its own
    std::unique_ptr<SharedArray> array;
  };

  static std::uint32_t number();  // of the running block in its grid
  bool races(const void* address, std::int64_t bytes, Accesses::Kind kind);
  void run_block();
  void start_threads();
  void run_threads();
  void resume(Thread&);
  void leave();  // back to the scheduler
  void check_waited();
  void thread_ended();
  void arrive_in_warp(unsigned mask, void* mine, Together, const char* what, bool orders_memory,
                      std::source_location);
  SharedArray& array(const void* key, const char* name, std::int64_t offset, std::size_t element_bytes,
                     std::int64_t count);
  std::string stuck() const;
  static void thread_main(void* block);

  std::mt19937_64 random_;
  const DeviceMemory& memory_;
  Accesses accesses_;
  const Launch* launch_ = nullptr;
  std::function<void()> earlier_ended_;
  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  std::vector<Array> arrays_;
  std::vector<unsigned> order_;
  Context scheduler_;
  Thread* running_ = nullptr;
  std::source_location barrier_;
  unsigned at_barrier_ = 0;
  unsigned ended_ = 0;
  std::uint64_t phase_ = 0;
  std::uint64_t first_phase_ = 1;
  std::string failure_;
  bool host_has_time_ = false, waits_for_host_ = false;
};

}  // namespace fovea::kernels::cuda::emulation
