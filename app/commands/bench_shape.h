// fovea bench --shape: how fast a model of a shape would be, without its file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/commands/flags.h"
#include "app/commands/precision_flags.h"
#include "engine/api/evaluate.h"

namespace fovea::app {

struct ShapeFlags {
  std::string shape;
  std::string dense = "q8";
  std::vector<std::int64_t> contexts = {512, 8192, 32768};
  std::vector<std::int64_t> prompts = {};  // empty: what bench reads of a model
  std::uint64_t seed = 1;
  bool given = false;  // one of the others
};

void add_shape(CLI::App& command, ShapeFlags& flags);

extern const char* const shape_keys;  // of --json, for the help

// ErrorKind::invalid names a flag that a shape cannot heed.
Result<void> bench_of_shape(const ShapeFlags& flags, const LoadOptions& load, const BenchSettings& settings,
                            bool json, Console& console, Interrupts& interrupts);

}  // namespace fovea::app
