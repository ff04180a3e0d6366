#include "tests/kernels/cuda/emulation/block.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

#include "tests/kernels/cuda/emulation/memory.h"

namespace fovea::kernels::cuda::emulation {

constinit thread_local Here here;

namespace {

constinit thread_local Block* current_block = nullptr;

constexpr unsigned max_threads = 1024;
constexpr std::int64_t max_static_shared_bytes = 48 << 10;
constexpr std::int64_t max_shared_bytes = 99 << 10;  // what sm_86, sm_89 and sm_120 give one block

// Unwinds a thread whose kernel has failed.
struct Failed {};

std::string text(const Grid& grid) {
  return "(" + std::to_string(grid.x) + ", " + std::to_string(grid.y) + ", " + std::to_string(grid.z) + ")";
}

std::string text(const std::source_location& location) {
  const char* const file = std::strrchr(location.file_name(), '/');
  return std::string(file ? file + 1 : location.file_name()) + ":" + std::to_string(location.line());
}

bool same(const std::source_location& a, const std::source_location& b) {
  return a.line() == b.line() && a.column() == b.column() && std::strcmp(a.file_name(), b.file_name()) == 0;
}

}  // namespace

Block* Block::current() {
  return current_block;
}

Block::~Block() = default;

bool Block::stack_overflow(const void* address) const {
  return running_ && running_->fibre->guards(address);
}

std::string Block::run(const Launch& launch, const std::function<void()>& earlier_ended) {
  launch_ = &launch;
  earlier_ended_ = earlier_ended;
  failure_.clear();
  waits_for_host_ = false;
  const Grid& grid = launch.grid;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.y > 65535 || grid.z > 65535 || launch.threads == 0 ||
      launch.threads > max_threads || launch.shared_bytes > max_shared_bytes) {
    return "kernel " + launch.kernel + " cannot be started with a grid of " + text(grid) + ", " +
           std::to_string(launch.threads) + " threads and " + std::to_string(launch.shared_bytes) +
           " bytes of shared memory";
  }
  Block* const outer = current_block;
  current_block = this;
  arrays_.clear();
  accesses_.begin_launch();
  std::vector<std::uint64_t> blocks(std::size_t{grid.x} * grid.y * grid.z);
  std::iota(blocks.begin(), blocks.end(), 0);
  std::shuffle(blocks.begin(), blocks.end(), random_);
  for (const std::uint64_t block : blocks) {
    here = {.threads = launch.threads,
            .block = {static_cast<unsigned>(block % grid.x), static_cast<unsigned>(block / grid.x % grid.y),
                      static_cast<unsigned>(block / grid.x / grid.y)},
            .grid = grid};
    run_block();
    if (!failure_.empty()) break;
  }
  current_block = outer;
  return failure_;
}

void Block::thread_main(void* block) {
  auto* const self = static_cast<Block*>(block);
  for (;;) {
    try {
      self->launch_->body();
      self->thread_ended();
    } catch (const Failed&) {
      for (;;) self->leave();
    }
  }
}

void Block::start_threads() {
  const unsigned count = launch_->threads;
  if (threads_.size() < count) threads_.resize(count);
  for (unsigned i = 0; i < count; ++i) {
    Thread& thread = threads_[i];
    thread.index = i;
    thread.state = State::ready;
    thread.waited = !launch_->overlaps;
    thread.copies.assign(1, {});
    if (!thread.fibre) {
      thread.fibre = std::make_unique<Fibre>();
      thread.fibre->prepare(thread_main, this);
    }
  }
  warps_.assign((count + 31) / 32, {});
  for (unsigned i = 0; i < count; ++i) warps_[i / 32].lanes |= 1U << i % 32;
  order_.resize(count);
  std::iota(order_.begin(), order_.end(), 0U);
  at_barrier_ = ended_ = 0;
  first_phase_ = ++phase_;
}

void Block::run_block() {
  start_threads();
  run_threads();
  running_ = nullptr;
  if (failure_.empty()) return;
  // Threads were left in the middle: their stacks begin anew.
  for (Thread& thread : threads_) {
    if (thread.fibre) thread.fibre->prepare(thread_main, this);
  }
}

void Block::run_threads() {
  const unsigned count = launch_->threads;
  while (failure_.empty() && ended_ < count) {
    std::shuffle(order_.begin(), order_.end(), random_);
    bool moved = false;
    for (const unsigned i : order_) {
      if (threads_[i].state != State::ready) continue;
      moved = true;
      resume(threads_[i]);
      if (!failure_.empty()) return;
    }
    if (!moved) failure_ = stuck();
  }
}

