#include "thread.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace fovea::tests::ptx {

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
  // Registers begin with whatever was in them.
  if (std::exchange(frame.function, &function) != &function)
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
      case Step::paused:
        go_on();
        return Step::next;
      default:
        return step;
    }
  }
}

void Thread::check_stop(Step step) const {
  if (block_->races) block_->races->check_waited(block_->order, number());
  const auto is_empty = [](const auto& copies) { return copies.empty(); };
  if (step == Step::ended && (!copies_.empty() || !std::ranges::all_of(groups_, is_empty)))
    throw std::runtime_error("it ends without having waited for its copies");
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

std::byte* Thread::reach(Space space, Slot address, std::int64_t bytes, Access access) {
  if (space == Space::generic) {
    space = address >= local_window ? Space::local : address >= shared_window ? Space::shared : Space::global;
    if (space == Space::local) address -= local_window;
    if (space == Space::shared) address -= shared_window;
  }
  if (address % static_cast<Slot>(bytes) != 0)
    throw std::runtime_error("an address that its size does not divide");
  const auto watch = [&] {
    if (block_->races)
      block_->races->access(block_->order, number(), {space == Space::shared, address, bytes}, access,
                            at().line);
  };
  if (space == Space::global) {
    if (!block_->memory->holds(address, bytes))
      throw std::runtime_error("not the device's memory: " + block_->memory->describe(address));
    watch();
    return contents(address);
  }
  std::vector<std::byte>& memory = space == Space::shared  ? block_->shared
                                   : space == Space::local ? local_
                                                           : frames_[depth_].parameters;
  if (space == Space::shared) address &= 0xFFFFFFFFU;
  if (address + static_cast<Slot>(bytes) > memory.size())
    throw std::runtime_error("beyond the end of its memory");
  if (space == Space::shared) {
    const std::vector<bool>& arrays = frames_[0].function->shared_arrays;
    if (address < arrays.size() && !(arrays[address] && arrays[address + static_cast<Slot>(bytes) - 1]))
      throw std::runtime_error("outside the kernel's arrays in shared memory");
    watch();
  }
  return memory.data() + address;
}

void Thread::copy_later(Slot target, std::optional<Slot> source, std::int64_t bytes) {
  std::byte* const to = reach(Space::shared, target, bytes, Access::copy_to);
  const std::byte* const from = source ? reach(Space::global, *source, bytes, Access::copy_from) : nullptr;
  copies_.push_back({to, from, bytes, {{{true, target, bytes}, {false, source.value_or(0), bytes}}}});
}
void Thread::commit_copies() {
  groups_.push_back(std::exchange(copies_, {}));
}
void Thread::wait_for_copies(std::size_t groups_left) {
  while (groups_.size() > groups_left) {
    for (const Copy& copy : groups_.front()) {
      const auto bytes = static_cast<std::size_t>(copy.bytes);
      copy.source ? std::memcpy(copy.target, copy.source, bytes) : std::memset(copy.target, 0, bytes);
      if (!block_->races) continue;
      block_->races->land(block_->order, number(), copy.places[0]);
      if (copy.source) block_->races->land(block_->order, number(), copy.places[1]);
    }
    groups_.erase(groups_.begin());
  }
}

void Thread::sleep() {
  if (!block_->host_is_late) throw WaitsForHost();
  for (const auto& [slot, which] : frames_[depth_].function->special)
    if (which == globaltimer) slots_[slot] += 10'000'000'000;
}

void Thread::fence() {
  if (block_->races) block_->races->fence(block_->order, number());
}

void Thread::wait_for_earlier() {
  if (block_->races) block_->races->wait_for_earlier(block_->order, number());
}

void Thread::order(Thread* const* lanes, std::uint32_t mask) {
  const Thread& any = *lanes[std::countr_zero(mask)];
  if (any.block_->races) any.block_->races->warp_barrier(any.block_->order, any.number() / 32 * 32, mask);
}

}  // namespace fovea::tests::ptx
