#include "races.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "machine.h"

namespace fovea::tests::ptx {
namespace {

constexpr std::uint32_t lanes = 32, max_threads = 1024;
constexpr std::uint32_t max_blocks = 1U << 22;  // whose threads an epoch can name
constexpr Slot page_bytes = 4096;
constexpr std::size_t max_pages = 1024;  // kept from launch to launch
constexpr Slot word = 4;

bool writes(Access access) {
  return access == Access::write || access == Access::strong_write || access == Access::atomic ||
         access == Access::copy_to;
}
bool is_strong(Access access) {
  return access == Access::strong_read || access == Access::strong_write || access == Access::atomic;
}

std::uint32_t block_of(std::uint32_t thread) {
  return thread / max_threads;
}

void join(AllAcquired& into, const AllAcquired& more) {
  for (const Acquired& one : more) {
    const auto known = std::ranges::find(into, one.at, &Acquired::at);
    if (known == into.end()) {
      into.push_back(one);
    } else {
      known->count = std::max(known->count, one.count);
    }
  }
}

void join(VectorClock& into, const VectorClock& more) {
  into.block = std::max(into.block, more.block);
  for (std::size_t l = 0; l < lanes; ++l) into.lanes[l] = std::max(into.lanes[l], more.lanes[l]);
}

// `thread` is one of the same block.
bool covers(const VectorClock& clock, std::uint32_t thread, const Epoch& epoch) {
  return epoch.clock < clock.block ||
         (epoch.thread / lanes == thread / lanes && epoch.clock < clock.lanes[epoch.thread % lanes]);
}

bool covers(const AllAcquired& acquired, const Epoch& epoch, const std::vector<Release>* within = nullptr) {
  return std::ranges::any_of(acquired, [&](const Acquired& one) {
    if (one.at == within) return false;  // it is a part of what is being searched
    return std::any_of(one.at->begin(), one.at->begin() + static_cast<std::ptrdiff_t>(one.count),
                       [&](const Release& release) {
                         if (block_of(release.thread) == block_of(epoch.thread)) {
                           if (covers(release.fenced, release.thread, epoch)) return true;
                           if (release.fences && epoch.clock < (*release.fences)[epoch.thread % max_threads])
                             return true;
                         }
                         return covers(release.acquired, epoch, one.at);
                       });
  });
}

}  // namespace

void Shadow::resize(std::int64_t bytes) {
  of_cell_ = word;
  cells_.resize((static_cast<Slot>(bytes) + word - 1) / word);
}

void Shadow::forget() {
  std::ranges::fill(cells_, Cell{});
}

std::span<Cell> Shadow::cells(Slot at, std::int64_t bytes) {
  const auto count = static_cast<Slot>(bytes);
  while ((at | count) % of_cell_ != 0) {
    std::vector<Cell> halves;
    halves.reserve(2 * cells_.size());
    for (const Cell& cell : cells_) halves.insert(halves.end(), 2, cell);
    cells_ = std::move(halves);
    of_cell_ /= 2;
  }
  return std::span(cells_).subspan(at / of_cell_, count / of_cell_);
}

void Races::begin_launch(const Program& program, const Grid& grid) {
  if (std::uint64_t{grid.blocks[0]} * grid.blocks[1] * grid.blocks[2] > max_blocks)
    throw std::runtime_error("more blocks than are watched for races");
  program_ = &program;
  blocks_ = grid.blocks;
  threads_ = grid.threads;
  overlaps_ = grid.overlaps;
  waited_unasked_ = false;
  earlier_begun_ = begun_;
  begun_ = ++latest_;
  released_.clear();
  if (pages_.size() > max_pages) forget();
}

void Races::forget() {
  ++forgotten_;
  for (auto& [page, shadow] : pages_) spare_.push_back(std::move(shadow));
  pages_.clear();
  known_.assign(known_pages, {});
}

void Races::begin_block(BlockOrder& block, std::uint32_t number, std::int64_t shared_bytes) {
  block.number = number;
  block.begun = ++latest_;
  if (std::exchange(block.forgotten, forgotten_) != forgotten_) block.shared = {};
  block.shared.resize(shared_bytes);
  block.threads.resize(threads_);
  for (ThreadOrder& thread : block.threads) {
    thread.now.block = block.begun;
    thread.now.lanes.fill(block.begun);
    thread.fenced = {};
    thread.seen.clear();
    thread.acquired.clear();
    thread.waited = !overlaps_;
  }
  block.fences = nullptr;
  block.fenced = block.synchronises = false;
}

Clock Races::tick(Clock clock) {
  latest_ = std::max(latest_, clock + 1);
  return clock + 1;
}

std::span<Cell> Races::cells(BlockOrder& block, const Place& place) {
  if (place.is_shared) return block.shared.cells(place.address, place.bytes);
  const Slot page = place.address / page_bytes;
  Known& known = known_[page % known_pages];
  if (known.page != page) {
    const auto [found, is_new] = pages_.try_emplace(page);
    if (is_new) {
      if (!spare_.empty()) {
        found->second = std::move(spare_.back());
        spare_.pop_back();
      }
      found->second.resize(page_bytes);
      found->second.forget();
    }
    known = {page, &found->second};
  }
  return known.shadow->cells(place.address % page_bytes, place.bytes);
}

bool Races::knows(const BlockOrder& block, std::uint32_t thread, const Epoch& epoch) const {
  if (epoch.clock == under_way) return false;
  const std::uint32_t me = block.number * max_threads + thread;
  if (epoch.thread == me) return true;
  const ThreadOrder& order = block.threads[thread];
  if (block_of(epoch.thread) == block.number && covers(order.now, me, epoch)) return true;
  return covers(order.acquired, epoch);
}

void Races::access(BlockOrder& block, std::uint32_t thread, const Place& place, Access access, int line) {
  const ThreadOrder& order = block.threads[thread];
  const bool strong = is_strong(access), copies = access == Access::copy_from || access == Access::copy_to;
  const Epoch now = {.clock = copies ? under_way : order.now.lanes[thread % lanes],
                     .thread = block.number * max_threads + thread,
                     .line = static_cast<std::uint32_t>(line),
                     .strong = strong};
  const Clock begun = place.is_shared ? block.begun : begun_;  // what is older was another's
  const auto check = [&](const Epoch& epoch, const char* what) {
    if (epoch.clock >= begun && !(strong && epoch.strong) && !knows(block, thread, epoch))
      race(epoch, what, place);
  };
  for (Cell& cell : cells(block, place)) {
    if (!order.waited && !place.is_shared) check_early(cell, access);
    if (place.is_shared && access != Access::strong_write && access != Access::write &&
        access != Access::copy_to && cell.write.clock < block.begun)
      throw std::runtime_error("shared memory that nobody has written");
    check(cell.write, cell.write.clock == under_way ? "a copy that has not been waited for, " : "a write ");
    if (access == Access::constant && cell.write.clock >= begun_)
      throw std::runtime_error("no constant: the launch has written it, " + text(cell.write));
    if (!writes(access)) {
      if (cell.read.thread != now.thread || cell.read.clock == under_way)
        (cell.read.thread / lanes == now.thread / lanes ? cell.read_by_mate : cell.read_elsewhere) =
            cell.read;
      cell.read = now;
      continue;
    }
    check(cell.read, "a read ");
    check(cell.read_by_mate, "a read ");
    check(cell.read_elsewhere, "a read ");
    cell.write = now;
  }
  if (strong) synchronise(block, thread, place);
}

void Races::land(BlockOrder& block, std::uint32_t thread, const Place& place) {
  const std::uint32_t me = block.number * max_threads + thread;
  for (Cell& cell : cells(block, place)) {
    for (Epoch* epoch : {&cell.write, &cell.read, &cell.read_by_mate, &cell.read_elsewhere}) {
      if (epoch->clock == under_way && epoch->thread == me)
        epoch->clock = block.threads[thread].now.lanes[thread % lanes];
    }
  }
}

// A thread's atomic operation, or strong read or write: others at that word, before it, are seen, and what
// was fenced is released. A strong write that is not atomic ends what was released before; here it does not.
void Races::synchronise(BlockOrder& block, std::uint32_t thread, const Place& place) {
  ThreadOrder& order = block.threads[thread];
  const Slot key = place.is_shared ? Slot{1} << 63 | Slot{block.number} << 32 | place.address : place.address;
  const bool releases = order.fenced.block > 0 || block.fences || !order.acquired.empty();
  const auto found = releases ? released_.try_emplace(key).first : released_.find(key);
  if (found == released_.end()) return;
  if (releases)
    found->second.push_back(
        {block.number * max_threads + thread, order.fenced, block.fences, order.acquired});
  join(order.seen, {{&found->second, found->second.size()}});
  block.synchronises = true;
}

// membar.gl and membar.sys are fence.sc: what one thread's barrier hands to another, the other's atomic
// operation releases, and what one thread has seen is acquired by the fence of another behind a barrier.
void Races::fence(BlockOrder& block, std::uint32_t thread) {
  ThreadOrder& order = block.threads[thread];
  join(order.acquired, order.seen);
  Clock& own = order.now.lanes[thread % lanes];
  own = tick(own);
  order.fenced = order.now;
  block.fenced = true;
}

void Races::barrier(BlockOrder& block) {
  const Clock now = ++latest_;
  if (block.fenced) {
    auto fences = block.fences ? std::make_shared<Fences>(*block.fences)
                               : std::make_shared<Fences>(block.threads.size(), Clock{0});
    Clock all = 0;
    for (const ThreadOrder& thread : block.threads) all = std::max(all, thread.fenced.block);
    for (std::size_t t = 0; t < fences->size(); ++t) {
      Clock& known = (*fences)[t];
      known = std::max(known, all);
      const std::size_t first = t / lanes * lanes, end = std::min<std::size_t>(first + lanes, fences->size());
      for (std::size_t mate = first; mate < end; ++mate)
        known = std::max(known, block.threads[mate].fenced.lanes[t % lanes]);
    }
    block.fences = fences;
    block.fenced = false;
  }
  AllAcquired seen, acquired;
  if (block.synchronises) {
    for (const ThreadOrder& thread : block.threads) {
      join(seen, thread.seen);
      join(acquired, thread.acquired);
    }
  }
  for (std::size_t t = 0; t < block.threads.size(); ++t) {
    ThreadOrder& thread = block.threads[t];
    thread.now.block = now;
    thread.now.lanes[t % lanes] = now;
    if (!block.synchronises) continue;
    thread.seen = seen;
    thread.acquired = acquired;
  }
}

void Races::warp_barrier(BlockOrder& block, std::uint32_t first, std::uint32_t mask) {
  VectorClock now, fenced;
  AllAcquired seen, acquired;
  const auto each = [&](auto&& act) {
    for (std::uint32_t lane = 0; lane < lanes; ++lane)
      if ((mask >> lane & 1U) != 0) act(lane, block.threads[first + lane]);
  };
  each([&](std::uint32_t, const ThreadOrder& thread) {
    join(now, thread.now);
    join(fenced, thread.fenced);
    join(seen, thread.seen);
    join(acquired, thread.acquired);
  });
  each(
      [&](std::uint32_t lane, const ThreadOrder& thread) { now.lanes[lane] = tick(thread.now.lanes[lane]); });
  each([&](std::uint32_t, ThreadOrder& thread) {
    thread.now = now;
    thread.fenced = fenced;
    thread.seen = seen;
    thread.acquired = acquired;
  });
}

void Races::wait_for_earlier(BlockOrder& block, std::uint32_t thread) {
  waited_unasked_ |= !overlaps_;
  block.threads[thread].waited = true;
}

void Races::check_waited(const BlockOrder& block, std::uint32_t thread) const {
  if (!block.threads[thread].waited)
    throw std::runtime_error("it has not waited for earlier kernels at its beginning");
}

// The kernel before may still run; those before that one have ended, for it has waited for them.
void Races::check_early(const Cell& cell, Access access) const {
  if (access != Access::constant || cell.write.clock >= earlier_begun_)
    throw std::runtime_error("before earlier kernels have ended");
}

std::string Races::text(const Epoch& epoch) const {
  const std::uint32_t block = block_of(epoch.thread);
  std::string text = "of block (" + std::to_string(block % blocks_[0]) + ", " +
                     std::to_string(block / blocks_[0] % blocks_[1]) + ", " +
                     std::to_string(block / blocks_[0] / blocks_[1]) + "), thread " +
                     std::to_string(epoch.thread % max_threads);
  for (const auto& [name, function] : program_->functions) {
    for (const Instruction& one : function->code)
      if (one.line == static_cast<int>(epoch.line)) return text + ", " + one.where();
  }
  return text;
}

void Races::race(const Epoch& with, const char* what, const Place& place) const {
  throw std::runtime_error("at " +
                           (place.is_shared ? "byte " + std::to_string(place.address) + " of shared memory"
                                            : memory_.describe(place.address)) +
                           " it races with " + what + text(with));
}

}  // namespace fovea::tests::ptx