std::string Block::stuck() const {
  std::string message = "kernel " + launch_->kernel + ", block " + text(here.block) + " cannot go on:";
  int told = 0;
  for (const Thread& thread : threads_) {
    if (thread.index >= launch_->threads || thread.state == State::ended || ++told > 4) continue;
    message += (told > 1 ? "; thread " : " thread ") + std::to_string(thread.index) + " waits for its " +
               (thread.state == State::at_barrier ? "block" : "warp") + " at " + text(thread.location);
  }
  return message;
}

void Block::resume(Thread& thread) {
  running_ = &thread;
  here.thread = thread.index;
  switch_context(scheduler_, thread.fibre->context());
}

void Block::leave() {
  switch_context(running_->fibre->context(), scheduler_);
}

std::string Block::whereabouts() const {
  return "kernel " + launch_->kernel + ", block " + text(here.block) + ", thread " +
         std::to_string(here.thread);
}

void Block::fail(const std::string& what) {
  failure_ = whereabouts() + " " + what;
  throw Failed{};
}

void Block::fail_in_signal(const std::string& what) {
  failure_ = whereabouts() + " " + what;
  for (;;) leave();
}

void Block::wait_for_host() {
  if (!host_has_time_) return;
  waits_for_host_ = true;
  fail("waits for the host");
}

void Block::wait_for_earlier() {
  if (!launch_->overlaps) fail("waits for earlier kernels, for which its launch has waited");
  running_->waited = true;
  if (earlier_ended_) std::exchange(earlier_ended_, nullptr)();
}

void Block::check_waited() {
  if (!running_->waited) fail("has not waited for earlier kernels at its beginning");
}

std::uint32_t Block::number() {
  return here.block.x + here.grid.x * (here.block.y + here.grid.y * here.block.z);
}

bool Block::races(const void* address, std::int64_t bytes, Accesses::Kind kind) {
  const std::string other = accesses_.add(memory_, address, bytes, kind,
                                          {number(), here.thread / 32, static_cast<std::uint32_t>(phase_)});
  if (other.empty()) return false;
  const char* const what = kind == Accesses::Kind::read ? " reads " : " writes ";
  failure_ = whereabouts() + what + memory_.describe(address) + ", which races with " + other;
  return true;
}

void Block::trace(const void* address, std::int64_t bytes, Accesses::Kind kind) {
  if (!running_ || !races(address, bytes, kind)) return;
  // Not by unwinding: no compiler expects that of what it told.
  for (;;) leave();
}

void Block::thread_ended() {
  check_waited();
  Thread& thread = *running_;
  for (const auto& group : thread.copies) {
    if (!group.empty()) fail("ends without waiting for its asynchronous copies to " + group[0].array->name());
  }
  Warp& warp = warps_[thread.index / 32];
  const unsigned lane = 1U << thread.index % 32;
  if (at_barrier_ > 0)
    fail("ends while " + std::to_string(at_barrier_) + " threads wait for the block at " + text(barrier_));
  if (warp.arrived && (warp.mask & lane))
    fail("ends while lanes of its warp wait for it in " + std::string(warp.what) + " at " +
         text(warp.location));
  warp.ended |= lane;
  ++ended_;
  thread.state = State::ended;
  leave();
}

void Block::wait_for_block(std::source_location location) {
  check_waited();
  running_->location = location;
  if (ended_ > 0)
    fail("waits for the block at " + text(location) + ", where " + std::to_string(ended_) +
         " threads have ended");
  if (at_barrier_ > 0 && !same(location, barrier_))
    fail("waits for the block at " + text(location) + ", other threads at " + text(barrier_));
  barrier_ = location;
  running_->state = State::at_barrier;
  if (++at_barrier_ == launch_->threads) {
    at_barrier_ = 0;
    ++phase_;
    for (unsigned i = 0; i < launch_->threads; ++i) threads_[i].state = State::ready;
  }
  leave();
}

