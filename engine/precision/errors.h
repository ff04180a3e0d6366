// What is said of tiers, units, their versions and where these lie.
#pragma once

#include "engine/api/errors.h"

namespace fovea::phrases {

// Where an error was.
FOVEA_PHRASE(arena_place, "arena");
FOVEA_PHRASE(arena_slab_place, "arena, slab {slab}");
FOVEA_PHRASE(arena_pool_place, "arena, pool of {bytes:exact}-byte blocks");
FOVEA_PHRASE(calibration_place, "calibration");
FOVEA_PHRASE(policy_setting_place, "{policy} {setting}");
FOVEA_PHRASE(policy_world_place, "policy world");
FOVEA_PHRASE(residency_place, "residency");
FOVEA_PHRASE(static_policy_place, "static policy");
FOVEA_PHRASE(transfer_buffer_place, "transfer buffer");

// What a number must be.
FOVEA_PHRASE(range_more_than_0, "more than 0");
FOVEA_PHRASE(range_0_or_more, "0 or more");
FOVEA_PHRASE(range_1_or_more, "1 or more");
FOVEA_PHRASE(range_0_or_from_1, "0, or 1 or more");
FOVEA_PHRASE(range_0_to_1, "from 0 to 1");
FOVEA_PHRASE(range_0_to_below_1, "from 0 to below 1");
FOVEA_PHRASE(range_1_to, "from 1 to {limit}");
FOVEA_PHRASE(range_exactly, "exactly {count}");

// What to do.
FOVEA_PHRASE(prepare_on, "Start it again to continue where it stopped");
FOVEA_PHRASE(use_fewer_threads, "Use fewer --threads");
FOVEA_PHRASE(units_called_like, "Its units have names like {unit}");

// What offload did with the flags (offload.cpp).
FOVEA_PHRASE(override_changes_nothing,
             "--override-tensor {pattern} matches no tensor of a unit, so it changes nothing");
FOVEA_PHRASE(override_moves_whole_units,
             "--override-tensor {pattern} names only some of the tensors of {units} {units:unit|units}; a "
             "unit moves as a whole, so all of its tensors were moved");
FOVEA_PHRASE(
    gpu_layers_leave_experts,
    "-ngl {given} leaves the experts of the first {layers} {layers:layer|layers} to the processor (the "
    "output counts as a layer); everything else stays on the device");
FOVEA_PHRASE(
    gpu_layers_leave_feed_forward,
    "-ngl {given} leaves the feed-forward of the first {layers} {layers:layer|layers} to the processor "
    "(the output counts as a layer); everything else stays on the device");
FOVEA_PHRASE(
    gpu_layers_leave_layers,
    "-ngl {given} leaves the first {layers} {layers:layer|layers} to the processor, with their attention "
    "and their part of the KV cache (the output counts as a layer)");
FOVEA_PHRASE(
    gpu_layers_leave_nearly_all,
    "-ngl {given} leaves the processor all layers but the last, with their attention and their part of the "
    "KV cache, and of the last one what can go by itself (the output counts as a layer). Choose the "
    "processor as the device to leave it everything");
FOVEA_PHRASE(
    override_overruled,
    "--override-tensor keeps nothing of the first {layers} layers on the device: -ngl leaves them to "
    "the processor as a whole");
FOVEA_PHRASE(
    override_leaves_layers,
    "--override-tensor names all of the first {layers} {layers:layer|layers}: the processor has them whole, "
    "with their attention and their part of the KV cache");
FOVEA_PHRASE(
    override_keeps_attention,
    "--override-tensor {pattern} names attention, too, which stays on the device: it goes with whole layers, "
    "from the first one on, that the patterns name in all their parts");
FOVEA_PHRASE(
    gpu_layers_leave_units,
    "-ngl {given} leaves the units of the first {layers} {layers:layer|layers} away (the output counts "
    "as a layer); everything that is not a unit stays on the device");
FOVEA_PHRASE(cpu_moe_auto_on_disk,
             "Not all experts fit: they are read from the disk when they are needed, and memory keeps those "
             "likely to be needed soon");
FOVEA_PHRASE(
    prompts_bring_experts,
    "For long prompts the processor's experts are brought to the card, a few at a time, where that is "
    "faster; {bytes} of its memory are for that");
FOVEA_PHRASE(
    experts_change_places,
    "At any time the processor has {away} of the {all} experts: those that the work uses least. Main "
    "memory has all of them, so that they can change places with the card's");
FOVEA_PHRASE(cpu_moe_auto_layers, "--n-cpu-moe auto is {layers} of {all} layers");
FOVEA_PHRASE(
    cpu_moe_auto_of_two_cards,
    "--n-cpu-moe auto leaves {first} experts of the first card's layers and {last} of the other's to the "
    "processor");
FOVEA_PHRASE(
    cpu_moe_auto_coldest,
    "--n-cpu-moe auto leaves the {experts} coldest experts of each layer to the processor, by the "
    "store's profile: at least {ms} ms a token, where the first {layers} layers would take {layers_ms}");

// What more memory would change (planner.cpp).
FOVEA_PHRASE(all_at_highest, "Everything is at the highest tier, {tier}");
FOVEA_PHRASE(all_at_highest_with_room,
             "Everything is at the highest tier, {tier}, and {bytes} of the budget stay free");
FOVEA_PHRASE(one_gibibyte_more,
             "1 GiB more: {bits:.2} instead of {now:.2} bits per weight{units}{per_layer}{on_disk}");
FOVEA_PHRASE(more_units_at, ", {units} instead of {now} units at {tier}");
FOVEA_PHRASE(more_in_each_layer, " ({units} instead of {now} in each layer)");
FOVEA_PHRASE(fewer_on_disk, ", {units} instead of {now} units on disk alone");
FOVEA_PHRASE(all_at_needs, "Everything at {tier} needs {bytes} ({bytes:exact} bytes)");

// What became of the request (plan_inputs.cpp).
FOVEA_PHRASE(no_tier_below_file,
             "For this model no tier is below the file's, so its experts stay at one tier");
FOVEA_PHRASE(first_step_is_free,
             "The file has {bits:.2} bits per weight, so the step from {high} to {low} loses nothing");

}  // namespace fovea::phrases

