// NVIDIA's runtime library as the device's part sees it, without a card: what it remembers for each thread,
// what it refuses during a capture, and failures on request. Nothing is computed.
#pragma once

#include <cuda_runtime_api.h>

namespace fovea::tests::fake_runtime {

inline constexpr int devices = 2;

void reset();                        // as at the program's start; no object of before may be left
void refuse_launch();                // what a launch does that is refused: notes an error for the thread
void keep_events_waiting(int asks);  // neither events nor streams are ready, so many times
int asks();                          // whether one is
void fail_with(cudaError_t error);   // the device is lost: every call from now on says so
void take_memory(bool all);          // allocations fail
void refuse_clearing();              // memory cannot be set
void know_no_attributes();
void be_architecture(int sm);  // 86: of compute capability 8.6
int objects();                 // streams, events, graphs and pieces of memory that are not given back
int contexts(int device);      // 1 where some call has taken memory on the device

}  // namespace fovea::tests::fake_runtime
