// A card as the runtime library knows it: what it has, what its streams have been given, what has gone wrong.
// What is given to a stream is done at moments that the seed draws, at the latest when somebody waits for it;
// not before it is asked for where the stream captures, or what is before it waits for the host.
#pragma once

#include <chrono>
#include <cuda_runtime_api.h>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "machine.h"
#include "memory.h"
#include "runtime.h"

namespace fovea::tests::ptx {

// What a multiprocessor of every architecture that Fovea is built for has, and what a launch gets unasked.
constexpr std::int64_t max_shared_bytes = 99 << 10, usual_shared_bytes = 48 << 10;

struct Card;

// Memory that a captured piece of work names.
struct Named {
  Slot address = 0;
  std::uint64_t number = 0;  // of the piece of memory that it lies in; 0: in none
};
struct Work {
  std::function<bool()> run;  // false: it waits for the host, and has done nothing
  std::string what;
  std::vector<Named> named = {};                   // of a captured one
  std::shared_ptr<const bool> graph_is_gone = {};  // of a graph's
};
struct Stream {
  explicit Stream(Card& of) : card(of) {}

  Card& card;
  bool captures = false;
  std::vector<Work> captured;
  std::string spoiled;  // what the capture cannot have
  std::deque<Work> waiting;
  std::uint64_t given = 0;
  // Where the first one waits for the host: since when, and how often somebody has waited for all meanwhile.
  std::optional<std::chrono::steady_clock::time_point> waits_since;
  int waited_for = 0;

  // The piece that waits first; false: there is none, or it waits for the host.
  bool go_on();
  bool is_done(std::uint64_t count) const { return given - waiting.size() >= count; }
};
struct Event {
  std::weak_ptr<Stream> stream;  // none: it was never recorded, or the stream is gone
  std::uint64_t given = 0;
};
struct Graph {
  std::weak_ptr<Stream> stream;
  std::vector<Work> work;
  std::shared_ptr<bool> is_gone = std::make_shared<bool>(false);
};

struct Card {
  Card(int ordinal, CardOptions with, const Memory& pinned);

  // The first fault is kept. A lost card does nothing more.
  void report(const std::string& what);
  void fail(const std::string& what);
  Named named(const void* address) const;
  // The contents of the card's own memory, or of the host's; null where the card does not have it all.
  std::byte* reach(const void* address, std::size_t bytes) const;

  const int ordinal;
  const CardOptions options;
  Memory memory;
  Machine machine{memory};
  std::size_t free_bytes;
  std::map<const Function*, std::int64_t> dynamic_bytes;  // where a kernel was given more than usual
  std::map<Stream*, std::shared_ptr<Stream>> streams;
  std::mt19937_64 random;
  std::string fault;
  cudaError_t lost = cudaSuccess;
  std::int64_t kernels_run = 0, waited_unasked = 0;
  bool is_used = false;  // a call has taken memory on it
};

// All that there is; one host thread at a time does something with it.
struct Cards {
  std::recursive_mutex mutex;
  Memory pinned;  // of the host's
  std::map<int, std::unique_ptr<Card>> cards;
};
Cards& all();

// The calling thread's; null where it has chosen one that is gone.
Card* current_card();
thread_local inline int current = 0;
thread_local inline Stream* capturing = nullptr;
thread_local inline cudaError_t last_error = cudaSuccess;
cudaError_t note(cudaError_t error);

// What a thread may not do while it captures is an error of the call's, of the capture's, and a fault.
cudaError_t spoil(const std::string& what);
// To the stream, or to what it captures.
cudaError_t give(Stream& stream, Work work);

// A text that stays: what went wrong last, for cudaGetErrorString.
const char* lasting(const std::string& text);

}  // namespace fovea::tests::ptx
