// What a command tells about the precision of the weights that it ran with.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "engine/api/engine.h"

namespace fovea::app {

// Of this process, as the system counts it.
std::int64_t resident_peak_bytes();

// Adds the keys that precision_keys explains; none without a policy.
void add_precision_use(nlohmann::ordered_json& object, const Engine& engine);

// What --stats can show of a model: its experts, or what a policy does. ErrorKind::invalid: it has neither.
Result<void> check_stats(const Engine& engine);
// What --stats says behind an answer, on one line that ends with a line break. `read`: the newest snapshot.
std::string stats_line(const Engine& engine, const std::function<bool(Snapshot&)>& read);

// For people, on one line that ends with a line break; empty without a policy.
std::string precision_line(const Engine& engine);

// What went wrong beside the answer and must not be overlooked; empty when nothing did.
std::string precision_warning(const Engine& engine);
// That other programs have taken nearly all of the GPU that it is on; empty: they have not.
std::string memory_warning(const Engine& engine);

inline constexpr const char* precision_keys =
    "  budget_bytes, accounted_bytes, resident_peak_bytes, promotions, demotions, swaps_refused, "
    "swaps_failed, bytes_read, bytes_found, "
    "stalls, hit_rate,\n"
    "  mean_bits_per_weight, bits_per_use, answer_bits_per_weight: with a policy; hit_rate is the share of "
    "uses\n"
    "                     that the highest tier served, bytes_found what swaps found in main memory instead "
    "of reading it,\n"
    "                     bits_per_use the mean of the weights that served "
    "them,\n"
    "                     answer_bits_per_weight the mean over the tokens of answers\n"
    "  expectation_weights, expectation_log_likelihood: of a policy that expects; what counts, the\n"
    "                     calibration and then each time scale, as it has learnt, and the mean ln p of what "
    "was chosen\n";

}  // namespace fovea::app
