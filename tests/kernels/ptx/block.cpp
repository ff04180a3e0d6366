#include "block.h"

#include <algorithm>
#include <numeric>

namespace fovea::tests::ptx {
namespace {

constexpr std::uint32_t lanes = 32;

std::runtime_error at(const Instruction& one, const std::string& what) {
  return std::runtime_error(one.where() + ": " + what);
}

}  // namespace

void ResidentBlock::begin(const Memory& memory, Races* races, std::uint64_t seed, bool host_is_late,
                          const Program& program, const Function& kernel, const Grid& grid,
                          const Number& number, const std::vector<std::byte>& parameters) {
  number_ = number;
  state_.memory = &memory;
  state_.races = races;
  state_.seed = seed;
  state_.host_is_late = host_is_late;
  const std::int64_t shared_bytes = program.shared_bytes + grid.shared_bytes;
  state_.shared.assign(static_cast<std::size_t>(shared_bytes), std::byte{0xA5});
  if (races) {
    const auto& n = grid.blocks;
    races->begin_block(state_.order, number[0] + n[0] * (number[1] + n[1] * number[2]), shared_bytes);
  }
  if (threads_.size() < grid.threads) {
    special_.resize(grid.threads);
    threads_.resize(grid.threads);
  }
  steps_.assign(grid.threads, Step::next);
  for (std::uint32_t t = 0; t < grid.threads; ++t) {
    special_[t] = {t,         grid.threads,   number[0],      number[1],
                   number[2], grid.blocks[0], grid.blocks[1], grid.blocks[2]};
    threads_[t].begin(state_, kernel, special_[t], parameters);
  }
  warps_.resize((grid.threads + lanes - 1) / lanes);
  std::iota(warps_.begin(), warps_.end(), 0U);
}

bool ResidentBlock::take_turn(std::mt19937_64& random) {
  std::ranges::shuffle(warps_, random);
  bool moved = false;
  for (const std::uint32_t warp : warps_)
    moved |= run_warp(warp * lanes, static_cast<std::uint32_t>(random() % lanes));
  if (std::ranges::all_of(steps_, [](Step s) { return s == Step::ended; })) return true;
  if (!moved && !release_barrier())
    throw std::runtime_error("threads wait for others that will not come: " + waiting());
  return false;
}

std::uint32_t ResidentBlock::end_of_warp(std::uint32_t first) const {
  return std::min(first + lanes, static_cast<std::uint32_t>(steps_.size()));
}

// Whether any thread got on. `order`: the bits in which the lanes' turns differ from their numbers.
bool ResidentBlock::run_warp(std::uint32_t first, std::uint32_t order) {
  bool moved = false;
  for (std::uint32_t turn = 0; turn < lanes; ++turn) {
    const std::uint32_t t = first + (turn ^ order);
    if (t >= end_of_warp(first) || steps_[t] != Step::next) continue;
    moved = true;
    run_thread(t);
  }
  for (std::uint32_t t = first; t < end_of_warp(first); ++t)
    moved |= steps_[t] == Step::warp && meet(first, t);
  return moved;
}

void ResidentBlock::run_thread(std::uint32_t thread) {
  try {
    steps_[thread] = threads_[thread].run();
    if (steps_[thread] != Step::next) threads_[thread].check_stop(steps_[thread]);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error("thread " + std::to_string(thread) + ", " +
                             at(threads_[thread].at(), error.what()).what());
  }
}

// Whether all lanes that the thread's instruction names have come to it; then it is done.
bool ResidentBlock::meet(std::uint32_t first, std::uint32_t thread) {
  const Instruction& one = threads_[thread].at();
  const std::uint32_t mask =
      one.mask < 0 ? ~0U : threads_[thread].get<std::uint32_t>(one.from[static_cast<std::size_t>(one.mask)]);
  if ((mask >> (thread - first) & 1U) == 0) throw at(one, "a lane is not in its own mask");
  Thread* together[lanes] = {};
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    if ((mask >> lane & 1U) == 0) continue;
    const std::uint32_t t = first + lane;
    if (t >= steps_.size() || steps_[t] == Step::ended)
      throw at(one, "a lane that is not there is waited for");
    if (steps_[t] != Step::warp || &threads_[t].at() != &one) return false;
    together[lane] = &threads_[t];
  }
  one.together(together, mask, one);
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    if (!together[lane]) continue;
    together[lane]->go_on();
    steps_[first + lane] = Step::next;
  }
  return true;
}

// Once all threads are at one and the same barrier.
bool ResidentBlock::release_barrier() {
  const auto first = std::ranges::find(steps_, Step::block);
  if (std::ranges::any_of(steps_, [](Step s) { return s != Step::block && s != Step::ended; })) return false;
  const Instruction& one = threads_[static_cast<std::size_t>(first - steps_.begin())].at();
  if (const auto ended = std::ranges::count(steps_, Step::ended); ended > 0)
    throw at(one, "a barrier before which " + std::to_string(ended) + " threads have ended");
  for (std::uint32_t t = 0; t < steps_.size(); ++t) {
    if (&threads_[t].at() != &one)
      throw at(one, "a barrier while thread " + std::to_string(t) + " waits at " + threads_[t].at().where());
  }
  if (state_.races) state_.races->barrier(state_.order);
  for (std::uint32_t t = 0; t < steps_.size(); ++t) {
    threads_[t].go_on();
    steps_[t] = Step::next;
  }
  return true;
}

std::string ResidentBlock::waiting() const {
  std::string text;
  for (std::uint32_t t = 0; t < steps_.size() && text.size() < 400; ++t) {
    if (steps_[t] == Step::ended) continue;
    text += "thread " + std::to_string(t) + " at " + threads_[t].at().where() + "; ";
  }
  return text;
}

}  // namespace fovea::tests::ptx
