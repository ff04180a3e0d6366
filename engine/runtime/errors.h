// What is said of loading, planning and answering.
#pragma once

#include "engine/layers/errors.h"
#include "engine/text/errors.h"

namespace fovea::phrases {

// Where.
FOVEA_PHRASE(budget_place, "budget");
FOVEA_PHRASE(main_memory_place, "main memory");
FOVEA_PHRASE(kv_cache_place, "KV cache");
FOVEA_PHRASE(recurrent_state_place, "recurrent state");
FOVEA_PHRASE(engine_place, "engine");
FOVEA_PHRASE(the_card, "the card");
FOVEA_PHRASE(token_place, "token {index}");
FOVEA_PHRASE(numbered_text_place, "text {number}");

FOVEA_PHRASE(
    prefer_moves_to_host,
    "{units} experts are computed by the processor: that costs less than the lower tier they would have");

FOVEA_PHRASE(
    keeps_to_calibrated,
    "Experts move between {held}, for which there is a calibrated store; between {all} they would be "
    "more precise. {command} makes a store for that");
FOVEA_PHRASE(nothing_changes_places,
             "Nothing that is left to the processor could change places with what the card has: experts stay "
             "where they are");
FOVEA_PHRASE(
    numbers_follow_work,
    "How many experts each tier holds will follow what is used; these are the numbers to begin with");

// What values may be.
FOVEA_PHRASE(from_to, "{min} … {max}");
FOVEA_PHRASE(from_off_to, "{min} (off) … {max}");
FOVEA_PHRASE(from_to_off, "{min} … {max} ({off}: off)");
FOVEA_PHRASE(from_models_to, "0 (the model's) … {max}");
FOVEA_PHRASE(from_all_to, "0 (all) … {max}");
FOVEA_PHRASE(from_default_to, "0 (the default) … {max}");
FOVEA_PHRASE(from_1_to, "1 … {max}");
FOVEA_PHRASE(none_to, "-1 (none), 0 … {max}");
FOVEA_PHRASE(from_on, "{min} or more");
FOVEA_PHRASE(off_or_more, "0 (off) or more");
FOVEA_PHRASE(all_off_or_more, "-1 (all), 0 (off) or more");
FOVEA_PHRASE(above_zero_to_off, "above 0, at most {max} ({off}: off)");
FOVEA_PHRASE(one_is_off, "above 0, at most 1 (off)");
FOVEA_PHRASE(no_limit_or_more, "-1 (no limit) or more");

// What the user should know.
FOVEA_PHRASE(
    context_extended,
    "The context of {context} tokens is longer than the {trained} that the model was trained for; its "
    "rotary scaling is made for up to {longest}, and answers may be worse");
FOVEA_PHRASE(context_beyond_model,
             "The context of {context} tokens is longer than the {longest} that the model is made for: "
             "anything beyond that will probably make no sense");

// How a plan differs from the one that was shown.
FOVEA_PHRASE(budget_is_other, "the budget is {now} instead of {before}");
FOVEA_PHRASE(first_layers_are_others, "the first card has {now} {now:layer|layers} instead of {before}");
FOVEA_PHRASE(device_takes_other, "what is on the device takes {now} instead of {before}");
FOVEA_PHRASE(host_takes_other, "what is beside the device takes {now} instead of {before}");
FOVEA_PHRASE(device_free_is_other, "{now} is free on the device instead of {before}");
FOVEA_PHRASE(tiers_are_others,
             "{units} of {all} units begin with another precision ({now} instead of {before})");
FOVEA_PHRASE(store_is_another, "it is based on {now} instead of {before}");
FOVEA_PHRASE(no_store, "no store");
FOVEA_PHRASE(the_store, "the store {fingerprint}");

// Of two cards.
FOVEA_PHRASE(
    places_need_both_cards,
    "Experts stay where they are: they change places with the processor's only where both cards leave it "
    "some");

// What to do.
FOVEA_PHRASE(longer_context, "Load the model with a longer context");
FOVEA_PHRASE(make_store_by, "Make it again: {command}");
FOVEA_PHRASE(swap_log_ends, "{file}: the swap log can no longer be written: {said}");
FOVEA_PHRASE(prompts_bring_no_experts,
             "Long prompts leave the processor's experts to the processor, which is slower: {why}");
FOVEA_PHRASE(experts_stay, "Experts do not change places with the processor's, which is slower: {why}");
FOVEA_PHRASE(versions_are_not_kept,
             "What swaps read is not kept in main memory, so that it may be read again: {why}");
FOVEA_PHRASE(smaller_budget, "Give a smaller budget, or close other programs that use it");

// What would make a plan fit.
FOVEA_PHRASE(plan_fits, "fits");
FOVEA_PHRASE(plan_needs, "needs {bytes}");
FOVEA_PHRASE(more_bytes_would_do, "{least} ({least:exact} bytes) would be enough, {more} more");
FOVEA_PHRASE(lower_tiers_would, "--tiers {tiers} {outcome}");
FOVEA_PHRASE(leaving_to_disk_would,
             "--policy offload --tiers {tier} --n-cpu-moe {layers} {outcome}: {units} of {all} units on disk "
             "alone, with "
             "stalls");
FOVEA_PHRASE(leaving_to_host_would,
             "{flags} {outcome}: the processor computes {units} of {all} units, {bytes} of main memory");
FOVEA_PHRASE(smaller_kv_would, "--kv q8 saves {bytes} and {outcome}");
FOVEA_PHRASE(shorter_context_would, "--context {context} instead of {now} fits");
FOVEA_PHRASE(no_context_would, "A shorter context alone is not enough: even {context} tokens take {bytes}");
FOVEA_PHRASE(give_more_bytes, "Give {least:exact} bytes or more, a shorter context, or a lower tier");
FOVEA_PHRASE(no_division_fits_experts,
             "Choose a shorter context or a smaller model: it does not fit whatever is left to the processor "
             "(--n-cpu-moe, -ngl, --override-tensor)");
FOVEA_PHRASE(no_division_fits_layers,
             "Choose a shorter context or a smaller model: it does not fit whatever is left to the processor "
             "(-ngl, --override-tensor)");
FOVEA_PHRASE(leave_experts_to_host,
             "Leave more to the processor: {flags} fits (--n-cpu-moe auto finds it); --override-tensor "
             "chooses by name. Or "
             "choose a shorter context");
FOVEA_PHRASE(leave_layers_to_host,
             "Leave more to the processor: {flags} fits; --override-tensor chooses by name. Or choose a "
             "shorter context");
FOVEA_PHRASE(leave_all_on_card,
             "Leave everything on the card: it fits there without --n-cpu-moe, -ngl and -ot");
FOVEA_PHRASE(leave_less_to_host, "Leave less to the processor: {flags} fits both memories");
FOVEA_PHRASE(lower_tiers_for_main_memory,
             "Lower tiers keep more experts on the card (--tiers q4,q2 with a smaller --n-cpu-moe, or auto). "
             "Or close other "
             "programs, or choose a smaller model");
FOVEA_PHRASE(less_for_main_memory, "Close other programs, or choose a shorter context or a smaller model");

}  // namespace fovea::phrases

