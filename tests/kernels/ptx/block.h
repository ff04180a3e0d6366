// A block whose threads take turns: whoever can go on does, until it waits for others or lets them come
// before.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "thread.h"

namespace fovea::tests::ptx {

class ResidentBlock {
 public:
  using Number = std::array<std::uint32_t, 3>;
  // What is given must stay while the block runs. `races`: null where nobody looks for them.
  void begin(const Memory& memory, Races* races, std::uint64_t seed, bool host_is_late,
             const Program& program, const Function& kernel, const Grid& grid, const Number& number,
             const std::vector<std::byte>& parameters);
  // A turn of each warp, in an order that is drawn; whether the block has ended. Throws std::runtime_error.
  bool take_turn(std::mt19937_64& random);

  const Number& number() const { return number_; }
  std::int64_t instructions() const { return state_.instructions; }

 private:
  std::uint32_t end_of_warp(std::uint32_t first) const;
  bool run_warp(std::uint32_t first, std::uint32_t order);
  void run_thread(std::uint32_t thread);
  bool meet(std::uint32_t first, std::uint32_t thread);
  bool release_barrier();
  std::string waiting() const;

  Number number_ = {};
  Block state_;
  // As many as a block has had at most, so that their memory is taken once.
  std::vector<std::array<Slot, special_count>> special_;
  std::vector<Thread> threads_;
  std::vector<Step> steps_;
  std::vector<std::uint32_t> warps_;
};

}  // namespace fovea::tests::ptx