void Block::arrive_in_warp(unsigned mask, void* mine, Together act, const char* what, bool orders_memory,
                           std::source_location location) {
  check_waited();
  Warp& warp = warps_[running_->index / 32];
  const unsigned lane = running_->index % 32;
  running_->location = location;
  // No strings yet: a stack that is left in the middle is never unwound.
  const auto at = [&] { return " in " + std::string(what) + " at " + text(location); };
  if (!(mask >> lane & 1U)) fail("takes part" + at() + ", whose mask leaves it out");
  if (mask & ~warp.lanes) fail("waits" + at() + " for lanes that its warp does not have");
  if (mask & warp.ended)
    fail("waits" + at() + " for lane " + std::to_string(std::countr_zero(mask & warp.ended)) +
         ", which has ended");
  if (warp.arrived == 0) {
    warp.mask = mask;
    warp.what = what;
    warp.location = location;
  } else if (warp.mask != mask || !same(warp.location, location)) {
    fail("is" + at() + (warp.mask != mask ? " with another mask than" : ", while") +
         " lanes of its warp in " + warp.what + " at " + text(warp.location));
  }
  warp.brought[lane] = mine;
  warp.arrived |= 1U << lane;
  running_->state = State::in_warp;
  if (warp.arrived == mask) {
    if (act) act(warp.brought);
    if (orders_memory) ++warp.step;
    const unsigned first = running_->index / 32 * 32;
    for (unsigned i = 0; i < 32; ++i) {
      if (mask >> i & 1U) threads_[first + i].state = State::ready;
    }
    warp.arrived = 0;
    std::fill(std::begin(warp.brought), std::end(warp.brought), nullptr);
  }
  leave();
}

void Block::wait_for_warp(unsigned mask, std::source_location location) {
  arrive_in_warp(mask, nullptr, nullptr, "sync_warp", true, location);
}

void Block::act_together(unsigned mask, void* mine, Together act, const char* what,
                         std::source_location location) {
  arrive_in_warp(mask, mine, act, what, false, location);
}

SharedArray& Block::array(const void* key, const char* name, std::int64_t offset, std::size_t element_bytes,
                          std::int64_t count) {
  for (Array& one : arrays_) {
    if (one.key != key) continue;
    if (one.offset != offset || one.array->count() != count)
      fail("declares the shared array " + std::string(name) + " otherwise than before");
    return *one.array;
  }
  auto made = std::make_unique<SharedArray>(name, element_bytes, count);
  std::int64_t fixed_bytes = offset < 0 ? made->bytes() : 0;
  for (const Array& one : arrays_) {
    if (one.offset < 0) fixed_bytes += one.array->bytes();
    const bool apart = one.offset < 0 || offset < 0 || one.offset + one.array->bytes() <= offset ||
                       offset + made->bytes() <= one.offset;
    if (!apart) fail("declares the shared array " + std::string(name) + " over " + one.array->name());
  }
  if (fixed_bytes > max_static_shared_bytes || fixed_bytes + launch_->shared_bytes > max_shared_bytes)
    fail("needs more shared memory than a block has");
  if (offset >= 0 && (offset % 16 != 0 || offset + made->bytes() > launch_->shared_bytes)) {
    fail("declares the shared array " + std::string(name) + " of " + std::to_string(made->bytes()) +
         " bytes at byte " + std::to_string(offset) + " of " + std::to_string(launch_->shared_bytes));
  }
  arrays_.push_back({key, offset, std::move(made)});
  return *arrays_.back().array;
}

SharedArray& Block::shared_array(const void* key, const char* name, std::size_t element_bytes,
                                 std::int64_t count) {
  return array(key, name, -1, element_bytes, count);
}

SharedArray& Block::dynamic_array(const void* key, const char* name, std::int64_t offset_bytes,
                                  std::size_t element_bytes, std::int64_t count) {
  return array(key, name, offset_bytes, element_bytes, count);
}

void Block::begin_copy(SharedArray& array, std::int64_t first, std::int64_t count, const void* source,
                       std::int64_t bytes) {
  array.begin_copy(first, count);
  running_->copies.back().push_back({&array, first, count, source, bytes});
}

void Block::commit_copies() {
  running_->copies.emplace_back();
}

void Block::wait_for_copies(int groups_left) {
  auto& groups = running_->copies;
  const std::size_t open = 1;
  std::vector<std::byte> bytes;
  while (groups.size() - open > static_cast<std::size_t>(groups_left)) {
    for (const Copy& copy : groups.front()) {
      bytes.assign(static_cast<std::size_t>(copy.bytes), std::byte{0});
      // Zero source bytes: the copy fills with zeros, as cp.async does.
      if (copy.source) trace_read(copy.source, copy.bytes);
      if (copy.source) std::memcpy(bytes.data(), copy.source, bytes.size());
      copy.array->land_copy(copy.first, copy.count, bytes.data());
    }
    groups.erase(groups.begin());
  }
}

}  // namespace fovea::kernels::cuda::emulation
