// What is said of the self test: what it found wrong, and why it could not run.
#pragma once

#include "engine/api/errors.h"

namespace fovea::phrases {

FOVEA_PHRASE(selftest_models_place, "the self-test's models");
FOVEA_PHRASE(selftest_case_place, "{device}, {case}");

// Faults of an operation (operations.cpp), as the cases of kernels/ describe them.
FOVEA_PHRASE(selftest_case, "{case}: {said}");
FOVEA_PHRASE(selftest_case_packed, "{case}, packed: {said}");
FOVEA_PHRASE(selftest_case_by_library, "{case}, by a library: {said}");

// Faults of a whole model (whole_model.cpp).
FOVEA_PHRASE(selftest_prompt, "{model}, {tokens} tokens at once: {fault}");
FOVEA_PHRASE(selftest_logit_count, "{count} logits, expected {expected}");
FOVEA_PHRASE(selftest_logit, "logit {index}: {value}, expected {expected}, allowed {tolerance}");

// Faults of the decode graphs (decode_graphs.cpp).
FOVEA_PHRASE(selftest_graph_fewer_logits, "fewer logits by graphs than call by call");
FOVEA_PHRASE(selftest_graph_logit, "logit {index} differs with graphs from call by call");
FOVEA_PHRASE(selftest_graphs_launched, "only {passes} {passes:pass was a graph|passes were graphs}");
FOVEA_PHRASE(selftest_beside_host, "{fault}, --n-cpu-moe {layers}");

// Faults of the swap storm (swap_storm.cpp).
FOVEA_PHRASE(selftest_swaps, "{promotions} promotions, {demotions} demotions");
FOVEA_PHRASE(selftest_few_swaps, "only {swaps}");
FOVEA_PHRASE(selftest_failed_swaps, "{count} {count:swap|swaps} failed");
FOVEA_PHRASE(selftest_logit_no_number, "a logit is not a number after {swaps}");
FOVEA_PHRASE(selftest_swaps_without_effect,
             "the swaps changed no answer: the passes do not read what is published");
FOVEA_PHRASE(selftest_tiers_not_back, "the experts did not get back to their tiers");
FOVEA_PHRASE(selftest_other_logits, "the logits differ from before, after {swaps}");
FOVEA_PHRASE(selftest_moving_places,
             "while experts change places, {wrong} of {tokens} tokens have other logits than is allowed");

// Faults of a divided model (two_cards.cpp).
FOVEA_PHRASE(selftest_divided, "divided over two cards, {fault}");
FOVEA_PHRASE(selftest_not_divided, "{model} was not divided");

}  // namespace fovea::phrases

namespace fovea::errors {

FOVEA_ERROR(internal, selftest_models_damaged, "are damaged inside the program", "Build the program again");
FOVEA_ERROR(io, selftest_no_folder, "the folder cannot be made", "Set TMPDIR to a folder with room");
FOVEA_ERROR(io, selftest_cannot_write, "cannot be written", "Set TMPDIR to a folder with room");

}  // namespace fovea::errors
