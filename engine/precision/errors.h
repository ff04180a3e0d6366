// What is said of tiers, units, their versions and where these lie.
#pragma once

#include "engine/api/errors.h"

namespace fovea::phrases {

// What more memory would change (planner.cpp).
FOVEA_PHRASE(all_at_highest, "Everything is at the highest tier, {tier}");
FOVEA_PHRASE(all_at_highest_with_room, "Everything is at the highest tier, {tier}, and {bytes} of the budget stay free");
FOVEA_PHRASE(one_gibibyte_more,
             "1 GiB more: {bits:.2} instead of {now:.2} bits per weight{units}{per_layer}{on_disk}");
FOVEA_PHRASE(more_units_at, ", {units} instead of {now} units at {tier}");
FOVEA_PHRASE(more_in_each_layer, " ({units} instead of {now} in each layer)");
FOVEA_PHRASE(fewer_on_disk, ", {units} instead of {now} units on disk alone");
FOVEA_PHRASE(all_at_needs, "Everything at {tier} needs {bytes} ({bytes:exact} bytes)");

// What became of the request (plan_inputs.cpp).
FOVEA_PHRASE(no_tier_below_file, "No tier is below the file's for this model, so that its experts stay at one");

}  // namespace fovea::phrases

namespace fovea::errors {

// planner.cpp, plan_inputs.cpp
FOVEA_ERROR(memory, budget_too_small_for_rest,
            "{budget} ({budget:exact} bytes) is too small: what cannot be left out takes {least} ({least:exact} bytes)",
            "Give {least:exact} bytes or more, a shorter context, or a lower tier");
FOVEA_ERROR(memory, budget_too_small_for_lowest,
            "{budget} ({budget:exact} bytes) is too small: the model with every unit at {tier} takes {least} "
            "({least:exact} bytes)",
            "Give {least:exact} bytes or more, a shorter context, or a lower tier");
FOVEA_ERROR(unsupported, tier_needs_rows,
            "\"{tier}\" needs rows of a multiple of {block} weights, those of {unit} have {columns}",
            "Choose the tier \"file\" or \"bf16\"");
FOVEA_ERROR(invalid, dynaexq_without_experts, "the model has no experts", "Use --policy static for a dense model");
FOVEA_ERROR(invalid, dynaexq_needs_two_tiers,
            "dynaexq moves experts between two tiers, a high and a low one; found {count} ({tiers})",
            "Give two, for example --tiers {high},{low}, or --policy static, which mixes as many as are given");
FOVEA_ERROR(invalid, offload_flags_of_another_policy,
            "--n-cpu-moe, --cpu-moe, --override-tensor and -ngl belong to the policy offload",
            "Leave them out, or choose --policy offload");

}  // namespace fovea::errors
