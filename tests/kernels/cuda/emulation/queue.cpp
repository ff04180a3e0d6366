#include "tests/kernels/cuda/emulation/queue.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "tests/kernels/cuda/emulation/faults.h"

namespace fovea::kernels::cuda::emulation {
namespace {

std::atomic<std::uint64_t> queues_made = 0;
// What this thread captures on.
thread_local Queue* capturing = nullptr;

}  // namespace

void Machine::report(const std::string& wrong) const {
  if (on_error) {
    on_error(wrong);
    return;
  }
  std::fprintf(stderr, "emulated device: %s\n", wrong.c_str());
  std::abort();
}

void Machine::work(const std::function<std::string()>& piece, const void* only, bool overlaps) {
  const std::scoped_lock lock(mutex);
  if (overlaps) {
    memory.open_later();
  } else {
    memory.open(only);
  }
  const FaultWatch watch(memory);
  const std::string wrong = piece();
  memory.close();
  if (!wrong.empty()) report(wrong);
}

struct Queue::Captured final : Graph {
  Captured() = default;
  ~Captured() override { *gone = true; }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  std::uint64_t queue = 0;  // its number
  std::vector<Piece> pieces;
  std::shared_ptr<std::atomic<bool>> gone = std::make_shared<std::atomic<bool>>(false);
};

Queue::Queue(Machine& machine, std::uint64_t seed)
    : machine_(machine), number_(++queues_made), random_(seed) {}

Queue::~Queue() {
  if (capturing == this) capturing = nullptr;
}

void Queue::push(Launch launch) {
  if (machine_.on_launch) return machine_.on_launch(launch);
  Piece piece;
  piece.what = "kernel " + launch.kernel;
  for (const void* const word : launch.words) {
    if (const int number = machine_.memory.number(word)) piece.named.push_back({word, -1, number});
    if (const int number = machine_.pinned.number(static_cast<const std::byte*>(word), 1))
      piece.named.push_back({word, 1, number});
  }
  piece.overlaps = launch.overlaps;
  const auto shared = std::make_shared<Launch>(std::move(launch));
  piece.work = [this, shared]() -> std::string {
    machine_.block.host_has_time(!host_is_late_);
    const std::string wrong = machine_.block.run(*shared, [this] { machine_.memory.go_on(); });
    waits_for_host_ = machine_.block.waits_for_host();
    if (waits_for_host_) return {};
    ++machine_.kernels;
    if (!wrong.empty()) return wrong;
    const std::string damage = machine_.memory.damage();
    return damage.empty() ? damage : "kernel " + shared->kernel + ": " + damage;
  };
  add(std::move(piece));
}

void Queue::push(const Copy& copy, std::function<std::string()> work) {
  Piece piece{.work = std::move(work), .only = copy.device};
  if (capture_) {
    piece.what = "a copy";
    const int number = machine_.pinned.number(copy.host, copy.bytes);
    if (number == 0) return spoil("copies host memory that is not pinned");
    piece.named = {{copy.host, copy.bytes, number}, {copy.device, -1, machine_.memory.number(copy.device)}};
  }
  add(std::move(piece));
}

void Queue::push(std::function<std::string()> work) {
  add({.work = std::move(work)});
}

void Queue::add(Piece piece) {
  if (capture_) {
    capture_->push_back(std::move(piece));
    return;
  }
  const std::scoped_lock lock(mutex_);
  waiting_.push_back(std::move(piece));
  for (std::uint64_t some = random_() % 4; some > 2 && !waiting_.empty(); --some) run_first();
}

bool Queue::run_first() {
  Piece first = std::move(waiting_.front());
  waiting_.pop_front();
  // After a failure a stream does nothing more.
  if (failure_.empty()) {
    machine_.work(
        [&] {
          failure_ = released(first);
          if (failure_.empty()) failure_ = first.work();
          return failure_;
        },
        first.only, first.overlaps);
  }
  if (std::exchange(waits_for_host_, false)) {
    waiting_.push_front(std::move(first));
    return false;
  }
  ++ended_;
  return true;
}

std::string Queue::released(const Piece& piece) const {
  if (piece.graph_is_gone && *piece.graph_is_gone)
    return piece.what + " was launched with a graph that has been released before it was done";
  for (const Named& named : piece.named) {
    const int now =
        named.pinned_bytes < 0
            ? machine_.memory.number(named.address)
            : machine_.pinned.number(static_cast<const std::byte*>(named.address), named.pinned_bytes);
    if (now == named.number) continue;
    return piece.what + " was captured with " + (named.pinned_bytes < 0 ? "device" : "pinned") +
           " memory (allocation " + std::to_string(named.number) + ") that has been released since";
  }
  return {};
}

std::uint64_t Queue::pushed() const {
  const std::scoped_lock lock(mutex_);
  return ended_ + waiting_.size();
}

bool Queue::done(std::uint64_t count) {
  const std::scoped_lock lock(mutex_);
  if (ended_ < count) run_first();
  return ended_ >= count;
}

void Queue::finish(std::uint64_t count) {
  const std::scoped_lock lock(mutex_);
  while (ended_ < count) {
    host_is_late_ = !run_first();  // it waits for what waits for it
  }
}

Failure Queue::failure() const {
  const std::scoped_lock lock(mutex_);
  if (failure_.empty()) return {};
  return {.action = Action::emulating, .said = failure_};
}

void Queue::begin_capture() {
  if (spoils_capture(machine_, "begins another capture")) return;
  capture_.emplace();
  spoiled_.clear();
  capturing = this;
}

std::unique_ptr<Graph> Queue::end_capture(std::string& why) {
  if (!capture_) {
    why = "nothing was being captured";
    machine_.report("a capture ends that has not begun");
    return nullptr;
  }
  capturing = nullptr;
  auto graph = std::make_unique<Captured>();
  graph->queue = number_;
  graph->pieces = *std::exchange(capture_, std::nullopt);
  why = spoiled_;
  if (!why.empty()) return nullptr;
  return graph;
}

void Queue::launch(const Graph& graph) {
  if (spoils_capture(machine_, "launches a graph")) return;
  const auto& captured = static_cast<const Captured&>(graph);
  if (captured.queue != number_) {
    machine_.report("a graph is launched in a stream that has not captured it");
    return;
  }
  for (Piece piece : captured.pieces) {
    piece.graph_is_gone = captured.gone;
    add(std::move(piece));
  }
}

void Queue::spoil(const std::string& what) {
  const std::string wrong = "while a stream captures, its thread " + what;
  if (spoiled_.empty()) spoiled_ = wrong;
  machine_.report(wrong);
}

bool Queue::spoils_capture(const Machine& machine, const char* what) {
  if (!capturing || &capturing->machine_ != &machine) return false;
  capturing->spoil(what);
  return true;
}

}  // namespace fovea::kernels::cuda::emulation
