#include "machine.h"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <numeric>
#include <random>
#include <stdexcept>

#include "block.h"

namespace fovea::tests::ptx {
namespace {

// As a multiprocessor has several; more would be seen no sooner.
constexpr std::uint64_t max_resident = 4;

// As it stands in the source.
std::string readable(const std::string& name) {
  const std::unique_ptr<char, decltype(&std::free)> found(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, nullptr), std::free);
  return found ? found.get() : name;
}

}  // namespace

struct Machine::State {
  explicit State(const Memory& of) : memory(of), races(of) {}

  const Memory& memory;
  std::mt19937_64 random;
  std::uint64_t seed = 0;
  bool watches = false, host_is_late = false;
  Races races;
  std::array<ResidentBlock, max_resident> blocks;

  void run(const Program& program, const Function& kernel, const Grid& grid,
           const std::vector<std::byte>& parameters);
};

// Some blocks are there at a time; where one ends the next one comes.
void Machine::State::run(const Program& program, const Function& kernel, const Grid& grid,
                         const std::vector<std::byte>& parameters) {
  const std::uint64_t count = std::uint64_t{grid.blocks[0]} * grid.blocks[1] * grid.blocks[2];
  std::vector<std::uint64_t> order(count);
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  std::ranges::shuffle(order, random);
  if (watches) races.begin_launch(program, grid);
  const auto next = [&](ResidentBlock& block) {
    const std::uint64_t i = order.back();
    order.pop_back();
    const auto& n = grid.blocks;
    block.begin(memory, watches ? &races : nullptr, seed, host_is_late, program, kernel, grid,
                {static_cast<std::uint32_t>(i % n[0]), static_cast<std::uint32_t>(i / n[0] % n[1]),
                 static_cast<std::uint32_t>(i / n[0] / n[1])},
                parameters);
  };
  std::vector<ResidentBlock*> resident;
  for (std::uint64_t k = std::min(count, 1 + random() % max_resident); k > 0; --k) {
    resident.push_back(&blocks[resident.size()]);
    next(*resident.back());
  }
  while (!resident.empty()) {
    const auto turn = resident.begin() + static_cast<std::ptrdiff_t>(random() % resident.size());
    ResidentBlock& block = **turn;
    try {
      if (!block.take_turn(random)) continue;
    } catch (const std::runtime_error& error) {
      throw std::runtime_error("block (" + std::to_string(block.number()[0]) + ", " +
                               std::to_string(block.number()[1]) + ", " + std::to_string(block.number()[2]) +
                               "), " + error.what());
    }
    if (order.empty()) {
      resident.erase(turn);
    } else {
      next(block);
    }
  }
}

Machine::Machine(const Memory& memory) : state_(std::make_unique<State>(memory)) {}
Machine::~Machine() = default;

std::int64_t Machine::instructions() const {
  return std::accumulate(
      state_->blocks.begin(), state_->blocks.end(), std::int64_t{0},
      [](std::int64_t sum, const ResidentBlock& block) { return sum + block.instructions(); });
}

void Machine::use_seed(std::uint64_t seed, std::uint64_t order) {
  state_->random.seed(seed);
  state_->seed = state_->random();
  if (order != 0) state_->random.seed(seed + order);
}

void Machine::watch(bool races) {
  state_->watches = races;
}

void Machine::give_up_host(bool late) {
  state_->host_is_late = late;
}

bool Machine::waited_unasked() const {
  return state_->races.waited_unasked();
}

std::string Machine::execute(const Program& program, const Function& kernel, const Grid& grid,
                             const void* const* parameters) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(kernel.parameter_bytes));
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    std::memcpy(bytes.data() + kernel.parameters[i].at, parameters[i],
                static_cast<std::size_t>(kernel.parameters[i].bytes));
  }
  waits_for_host_ = false;
  try {
    state_->run(program, kernel, grid, bytes);
    return {};
  } catch (const std::runtime_error& error) {
    state_->races.forget();
    return readable(kernel.name) + ", " + error.what();
  } catch (const WaitsForHost&) {
    state_->races.forget();
    waits_for_host_ = true;
    return {};
  }
}

}  // namespace fovea::tests::ptx
