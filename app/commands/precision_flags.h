// What a user may say about the precision of a model's weights: shared by chat, perplexity, bench and plan.
#pragma once

#include <string>
#include <vector>

#include "app/commands/flags.h"
#include "engine/api/precision.h"

namespace fovea::app {

// --policy, --tiers, --budget, --store, --tier-map, the offload flags with llama.cpp's names, DynaExq's
// settings, and the swap pipeline's. `pipeline` off leaves out what a plan does not depend on. Until
// precision_request() reads it, a policy that nobody gave is PolicyKind::automatic.
void add_precision(CLI::App& command, PrecisionRequest& request, bool pipeline = true);

// DynaExq's settings alone, --as-published among them.
void add_dynaexq(CLI::App& command, DynaExqSettings& settings);
// ErrorKind::invalid where they are not the usual ones and another policy would not heed them, or contradict
// --as-published=later.
Result<void> check_dynaexq(const DynaExqSettings& settings, PolicyKind policy);

// Fovea's settings alone, and as check_dynaexq.
void add_fovea(CLI::App& command, FoveaSettings& settings);
Result<void> check_fovea(const FoveaSettings& settings, PolicyKind policy);

// FlexQuant's settings and PMPD's schedule alone, and as check_dynaexq.
void add_flexquant(CLI::App& command, FlexQuantSettings& settings);
void add_pmpd(CLI::App& command, PmpdSettings& settings);
Result<void> check_layers(const PrecisionRequest& request);

// The offload flags alone, with llama.cpp's names.
void add_offload(CLI::App& command, OffloadSettings& offload);

// What the flags mean. ErrorKind::invalid names two that contradict each other. `card`: the device has memory
// of its own, whose free part is a budget, and beside it the processor computes what is offloaded.
Result<PrecisionRequest> precision_request(PrecisionRequest flags, bool card);

// The program's arguments as the parser takes them, last first. llama.cpp's short names have several letters
// (-ngl, -ncmoe, -cmoe, -ot), which the parser would take apart: up to "--" the long ones stand for them.
std::vector<std::string> arguments_of(int argc, const char* const* argv);

}  // namespace fovea::app
