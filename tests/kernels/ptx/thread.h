// A thread as instructions see it.
#pragma once

#include <cstring>
#include <optional>
#include <stdexcept>
#include <type_traits>

#include "machine.h"
#include "races.h"

namespace fovea::tests::ptx {

// Generic addresses of shared and local memory: far from those of any other.
constexpr Slot shared_window = Slot{1} << 60;
constexpr Slot local_window = Slot{2} << 60;

enum class Space : std::uint8_t { generic, global, shared, local, param };

// A function that runs, or waits for another that it has called.
struct Frame {
  const Function* function = nullptr;
  std::size_t next = 0;  // instruction, while it waits
  std::vector<Slot> slots;
  std::vector<std::byte> parameters;
};

// What the threads of a block share.
struct Block {
  const Memory* memory = nullptr;
  std::vector<std::byte> shared;
  std::int64_t instructions = 0;  // that its threads have done
  std::uint64_t seed = 0;         // of what the PTX ISA leaves open (Machine::use_seed)
  bool host_is_late = false;      // Machine::give_up_host
  Races* races = nullptr;         // null: nobody looks for them
  BlockOrder order;               // theirs
};

// What a thread throws that waits for the host: the launch is to be done anew later.
struct WaitsForHost {};

class Thread {
 public:
  // At the kernel's beginning. What is given must stay while the thread runs.
  void begin(Block& block, const Function& kernel, const std::array<Slot, special_count>& special,
             const std::vector<std::byte>& parameters);
  // Until it waits or ends.
  Step run();
  // Throws std::runtime_error where it should not end or wait for others as it does.
  void check_stop(Step step) const;
  const Instruction& at() const { return *next_; }
  std::uint64_t seed() const { return block_->seed; }
  void go_on() { ++next_; }

  template <typename T>
  T get(std::uint32_t slot) const {
    T value;
    std::memcpy(&value, &slots_[slot], sizeof value);
    return value;
  }
  template <typename T>
  void set(std::uint32_t slot, T value) {
    Slot wide = 0;
    if constexpr (std::is_signed_v<T> && std::is_integral_v<T>) {
      wide = static_cast<Slot>(static_cast<std::int64_t>(value));
    } else {
      std::memcpy(&wide, &value, sizeof value);
    }
    slots_[slot] = wide;
  }

  // The bytes behind an address; throws std::runtime_error where they may not be touched.
  std::byte* reach(Space space, Slot address, std::int64_t bytes, Access access);

  void jump(std::size_t target) { next_ = frames_[depth_].function->code.data() + target; }
  void call(const Instruction& instruction);
  // Whether the thread goes on behind it.
  bool give_back();

  // From global to shared memory; without a source zeros.
  void copy_later(Slot target, std::optional<Slot> source, std::int64_t bytes);
  void commit_copies();
  void wait_for_copies(std::size_t groups_left);

  // Until the host may have come.
  void sleep();
  void fence();
  void wait_for_earlier();
  // What these threads of a warp have done is behind each of them.
  static void order(Thread* const* lanes, std::uint32_t mask);

 private:
  struct Copy {
    std::byte* target;
    const std::byte* source;  // null: zeros
    std::int64_t bytes;
    std::array<Races::Place, 2> places;  // of both
  };
  void enter(const Function& function);
  std::uint32_t number() const { return static_cast<std::uint32_t>((*special_)[tid_x]); }

  Block* block_ = nullptr;
  const std::array<Slot, special_count>* special_ = nullptr;
  std::vector<Frame> frames_;  // up to depth_; those behind it are kept for later calls
  std::size_t depth_ = 0;
  const Instruction* next_ = nullptr;
  Slot* slots_ = nullptr;  // of the frame at depth_
  std::vector<std::byte> local_;
  std::vector<Copy> copies_;  // not committed
  std::vector<std::vector<Copy>> groups_;
};

}  // namespace fovea::tests::ptx