namespace fovea::errors {

// tiers.cpp
FOVEA_ERROR(invalid, unknown_tier, "\"{tier}\" is not a tier", "Choose from: {known}");
FOVEA_ERROR(
    invalid, tiers_out_of_order,
    "\"{tier}\" has {bits} bits per weight here and comes after \"{higher}\", which has {higher_bits}",
    "Give the tiers from high to low, each once");
FOVEA_ERROR(invalid, no_tier_given, "no tier is given", "Choose from: {known}");

// tier_map.cpp
FOVEA_ERROR(not_found, tier_map_unreadable, "cannot be read: {said}", "Check the path");
FOVEA_ERROR(io, tier_map_read_failed, "reading it failed", "");
FOVEA_ERROR(format, tier_map_too_large, "it has {size:exact} bytes, a tier map has at most {limit:exact}",
            "");
FOVEA_ERROR(format, tier_map_line, "expected a unit's name and a tier, like \"blk.0.expert.17 q4\"", "");
FOVEA_ERROR(format, tier_map_unknown_tier, "\"{tier}\" is not one of the tiers {known}", "");
FOVEA_ERROR(format, tier_map_unknown_unit, "the model has no unit \"{pattern}\"", "");
FOVEA_ERROR(format, tier_map_names_twice, "{unit} already has its tier from line {line}",
            "Name every unit once");
FOVEA_ERROR(format, tier_map_second_default, "line {line} already gives a default", "");
FOVEA_ERROR(format, tier_map_leaves_out, "no line names {unit}", "Add one, or a line \"default TIER\"");

// model_shapes.cpp
FOVEA_ERROR(not_found, unknown_shape, "\"{shape}\" is not a shape", "Choose from: {known}");

// offload.cpp
FOVEA_ERROR(invalid, override_without_place, "\"{given}\" is not PATTERN=PLACE",
            "For example: --override-tensor \"blk\\.(0|1)\\.ffn_.*_exps=CPU\"");
FOVEA_ERROR(invalid, override_unknown_place, "\"{place}\" is not a place",
            "Choose from: CPU (the slower place), GPU and CUDA0 (the device)");
FOVEA_ERROR(
    invalid, override_names_nothing,
    "{pattern} names nothing that the processor can compute beside the device",
    "Name tensors of experts or of dense feed-forward layers, such as blk\\.0\\.ffn_, or all of the first "
    "layers, as blk\\.[0-7]\\.");
FOVEA_ERROR(invalid, cpu_moe_without_experts, "the model has no experts",
            "Use --override-tensor or -ngl for a dense model");
FOVEA_ERROR(invalid, cpu_moe_not_layers, "{given} is not a number of layers, nor auto", "");
FOVEA_ERROR(invalid, gpu_layers_not_layers, "{given} is not a number of layers", "");
FOVEA_ERROR(unsupported, dense_on_disk,
            "a model without experts has nothing that could stay on the disk until a token needs it",
            "Use --policy static with lower --tiers, or a smaller version of the model");

// ladder.cpp, pmpd.cpp
FOVEA_ERROR(invalid, ladder_of_one_tier, "layers go down from one tier to the next, but there is only one",
            "Give two tiers or more, for example --tiers q8,q4");
FOVEA_ERROR(invalid, pmpd_schedule_length,
            "{count} {count:number is|numbers are} given, and {tiers} {tiers:tier is|tiers are} below the "
            "highest",
            "Give the number of answer tokens after which each begins, for example --pmpd-schedule 256");
FOVEA_ERROR(invalid, pmpd_schedule_order, "the numbers of tokens are not ascending from at least 1",
            "Give each tier at least as many tokens as the one above it");

// dynaexq.cpp, fovea_policy.cpp, static_policy.cpp, best_mix.cpp
FOVEA_ERROR(invalid, policy_setting, "the value is {value}, it must be {range}", "");
FOVEA_ERROR(invalid, dynaexq_tiers, "{count} {count:tier is|tiers are} given, it moves experts between two",
            "Give a high and a low tier");
FOVEA_ERROR(
    memory, dynaexq_room,
    "{hot} {hot:expert|experts} in the high tier and {cold} in the low one are wanted, the plan has room "
    "for {hot_room} and {cold_room}",
    "Give a larger budget");
FOVEA_ERROR(
    memory, static_policy_room,
    "{units} {units:unit|units} should have tier {tier} from the top, but the plan has room for {room}",
    "Give a larger budget, or lower tiers");
FOVEA_ERROR(internal, static_policy_tier, "there is no tier {tier}", "");
FOVEA_ERROR(internal, static_policy_units, "tiers for {count} units, expected {expected}", "");
FOVEA_ERROR(memory, smallest_mix_too_large,
            "the smallest tiers of all units have {size:exact} bytes, the budget for them is {budget:exact}",
            "Give a budget that is at least {missing:exact} bytes larger");

// policy.cpp
FOVEA_ERROR(internal, policy_world_units, "first_unit does not count units from 0 upwards", "");
FOVEA_ERROR(internal, policy_world_tiers, "the number of tiers is {count}, expected 1 to 254", "");
FOVEA_ERROR(internal, policy_world_length, "{list} has {count} values, expected {expected}", "");

// prepare.cpp, prepare_version.cpp, calibrate.cpp
FOVEA_ERROR(unsupported, no_units_of_scope, "the model has no units of the scope {scope}",
            "Dense models have linear layers: --scope linear");
FOVEA_ERROR(unsupported, rows_not_in_blocks,
            "rows of {columns} weights cannot be stored as {tier}, whose blocks have {elements}",
            "Choose other tiers");
FOVEA_ERROR(format, weight_not_finite, "a weight is not a finite number",
            "The file is damaged: download it again");
FOVEA_ERROR(invalid, calibration_text_too_short, "the text has fewer than two tokens", "");

// arena.cpp: a plan that cannot be, or no memory for it.
FOVEA_ERROR(memory, no_memory_for_arena,
            "the device {device} has no {slabs} slabs of {slab:exact} bytes for the versions",
            "Give a smaller budget, or close other programs");
FOVEA_ERROR(internal, arena_slab_size,
            "{slabs} slabs of {slab:exact} bytes; expected multiples of {alignment:exact} bytes", "");
FOVEA_ERROR(
    internal, arena_block_size,
    "a pool of {block:exact}-byte blocks; expected ascending multiples of {alignment:exact} up to the "
    "slab's {slab:exact}",
    "");

// arena.cpp, the audit.
FOVEA_ERROR(internal, slab_uses_block_outside, "uses block {block} of {count}", "");
FOVEA_ERROR(internal, slab_used_blocks, "blocks in use {used}, expected {counted}", "");
FOVEA_ERROR(internal, slab_unused_in_pool, "serves a pool with no block in use", "");
FOVEA_ERROR(internal, slab_offers_used_block, "offers block {block}, which is in use", "");
FOVEA_ERROR(internal, slab_free_chain, "has a free chain of {length}, expected {expected}", "");
FOVEA_ERROR(internal, slab_free_blocks, "free blocks {free}, expected {expected}", "");
FOVEA_ERROR(internal, arena_slab_not_free, "slab {slab} is among the free ones", "");
FOVEA_ERROR(internal, arena_free_slabs, "{free} free slabs, counted {counted}", "");
FOVEA_ERROR(internal, arena_slab_wrongly_open, "slab {slab} is wrongly open in pool {pool}", "");
FOVEA_ERROR(internal, arena_open_slabs, "{open} slabs are open, counted {counted}", "");
FOVEA_ERROR(internal, arena_pool_use,
            "{slabs} slabs, {blocks} blocks, {used} used; counted {counted_slabs}, {counted_blocks}, "
            "{counted_used}",
            "");
FOVEA_ERROR(internal, arena_used_bytes, "{used:exact} bytes are used, counted {counted:exact}", "");

// version_table.cpp, residency.cpp
FOVEA_ERROR(
    memory, no_block_for_first_version,
    "has no room for {unit} at {tier}, number {number} of the first versions; {size:exact} bytes in all",
    "Give a larger budget or lower tiers");
FOVEA_ERROR(memory, no_pinned_memory, "{size:exact} bytes of pinned memory are not available",
            "Give a smaller transfer buffer, or close other programs");
FOVEA_ERROR(internal, residency_handles, "{handles} handles; expected one for each of {units} units", "");
FOVEA_ERROR(internal, first_tiers_of_others, "the first tiers of {count} units; expected, once, of {units}",
            "");
FOVEA_ERROR(internal, first_tier_on_host, "should have a tier, but is the host's", "");

// host_source.cpp
FOVEA_ERROR(
    memory, no_memory_to_change_places,
    "{device} has no {size} to spare, or {pinned} of main memory cannot be pinned: experts that change "
    "places between the two need that",
    "Close other programs, or give --policy none, which leaves experts where they are");
FOVEA_ERROR(internal, host_version_is_not_read, "is copied from main memory, and not read", "");

// version_table.cpp and residency.cpp, the audit.
FOVEA_ERROR(internal, unit_at_unknown_tier, "is published at tier {tier}", "");
FOVEA_ERROR(internal, unit_block_and_tier, "has a block without a tier, or a tier without one", "");
FOVEA_ERROR(internal, unit_block_size, "has a block of {size:exact} bytes, expected {expected:exact}", "");
FOVEA_ERROR(internal, unit_on_host_and_device, "is the host's, and has a version", "");
FOVEA_ERROR(internal, unit_goes_nowhere, "is not in flight, and goes to tier {tier}", "");
FOVEA_ERROR(internal, block_of_two_owners, "a block has two owners", "");
FOVEA_ERROR(internal, retired_blocks, "{count} retired blocks, counted {counted}", "");
FOVEA_ERROR(internal, owned_bytes, "owns {owned:exact} bytes, the arena counts {used:exact} as used", "");
FOVEA_ERROR(internal, used_beyond_arena, "uses {used:exact} of {size:exact} bytes", "");
FOVEA_ERROR(internal, handle_not_at_block, "part {part}'s handle is not at its block", "");
FOVEA_ERROR(internal, handle_bits, "{bits} bits of {weights} weights, counted {counted} of {counted_weights}",
            "");

// swap_queue.cpp
FOVEA_ERROR(invalid, transfer_buffer_too_small,
            "room for {count} versions in flight and {queue} waiting; expected 1 or more (the largest has "
            "{largest:exact} bytes)",
            "Give a larger transfer buffer");
FOVEA_ERROR(internal, swap_slot_block, "a slot has a block that it should not have, or none", "");
FOVEA_ERROR(internal, swap_in_flight_once, "a unit is in flight twice, or not at all", "");
FOVEA_ERROR(internal, swap_targets_differ, "the tiers after what is in flight differ", "");
FOVEA_ERROR(internal, swap_queue_too_long, "the queue is too long", "");
FOVEA_ERROR(internal, swap_too_many_in_flight, "too much is in flight", "");

// first_token.cpp
FOVEA_ERROR(memory, no_memory_for_first_token,
            "there are no {size:exact} bytes for the experts of a sequence's first token",
            "Close other programs, or give --first-token-layers 0");

// on_demand_cache.cpp
FOVEA_ERROR(memory, no_block_on_demand,
            "no block of {size:exact} bytes is left for a unit on disk alone, beside {others} "
            "{others:other that is|others that are} needed now or in use",
            "Give a larger budget, or let fewer units live on disk");
FOVEA_ERROR(internal, unit_on_host_and_disk, "is the host's, and on disk alone", "");
FOVEA_ERROR(internal, unit_without_version, "has no version", "");
FOVEA_ERROR(internal, unit_not_brought, "counts as brought from disk and is not", "");
FOVEA_ERROR(internal, unit_brought_by_nobody, "was brought from disk by nobody", "");
FOVEA_ERROR(internal, on_demand_counts,
            "{disk} units on disk, {held} brought; counted {counted_disk}, {counted_held}", "");

// planner.cpp, plan_inputs.cpp
FOVEA_ERROR(memory, budget_too_small_for_rest,
            "{budget} ({budget:exact} bytes) is too small: what cannot be left out takes {least} "
            "({least:exact} bytes)",
            "Give {least:exact} bytes or more, a shorter context, or a lower tier");
FOVEA_ERROR(memory, budget_too_small_for_lowest,
            "{budget} ({budget:exact} bytes) is too small: the model with every unit at {tier} takes {least} "
            "({least:exact} bytes)",
            "Give {least:exact} bytes or more, a shorter context, or a lower tier");
FOVEA_ERROR(unsupported, tier_needs_rows,
            "\"{tier}\" needs rows of a multiple of {block} weights, those of {unit} have {columns}",
            "Choose the tier \"file\" or \"bf16\"");
FOVEA_ERROR(invalid, policy_without_experts, "the model has no experts",
            "Use --policy static for a dense model");
FOVEA_ERROR(
    invalid, dynaexq_needs_two_tiers,
    "dynaexq moves experts between two tiers, a high and a low one; found {count} ({tiers})",
    "Give two, for example --tiers {high},{low}, or --policy static, which mixes as many as are given");
FOVEA_ERROR(invalid, offload_flags_of_another_policy,
            "--n-cpu-moe, --cpu-moe, --override-tensor and -ngl belong to the policy offload",
            "Leave them out, or choose --policy offload");

}  // namespace fovea::errors