namespace fovea::errors {

// Settings.
FOVEA_ERROR(invalid, value_out_of_range, "the value is {value}, it must be {range}",
            "Give a value in that range");
FOVEA_ERROR(invalid, no_tokens, "at least one token is needed", "");
FOVEA_ERROR(context_full, tokens_beyond_context,
            "{tokens} {tokens:token does|tokens do} not fit in a context of {context}",
            "Load the model with a longer context");
FOVEA_ERROR(
    io, processor_is_late,
    "the card waited {seconds} s for the processor's experts of layer {layer} and went on without them",
    "Ask again; the conversation is kept. If it happens again, close programs that keep the processor "
    "busy, or leave fewer experts to it");
FOVEA_ERROR(invalid, token_beyond_vocabulary, "the id is {id}, the vocabulary has {vocabulary}", "");

// Plans.
FOVEA_ERROR(
    memory, budget_beyond_device,
    "{budget:exact} bytes are more than the {free:exact} that {device} has free beside other programs",
    "Give a smaller budget, or close other programs that use it");
FOVEA_ERROR(
    memory, budget_too_small_for_device,
    "{budget} ({budget:exact} bytes) is too small for {device}: the model and its context take {least} "
    "({least:exact} bytes)",
    "");
FOVEA_ERROR(memory, budget_too_small_for_tier,
            "{budget} ({budget:exact} bytes) is too small: the model with every unit at {tier} takes {least} "
            "({least:exact} bytes)",
            "");
FOVEA_ERROR(
    memory, main_memory_too_small,
    "{needed} ({needed:exact} bytes) is needed beside the card ({units} {units:unit|units} that the "
    "processor computes {weights}, cache and buffers {buffers}), but only {available} ({available:exact} "
    "bytes) is available",
    "");
FOVEA_ERROR(memory, no_memory_for_host_cache, "no {bytes} can be had for versions that are kept",
            "Choose less with --host-cache, or --no-host-cache");
FOVEA_ERROR(
    invalid, host_cache_of_places,
    "is for versions that are read; experts that change places with the processor's are in main memory, "
    "all of them",
    "Leave it out");
FOVEA_ERROR(invalid, host_cache_too_small, "{asked_for} of main memory hold no version of {largest}",
            "Choose more, or --no-host-cache");
FOVEA_ERROR(invalid, stream_from_beyond_chunk, "{from} tokens are more than a pass of a prompt has, {chunk}",
            "Choose fewer, or a larger --chunk");
FOVEA_ERROR(memory, host_cache_too_large,
            "{asked_for} of versions shall be kept in main memory, where the plan leaves {left}",
            "Choose less, or leave it out");
FOVEA_ERROR(invalid, plan_does_not_hold, "it no longer applies: {differences}", "Plan again, and load that");
FOVEA_ERROR(unsupported, dense_shape_has_no_tiers,
            "the tiers of a dense model can be planned only from its file",
            "Plan without a policy, or give the model");

FOVEA_ERROR(unsupported, shape_has_no_layers,
            "the tiers of linear layers can be planned only from a model's file",
            "Choose another --policy, or give the model");

// Devices.
FOVEA_ERROR(memory, no_more_memory, "the system has no more memory to give",
            "Close other programs, or choose a smaller model or context");
FOVEA_ERROR(memory, no_more_threads, "the system cannot start any more threads: {said}",
            "Close other programs, or use fewer threads");

// What time is worth.
FOVEA_ERROR(invalid, prefer_of_another_policy,
            "only fixed tiers and fovea weigh time, the policy is {policy}",
            "Leave out --prefer, or choose --policy fovea");
FOVEA_ERROR(invalid, prefer_without_divergences,
            "speed can be weighed against quality only where the cost of each tier was measured",
            "Measure it: fovea prepare MODEL --calibrate FILE --divergence, or leave out --prefer");

// Preparing a store.
FOVEA_ERROR(unsupported, dense_model_has_no_experts, "a dense model has no experts",
            "Its linear layers can be prepared: --scope linear");
FOVEA_ERROR(invalid, divergence_needs_text, "the divergence is measured on a text",
            "Give one: --calibrate FILE");
FOVEA_ERROR(invalid, store_without_calibration, "the store was made without this calibration",
            "Make it again: fovea prepare MODEL --calibrate FILE --rebuild");
FOVEA_ERROR(invalid, store_without_divergences, "the store was made without divergences",
            "Make it again: fovea prepare MODEL --calibrate FILE --rebuild");

// The cache.
FOVEA_ERROR(unsupported, kv_type_needs_heads,
            "a KV cache of {type} needs heads of a multiple of {block} elements, the model's have {head_dim}",
            "Choose f16 or f32 for the KV cache");
FOVEA_ERROR(memory, no_memory_for_tokens, "{bytes:exact} bytes for {tokens} tokens are not available",
            "Choose a shorter context or a smaller KV type");
FOVEA_ERROR(memory, no_memory_for_states, "{bytes:exact} bytes for {states} states are not available",
            "Close other programs, or choose a smaller model");
FOVEA_ERROR(context_full, no_page_for_copy, "no page is left for a copy", "");
FOVEA_ERROR(context_full, tokens_need_pages,
            "{tokens} tokens need {needed} pages of {page_tokens} tokens, there are {pages}", "");
FOVEA_ERROR(context_full, all_pages_in_use, "all {pages} pages are in use by other sequences", "");
FOVEA_ERROR(context_full, all_states_in_use, "all states are in use by other sequences", "");

// Questions and answers.
FOVEA_ERROR(invalid, empty_stop_string, "a stop string is empty", "");

// processor.cpp, two_cards.cpp: two cards
FOVEA_ERROR(invalid, not_two_cards, "these are not two different cards",
            "Name two, as in --device cuda:0,cuda:1");
FOVEA_ERROR(unsupported, not_for_two_cards,
            "two cards divide a model by its layers: policies that lower layers, and -ngl, are for one card",
            "Leave these out, or name one card");
FOVEA_ERROR(invalid, budget_of_second_card, "gives two cards a budget each, and one device is named",
            "Give one size, or name two cards as in --device cuda:0,cuda:1");
FOVEA_ERROR(invalid, device_memory_of_two_cards, "describes one card, and two are named",
            "Leave it out, or name one card");
FOVEA_ERROR(unsupported, layers_cannot_be_parted, "this model's layers cannot be divided between two cards",
            "Name one card");
FOVEA_ERROR(
    memory, two_cards_too_small,
    "{first} needs {first_needs} for the first {layers} layers and has {first_free} free, {last} needs "
    "{last_needs} for the others and has {last_free}",
    "Leave experts to the processor (--n-cpu-moe auto), lower --tiers, choose a shorter context, or the "
    "model in "
    "fewer bits");

}  // namespace fovea::errors
