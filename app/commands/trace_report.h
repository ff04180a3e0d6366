// What `fovea trace --report` tells of recorded traces.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/commands/command.h"

namespace fovea::app {

struct TraceReportFlags {
  std::vector<std::filesystem::path> traces;
  std::filesystem::path reference;
  std::int64_t hottest = 0;
};

// Traces are called as their files, without the folder and the ending where that tells them apart.
Result<void> print_trace_report(const TraceReportFlags& flags, bool json, Console& console,
                                Interrupts& interrupts);

inline constexpr const char* trace_report_keys =
    "with --report:\n"
    "  experts_used    for a token; hottest: experts of a layer whose overlap is told\n"
    "  traces          name, path, model, tokens, passes, and of each layer: layer, tokens,\n"
    "                  uses and gates of each expert (tokens that chose it, sum of its\n"
    "                  weights), unused (experts), evenness (entropy of the uses, 1: all the\n"
    "                  same), max_violation (by which part of the even share the busiest one\n"
    "                  has more), balance_loss (experts × sum of shares of uses × shares of\n"
    "                  gates, 1: even; of chosen experts' gates, where training takes all\n"
    "                  probabilities)\n"
    "  overlaps        of each two: a, b, hottest (share of the hottest experts that are\n"
    "                  both's) and hottest_by_chance, common (share of the uses that go to\n"
    "                  the same experts); layers: these of each layer\n"
    "  specialisation  of each layer: value, what an expert's being chosen tells of the\n"
    "                  trace, 0 nothing … 1 all; by_chance, of so few uses were there none\n"
    "  preferred       trace, layer, expert, share of its tokens that chose it, elsewhere:\n"
    "                  of the others'\n"
    "  fidelity        with --reference, of each trace: share of the reference's choices\n"
    "                  that it made too, whole_sets: share of tokens and layers where all\n"
    "                  are equal, by_chance (of share); layers: these of each layer\n";

}  // namespace fovea::app
