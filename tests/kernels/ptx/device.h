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

struct DeviceOptions {
  std::uint64_t seed = 1;   // of the order in which blocks, threads and streams get on
  int multiprocessors = 4;  // small, so that small tests divide their work as large ones do on a GPU
  std::int64_t scratch_bytes = std::int64_t{4} << 20;
  std::int64_t memory_bytes = std::int64_t{8} << 30;
  bool captures = true;  // whether its streams do
  bool watch = false;    // for races, which takes about as long again as executing
  // Told what a kernel did wrong, once for each launch, and what may not be done during a capture. Null: it
  // is printed and the program aborts.
  std::function<void(const std::string&)> on_error = nullptr;
};

// Whether there is one: where nvcc was found, and no sanitizer looks on.
bool is_available();
// Null where there is none.
std::unique_ptr<kernels::Device> device(DeviceOptions = {});
// How many kernels such a device has run.
std::int64_t kernels_run(const kernels::Device&);

}  // namespace fovea::tests::ptx

// Leaves out the test's function where there is no such device.
#define FOVEA_NEEDS_PTX \
  if (!::fovea::tests::ptx::is_available()) QSKIP("nothing of nvcc's to execute")
