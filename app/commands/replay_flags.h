// The flags of `fovea replay`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/commands/flags.h"
#include "engine/api/replay.h"

namespace fovea::app {

struct ReplayFlags {
  std::string trace, out, write_map, map_of = reference_hindsight;
  std::filesystem::path store;
  std::string synthetic;  // a shape, or a model's name
  // What was given of the made-up routing; the model's or the usual values else.
  std::string skew, overlap;
  std::int64_t top = 0, kinds = 0, phases = 0, tokens = 0, seed = 0, prompt = -1, chunk = 0;
  double repeat = -1, drift = -1;
  std::string policy = "fovea", tiers;
  std::int64_t budget_bytes = 0;
  double high_share = 0;
  DynaExqSettings dynaexq;
  FoveaSettings fovea;
  OffloadSettings offload;
  ReplayClock clock;
  std::int64_t profile_tokens = 2048;
  std::int64_t prompt_pass_tokens = 0;
  bool json = false;
};

void add_replay_flags(CLI::App& command, ReplayFlags& flags);

// ErrorKind::invalid names the flag.
Result<ReplayRequest> replay_request(const ReplayFlags& flags);

}  // namespace fovea::app
