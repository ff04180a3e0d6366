#include "kernels/cuda/emulation/queue.h"

#include <cstdio>
#include <cstdlib>

#include "kernels/cuda/emulation/faults.h"

namespace fovea::kernels::cuda::emulation {

void Machine::work(const std::function<std::string()>& piece, const void* only) {
  const std::scoped_lock lock(mutex);
  memory.open(only);
  const FaultWatch watch(memory);
  const std::string wrong = piece();
  memory.close();
  if (wrong.empty()) return;
  if (on_error) {
    on_error(wrong);
    return;
  }
  std::fprintf(stderr, "emulated device: %s\n", wrong.c_str());
  std::abort();
}

void Queue::push(Launch launch) {
  const auto shared = std::make_shared<Launch>(std::move(launch));
  push([this, shared]() -> std::string {
    const std::string wrong = machine_.block.run(*shared);
    if (!wrong.empty()) return wrong;
    const std::string damage = machine_.memory.damage();
    return damage.empty() ? damage : "kernel " + shared->kernel + ": " + damage;
  });
}

void Queue::push(std::function<std::string()> work, const void* only) {
  const std::scoped_lock lock(mutex_);
  waiting_.push_back({std::move(work), only});
  for (std::uint64_t some = random_() % 4; some > 2 && !waiting_.empty(); --some) run_first();
}

void Queue::run_first() {
  const Piece first = std::move(waiting_.front());
  waiting_.pop_front();
  // After a failure a stream does nothing more.
  if (failure_.empty()) {
    machine_.work(
        [&] {
          failure_ = first.work();
          return failure_;
        },
        first.only);
  }
  ++ended_;
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
  while (ended_ < count) run_first();
}

std::string Queue::failure() const {
  const std::scoped_lock lock(mutex_);
  return failure_;
}

}  // namespace fovea::kernels::cuda::emulation
