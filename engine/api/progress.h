// How far a long operation is. Plain data.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace fovea {

struct Progress {
  std::string stage;  // "loading", "prefill", "building" …
  std::int64_t done = 0;
  std::int64_t total = 0;
  std::string unit;  // "bytes", "tokens"
  std::string item;  // the tensor, the file; may be empty
};

using ProgressSink = std::function<void(const Progress&)>;

}  // namespace fovea
