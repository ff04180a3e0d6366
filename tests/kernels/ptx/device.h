// A GPU for tests: the module's own device over cards that execute what nvcc made of the kernels (runtime.h).
// Its memory is out of the host's reach, what is given to a stream is done later: a program that works on it
// without being stopped treats a GPU's memory and streams rightly.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "kernels/api/device.h"

namespace fovea::tests::ptx {

struct ToldLaunch {
  unsigned grid[3] = {1, 1, 1};
  unsigned threads = 1;  // of a block
  std::size_t shared_bytes = 0;
};

struct DeviceOptions {
  std::uint64_t seed = 1;   // of the order in which threads and streams get on, and of what a card rounds how
  std::uint64_t order = 0;  // another order, in which the same is rounded the same way
  int multiprocessors = 4;  // small, so that small tests divide their work as large ones do on a GPU
  std::int64_t scratch_bytes = std::int64_t{4} << 20;
  std::int64_t memory_bytes = std::int64_t{8} << 30;
  bool captures = true;    // whether its streams do
  bool mechanisms = true;  // what makes kernels faster and changes no result (kernels/cuda/stream.h)
  bool watch = false;      // for races, which takes about as long again as executing
  // Told what a kernel did wrong, once for each launch, and what may not be done during a capture. Null: it
  // is printed and the program aborts.
  std::function<void(const std::string&)> on_error = nullptr;
  // Where given, kernels are not run, but told to it.
  std::function<void(const ToldLaunch&)> on_launch = nullptr;
};

// Whether there is one: where nvcc was found, and no sanitizer looks on.
bool is_available();
// Null where there is none.
std::unique_ptr<kernels::Device> device(DeviceOptions = {});
// What such a device has run so far: kernels, instructions of all threads, and, where it is watched, kernels
// that waited for earlier ones though their launch did not let them overlap.
std::int64_t kernels_run(const kernels::Device&);
std::int64_t instructions_run(const kernels::Device&);
std::int64_t waited_unasked(const kernels::Device&);

}  // namespace fovea::tests::ptx

// Leaves out the test's function where there is no such device.
#define FOVEA_NEEDS_PTX \
  if (!::fovea::tests::ptx::is_available()) QSKIP("nothing of nvcc's to execute")
