#include "machine.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "thread.h"

namespace fovea::tests::ptx {

void Memory::add(const void* memory, std::int64_t bytes) {
  pieces_[reinterpret_cast<Slot>(memory)] = bytes;
}
void Memory::remove(const void* memory) {
  pieces_.erase(reinterpret_cast<Slot>(memory));
  last_ = {1, 0};
}
bool Memory::holds(Slot address, std::int64_t bytes) const {
  const Slot end = address + static_cast<Slot>(bytes);
  if (address >= last_.first && end <= last_.second) return true;
  auto found = pieces_.upper_bound(address);
  if (found == pieces_.begin()) return false;
  --found;
  const std::pair<Slot, Slot> piece = {found->first, found->first + static_cast<Slot>(found->second)};
  if (end > piece.second) return false;
  last_ = piece;
  return true;
}

void Thread::begin(Block& block, const Function& kernel, const std::array<Slot, special_count>& special,
                   const std::vector<std::byte>& parameters) {
  block_ = &block;
  special_ = &special;
  depth_ = 0;
  enter(kernel);
  std::ranges::copy(parameters, frames_[0].parameters.begin());
  local_.assign(static_cast<std::size_t>(kernel.local_bytes), std::byte{0xA5});
  copies_.clear();
  groups_.clear();
}

// The frame at depth_ becomes the function's.
void Thread::enter(const Function& function) {
  if (frames_.size() <= depth_) frames_.resize(depth_ + 1);
  Frame& frame = frames_[depth_];
  frame.function = &function;
  frame.slots.assign(function.slots.begin(), function.slots.end());
  frame.parameters.assign(static_cast<std::size_t>(function.parameter_bytes), std::byte{0xA5});
  for (const auto& [slot, which] : function.special)
    frame.slots[slot] = (*special_)[static_cast<std::size_t>(which)];
  slots_ = frame.slots.data();
  next_ = function.code.data();
}

Step Thread::run() {
  while (true) {
    const Instruction& one = at();
    ++block_->instructions;
    if (one.guard >= 0 && (get<std::uint8_t>(static_cast<std::uint32_t>(one.guard)) != 0) == one.unless) {
      go_on();
      continue;
    }
    switch (const Step step = one.run(*this, one)) {
      case Step::next:
        go_on();
        break;
      case Step::branched:
        break;
      default:
        return step;
    }
  }
}

void Thread::call(const Instruction& instruction) {
  const Function& called = *instruction.called;
  if (called.local_bytes > 0) throw std::runtime_error("local memory of a called function");
  frames_[depth_].next = static_cast<std::size_t>(&instruction - frames_[depth_].function->code.data()) + 1;
  ++depth_;
  enter(called);
  for (std::size_t i = 0; i < instruction.arguments.size(); ++i) {
    const Parameter& own = called.parameters[i];
    std::copy_n(frames_[depth_ - 1].parameters.begin() + instruction.arguments[i], own.bytes,
                frames_[depth_].parameters.begin() + own.at);
  }
}

bool Thread::give_back() {
  if (depth_ == 0) return false;
  --depth_;
  slots_ = frames_[depth_].slots.data();
  jump(frames_[depth_].next);
  return true;
}

std::byte* Thread::reach(Space space, Slot address, std::int64_t bytes) {
  if (space == Space::generic) {
    space = address >= local_window ? Space::local : address >= shared_window ? Space::shared : Space::global;
    if (space == Space::local) address -= local_window;
    if (space == Space::shared) address -= shared_window;
  }
  if (address % static_cast<Slot>(bytes) != 0)
    throw std::runtime_error("an address that its size does not divide");
  if (space == Space::global) {
    if (!block_->memory->holds(address, bytes)) throw std::runtime_error("not the device's memory");
    return reinterpret_cast<std::byte*>(address);
  }
  std::vector<std::byte>& memory = space == Space::shared  ? block_->shared
                                   : space == Space::local ? local_
                                                           : frames_[depth_].parameters;
  if (space == Space::shared) address &= 0xFFFFFFFFU;
  if (address + static_cast<Slot>(bytes) > memory.size())
    throw std::runtime_error("beyond the end of its memory");
  return memory.data() + address;
}

void Thread::copy_later(std::byte* target, const std::byte* source, std::int64_t bytes) {
  copies_.push_back({target, source, bytes});
}
void Thread::commit_copies() {
  groups_.push_back(std::exchange(copies_, {}));
}
void Thread::wait_for_copies(std::size_t groups_left) {
  while (groups_.size() > groups_left) {
    for (const Copy& copy : groups_.front()) {
      const auto bytes = static_cast<std::size_t>(copy.bytes);
      copy.source ? std::memcpy(copy.target, copy.source, bytes) : std::memset(copy.target, 0, bytes);
    }
    groups_.erase(groups_.begin());
  }
}

namespace {

constexpr std::uint32_t lanes = 32;

}  // namespace

struct Machine::State {
  Block block;
  std::mt19937_64 random;
  // As many as a block has had at most, so that their memory is taken once.
  std::vector<std::array<Slot, special_count>> special;
  std::vector<Thread> threads;
  std::vector<Step> states;
};

// The blocks of a launch, one after the other.
class Machine::Launch {
 public:
  Launch(State& state, const Function& kernel, const Grid& grid, const std::vector<std::byte>& parameters)
      : s_(state), kernel_(kernel), grid_(grid), parameters_(parameters) {
    if (s_.threads.size() < grid.threads) {
      s_.special.resize(grid.threads);
      s_.threads.resize(grid.threads);
    }
    s_.states.resize(grid.threads);
  }

