// What is wrong with a device, as data. The words for it are engine/core/device_words.h's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fovea::kernels {

// What a device was doing when it failed.
enum class Action : std::uint8_t {
  none,
  // its driver
  choosing_the_device,
  asking_for_properties,
  asking_for_free_memory,
  asking_for_priorities,
  making_a_stream,
  making_an_event,
  recording_an_event,
  clearing_memory,
  releasing_memory,
  releasing_pinned_memory,
  copying_to_the_device,
  copying_from_the_device,
  copying_on_the_device,
  starting_a_kernel,
  running_kernels,
  beginning_a_capture,
  starting_a_graph,
  // its library of products
  starting_the_library,
  giving_the_library_its_stream,
  giving_the_library_memory,
  telling_the_library_how_to_add,
  multiplying,

  waiting,    // for an end to which it does not come
  emulating,  // `said` is all that there is to say
};

struct Failure {
  Action action = Action::none;
  std::string said = {};         // by the driver or the library: "out of memory (cudaErrorMemoryAllocation)"
  std::string library = {};      // with its file: "cuBLAS 13.1.0, /usr/lib/libcublas.so.13"
  std::int64_t waited_s = 0;     // of `waiting` …
  std::string last_kernel = {};  // … which the device was given

  bool empty() const { return action == Action::none; }
  bool operator==(const Failure&) const = default;
};

// Why devices, one of them or a library cannot be used.
struct Obstacle {
  enum class Kind : std::uint8_t {  // in `names`
    none,
    other_system,        // GPUs are used on Linux only
    no_driver,           // `said` by the loader, or nothing
    silent_driver,       // `said` where it was asked for its version
    old_driver,          // the CUDA that it knows, that is needed, the driver that brings it
    no_module,           // the files that it could be
    unloadable_module,   // `said` by the loader
    foreign_module,      // the file
    other_build,         // the module's file, its interface, the program's
    unknown_switch,      // that FOVEA_CUDA_OFF names
    no_library,          // the file that would be looked for
    library_off,         // FOVEA_CUBLAS says so
    unloadable_library,  // the file that FOVEA_CUBLAS names, a right one; `said` by the loader
    foreign_library,     // the file that FOVEA_CUBLAS names, a right one
    no_device_found,     // `said` by the driver
    no_device,
    architecture,  // the device's, then those of this build
    failed,        // `failure`
  };
  Kind kind = Kind::none;
  std::vector<std::string> names = {};
  std::string said = {};
  Failure failure = {};

  bool empty() const { return kind == Kind::none; }
  bool operator==(const Obstacle&) const = default;
};

}  // namespace fovea::kernels
