// Python programs that a model wrote, run by bubblewrap in namespaces of their own: without network, without
// the system's files but /usr, which they can only read, and within limits of time, memory and files.
#pragma once

#include <stop_token>
#include <string_view>

#include "engine/api/error.h"

namespace fovea::tasks {

class Sandbox {
 public:
  // Tries it out. ErrorKind::unsupported: bubblewrap, prlimit or Python is missing or cannot start here.
  static Result<Sandbox> open();

  // Whether the program comes to its end without an error. ErrorKind::cancelled.
  Result<bool> passes(std::string_view program, const std::stop_token& stop) const;

 private:
  Sandbox() = default;
};

}  // namespace fovea::tasks