  void run(const std::array<std::uint32_t, 3>& block) {
    std::ranges::fill(s_.block.shared, std::byte{0xA5});
    std::ranges::fill(s_.states, Step::next);
    for (std::uint32_t t = 0; t < grid_.threads; ++t) {
      s_.special[t] = {t,        grid_.threads,   block[0],        block[1],
                       block[2], grid_.blocks[0], grid_.blocks[1], grid_.blocks[2]};
      s_.threads[t].begin(s_.block, kernel_, s_.special[t], parameters_);
    }
    const std::uint32_t warps = (grid_.threads + lanes - 1) / lanes;
    std::vector<std::uint32_t> order(warps);
    std::iota(order.begin(), order.end(), 0U);
    while (true) {
      std::ranges::shuffle(order, s_.random);
      bool moved = false;
      for (const std::uint32_t warp : order) moved |= run_warp(warp * lanes);
      if (std::ranges::all_of(s_.states, [](Step s) { return s == Step::ended; })) return;
      if (!moved && !release_block())
        throw std::runtime_error("threads wait for others that will not come: " + waiting());
    }
  }

 private:
  std::uint32_t end_of_warp(std::uint32_t first) const {
    return std::min(first + lanes, static_cast<std::uint32_t>(s_.states.size()));
  }

  // Whether any thread got on.
  bool run_warp(std::uint32_t first) {
    bool moved = false;
    for (std::uint32_t t = first; t < end_of_warp(first); ++t) {
      if (s_.states[t] != Step::next) continue;
      moved = true;
      try {
        s_.states[t] = s_.threads[t].run();
      } catch (const std::runtime_error& error) {
        const Instruction& at = s_.threads[t].at();
        throw std::runtime_error("thread " + std::to_string(t) + ", line " + std::to_string(at.line) + " \"" +
                                 at.text + "\": " + error.what());
      }
    }
    for (std::uint32_t t = first; t < end_of_warp(first); ++t)
      moved |= s_.states[t] == Step::warp && meet(first, t);
    return moved;
  }

  // Whether all lanes that the thread's instruction names have come to it; then it is done.
  bool meet(std::uint32_t first, std::uint32_t thread) {
    const Instruction& one = s_.threads[thread].at();
    const std::uint32_t mask =
        one.mask < 0 ? ~0U
                     : s_.threads[thread].get<std::uint32_t>(one.from[static_cast<std::size_t>(one.mask)]);
    if ((mask >> (thread - first) & 1U) == 0)
      throw std::runtime_error("a lane is not in its own mask: " + one.text);
    Thread* together[lanes] = {};
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      if ((mask >> lane & 1U) == 0) continue;
      const std::uint32_t t = first + lane;
      if (t >= s_.states.size() || s_.states[t] == Step::ended)
        throw std::runtime_error("a lane that is not there is waited for: " + one.text);
      if (s_.states[t] != Step::warp || &s_.threads[t].at() != &one) return false;
      together[lane] = &s_.threads[t];
    }
    one.together(together, mask, one);
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      if (!together[lane]) continue;
      together[lane]->go_on();
      s_.states[first + lane] = Step::next;
    }
    return true;
  }

  // A barrier of all threads that have not ended.
  bool release_block() {
    if (!std::ranges::all_of(s_.states, [](Step s) { return s == Step::block || s == Step::ended; }))
      return false;
    for (std::uint32_t t = 0; t < s_.states.size(); ++t) {
      if (s_.states[t] != Step::block) continue;
      s_.threads[t].go_on();
      s_.states[t] = Step::next;
    }
    return true;
  }

  std::string waiting() const {
    std::string text;
    for (std::uint32_t t = 0; t < s_.states.size() && text.size() < 400; ++t) {
      if (s_.states[t] == Step::ended) continue;
      text += "thread " + std::to_string(t) + " at line " + std::to_string(s_.threads[t].at().line) + "; ";
    }
    return text;
  }

  State& s_;
  const Function& kernel_;
  const Grid& grid_;
  const std::vector<std::byte>& parameters_;
};

Machine::Machine(const Memory& memory) : state_(std::make_unique<State>()) {
  state_->block.memory = &memory;
}
Machine::~Machine() = default;

std::int64_t Machine::instructions() const {
  return state_->block.instructions;
}

void Machine::use_seed(std::uint64_t seed) {
  state_->random.seed(seed);
  state_->block.seed = state_->random();
}

std::string Machine::execute(const Program& program, const Function& kernel, const Grid& grid,
                             const void* const* parameters) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(kernel.parameter_bytes));
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    std::memcpy(bytes.data() + kernel.parameters[i].at, parameters[i],
                static_cast<std::size_t>(kernel.parameters[i].bytes));
  }
  const std::uint64_t count = std::uint64_t{grid.blocks[0]} * grid.blocks[1] * grid.blocks[2];
  std::vector<std::uint64_t> order(count);
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  std::ranges::shuffle(order, state_->random);
  state_->block.shared.resize(static_cast<std::size_t>(program.shared_bytes + grid.shared_bytes));
  waits_for_host_ = false;
  Launch launch(*state_, kernel, grid, bytes);
  for (const std::uint64_t i : order) {
    const std::array<std::uint32_t, 3> block = {
        static_cast<std::uint32_t>(i % grid.blocks[0]),
        static_cast<std::uint32_t>(i / grid.blocks[0] % grid.blocks[1]),
        static_cast<std::uint32_t>(i / grid.blocks[0] / grid.blocks[1])};
    try {
      launch.run(block);
    } catch (const std::runtime_error& error) {
      return kernel.name + ", block (" + std::to_string(block[0]) + ", " + std::to_string(block[1]) + ", " +
             std::to_string(block[2]) + "), " + error.what();
    } catch (const WaitsForHost&) {
      waits_for_host_ = true;
      return {};
    }
  }
  return {};
}

}  // namespace fovea::tests::ptx
