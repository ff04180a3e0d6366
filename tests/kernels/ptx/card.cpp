#include "card.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <utility>

#include "kernels/api/operations.h"

namespace fovea::tests::ptx {
namespace {

using Clock = std::chrono::steady_clock;

// Empty, or what keeps it from being done.
std::string obstacle_of(const Card& card, const Work& work) {
  if (work.graph_is_gone && *work.graph_is_gone)
    return work.what + " was launched with a graph that has been released before it was done";
  for (const Named& named : work.named) {
    if (card.memory.number(named.address) != named.number)
      return work.what + " was captured with " + (is_devices(named.address) ? "device" : "pinned") +
             " memory that has been released since";
  }
  return {};
}

}  // namespace

Cards& all() {
  static Cards cards;  // objects register their kernels before main()
  static std::once_flag first;
  std::call_once(first, [] {
    const char* const two = std::getenv("FOVEA_PTX_CARDS");  // "2"; else there is one
    for (int ordinal = 0; ordinal < (two != nullptr && *two == '2' ? 2 : 1); ++ordinal)
      cards.cards[ordinal] = std::make_unique<Card>(ordinal, CardOptions{}, cards.pinned);
  });
  return cards;
}

Card* current_card() {
  const auto found = all().cards.find(current);
  return found == all().cards.end() ? nullptr : found->second.get();
}

cudaError_t note(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

const char* lasting(const std::string& text) {
  static std::set<std::string> texts;
  const std::scoped_lock lock(all().mutex);
  return texts.insert(text).first->c_str();
}

Card::Card(int number, CardOptions with, const Memory& pinned)
    : ordinal(number), options(std::move(with)), memory(&pinned), free_bytes(options.memory_bytes) {
  machine.use_seed(options.seed, options.order);
  machine.watch(options.watch);
  random.seed(options.seed + options.order);
}

void Card::report(const std::string& what) {
  if (fault.empty()) fault = what;
  if (options.on_error) {
    options.on_error(what);
  } else if (options.aborts) {
    std::fprintf(stderr, "cuda:%d, PTX on the processor: %s\n", ordinal, what.c_str());
    std::abort();
  }
}

void Card::fail(const std::string& what) {
  report(what);
  lost = cudaErrorLaunchFailure;
}

Named Card::named(const void* of) const {
  const auto address = reinterpret_cast<Slot>(of);
  return {address, memory.number(address)};
}

std::byte* Card::reach(const void* of, std::size_t bytes) const {
  const auto address = reinterpret_cast<Slot>(of);
  return !is_devices(address) || bytes == 0 || memory.holds(address, static_cast<std::int64_t>(bytes))
             ? contents(address)
             : nullptr;
}

bool Stream::go_on() {
  const std::scoped_lock lock(all().mutex);
  if (waiting.empty()) return false;
  const Work& first = waiting.front();
  if (card.lost == cudaSuccess) {
    if (const std::string obstacle = obstacle_of(card, first); !obstacle.empty()) {
      card.fail(obstacle);
    } else {
      // Who waits for all, once and again, does not answer meanwhile.
      const bool late = waits_since && (waited_for > 1 || Clock::now() - *waits_since >
                                                              std::chrono::seconds(kernels::host_patience_s));
      card.machine.give_up_host(late);
      if (!first.run()) {
        if (!waits_since) waits_since = Clock::now();
        return false;
      }
    }
  }
  waits_since.reset();
  waited_for = 0;
  waiting.pop_front();
  return true;
}

cudaError_t spoil(const std::string& what) {
  const std::scoped_lock lock(all().mutex);
  const std::string wrong = "while a stream captures, its thread " + what;
  if (capturing->spoiled.empty()) capturing->spoiled = wrong;
  capturing->card.report(wrong);
  return note(cudaErrorStreamCaptureUnsupported);
}

cudaError_t give(Stream& stream, Work work) {
  const std::scoped_lock lock(all().mutex);
  Card& card = stream.card;
  if (card.lost != cudaSuccess) return note(card.lost);
  if (stream.captures) {
    std::erase_if(work.named, [](const Named& named) { return named.number == 0; });
    stream.captured.push_back(std::move(work));
    return cudaSuccess;
  }
  if (!work.graph_is_gone) work.named.clear();
  stream.waiting.push_back(std::move(work));
  ++stream.given;
  switch (card.random() % 8) {
    case 0:
      while (stream.go_on()) {
      }
      break;
    case 1:
      stream.go_on();
      break;
    default:  // later
      break;
  }
  return note(card.lost);
}

}  // namespace fovea::tests::ptx
