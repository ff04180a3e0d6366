// What a user may say about loading a model, and about the precision of its weights above all: shared by chat,
// perplexity, bench and plan.
#pragma once

#include <string>
#include <vector>

#include "app/commands/flags.h"
#include "engine/api/precision.h"

namespace fovea::app {

// The load options as a command line gives them, and what of it they cannot hold.
struct LoadFlags {
  LoadOptions options = {};
  bool policy_given = false;
  bool dynaexq_given = false;  // one of its settings
  bool cpu_moe = false;
};

// --policy, --tiers, --budget, --store, --tier-map, the offload flags with llama.cpp's names, DynaExq's
// settings, and the swap pipeline's. `pipeline` off leaves out what a plan does not depend on.
void add_precision(CLI::App& command, LoadFlags& flags, bool pipeline = true);

// DynaExq's settings alone; `given`: one of them is there.
void add_dynaexq(CLI::App& command, DynaExqSettings& settings, bool& given);
// ErrorKind::invalid when they are given for another policy.
Result<void> check_dynaexq(bool given, PolicyKind policy);

// The offload flags alone, with llama.cpp's names. --cpu-moe sets its own flag; give them to
// offload_settings().
void add_offload(CLI::App& command, OffloadSettings& offload, bool& cpu_moe);
// ErrorKind::invalid when --cpu-moe and --n-cpu-moe are both given.
Result<OffloadSettings> offload_settings(OffloadSettings offload, bool cpu_moe);

// ErrorKind::invalid names two flags that contradict each other. `card`: the device has memory of its own,
// whose free part is a budget, and beside it the processor computes what is offloaded.
Result<PrecisionRequest> precision_request(const LoadFlags& flags, bool card);

// The program's arguments as the parser takes them, last first. llama.cpp's short names have several letters
// (-ngl, -ncmoe, -cmoe, -ot), which the parser would take apart: up to "--" the long ones stand for them.
std::vector<std::string> arguments_of(int argc, const char* const* argv);

}  // namespace fovea::app
