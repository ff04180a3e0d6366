// NVIDIA's runtime library over machine.h, in its place: the module's own host code finds cards that execute
// the PTX that nvcc put into its objects. What the library remembers for each thread it remembers, too, and
// it refuses what that refuses: during a capture, for a card that is not the calling thread's, and on
// request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda_runtime_api.h>
#include <functional>
#include <string>

#include "device.h"

namespace fovea::tests::ptx {

struct CardOptions {
  std::uint64_t seed = 1;
  std::uint64_t order = 0;
  bool watch = false;  // for races, which takes about as long again as executing
  int multiprocessors = 4;
  std::size_t memory_bytes = std::size_t{8} << 30;
  // Told what went wrong. Without it, a fault is kept until fault() asks, or ends the program.
  std::function<void(const std::string&)> on_error = nullptr;
  bool aborts = false;
  // Where given, kernels are not run, but told to it.
  std::function<void(const ToldLaunch&)> on_launch = nullptr;
};

// Besides cuda:0, which there is from the beginning. Its ordinal; what was made on it is released before it.
int add_card(CardOptions options);
void remove_card(int ordinal);

// From now on: the order in which threads get on, and when streams do.
void use_seed(std::uint64_t seed, int ordinal = 0);
// From now on: whether races are looked for, which takes about as long again as executing.
void watch(bool races, int ordinal = 0);
// What the first kernel that failed did wrong, since it was last asked; the card is as good as new.
std::string fault(int ordinal = 0);
std::int64_t kernels_run(int ordinal = 0);
// Of those that were watched: they waited for earlier kernels, and their launch did not let them overlap.
std::int64_t waited_unasked(int ordinal = 0);
std::int64_t instructions_run(int ordinal = 0);  // by all threads

// For a library over the runtime: work in a stream's order, and the contents of memory that the stream's card
// has, where null says that it has not.
void do_later(cudaStream_t stream, std::function<void()> work);
std::byte* reach(cudaStream_t stream, const void* memory, std::size_t bytes);

// --- what tests plant ---

void reset(int cards);  // as at the program's start, with so many; no object of before may be left
void refuse_launch();   // what a launch does that is refused: notes an error for the thread
void keep_events_waiting(int asks);  // neither events nor streams are ready, so many times
int asks();                          // whether one is
void fail_with(cudaError_t error);   // the cards are lost: every call from now on says so
void take_memory(bool all);          // allocations fail
void refuse_clearing();              // memory cannot be set
void know_no_attributes();
void be_architecture(int sm);  // 86: of compute capability 8.6
int objects();                 // streams, events, graphs and pieces of memory that are not given back
int contexts(int ordinal);     // 1 where some call has taken memory on the card

}  // namespace fovea::tests::ptx
