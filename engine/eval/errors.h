// What is said of measurements: perplexity, benchmarks, routing traces and their replay.
#pragma once

#include "engine/precision/errors.h"

namespace fovea::phrases {

// Settings of a replay (replay.cpp, replay_stage.cpp).
FOVEA_PHRASE(replay_bandwidth, "bandwidth");
FOVEA_PHRASE(replay_upload_bandwidth, "upload bandwidth");
FOVEA_PHRASE(replay_decode_speed, "tok/s");
FOVEA_PHRASE(replay_prefill_speed, "prefill tok/s");
FOVEA_PHRASE(replay_transfer_bytes, "transfer bytes");
FOVEA_PHRASE(replay_latency, "latency");
FOVEA_PHRASE(replay_in_flight, "in flight");
FOVEA_PHRASE(replay_prompt_pass_tokens, "tokens in a prompt's pass");
FOVEA_PHRASE(replay_snapshot_seconds, "snapshot seconds");
FOVEA_PHRASE(replay_on_demand_blocks, "on-demand blocks");
FOVEA_PHRASE(replay_high_share, "high share");
FOVEA_PHRASE(replay_without_calibration,
             "No calibration is known for this trace, so static treats all experts as used alike; --store "
             "tells how often each was used");
FOVEA_PHRASE(range_0_at_once_or_more, "0 (at once) or more");

// Where an error was.
FOVEA_PHRASE(trace_place, "trace");
FOVEA_PHRASE(text_place, "text");
FOVEA_PHRASE(offload_options_place, "--n-cpu-moe, --override-tensor and -ngl");
FOVEA_PHRASE(synthetic_trace_place, "synthetic trace");
FOVEA_PHRASE(synthetic_setting_place, "synthetic {setting}");

// What a trace's numbers are (trace.cpp).
FOVEA_PHRASE(trace_name_length, "the name's length");
FOVEA_PHRASE(trace_used_experts, "the number of used experts");
FOVEA_PHRASE(trace_layers, "the number of layers");
FOVEA_PHRASE(trace_layer_number, "a layer's number");
FOVEA_PHRASE(trace_experts, "the number of experts");
FOVEA_PHRASE(trace_expert_weights, "an expert's number of weights");
FOVEA_PHRASE(trace_expert_bytes, "an expert's bytes");
FOVEA_PHRASE(trace_pass_tokens, "the pass's number of tokens");
FOVEA_PHRASE(trace_layer_tokens, "a layer's number of tokens");
FOVEA_PHRASE(trace_chosen_experts, "the number of chosen experts");
FOVEA_PHRASE(trace_expert_distance, "the distance of two experts");
FOVEA_PHRASE(trace_expert_tokens, "an expert's tokens less one");
FOVEA_PHRASE(trace_passes, "the number of passes");
FOVEA_PHRASE(trace_tokens, "the number of tokens");

// How a benchmark's choices of experts were made (bench_shape.cpp).
FOVEA_PHRASE(bench_made_up_routing, "made up by the trace generator, seed {seed}");

}  // namespace fovea::phrases

namespace fovea::errors {

// bench.cpp, bench_shape.cpp
FOVEA_ERROR(invalid, bench_needs_one, "at least one is needed", "");
FOVEA_ERROR(invalid, bench_without_tokens, "a prompt or an answer of at least one token is needed", "");
FOVEA_ERROR(context_full, bench_beyond_context, "{tokens} do not fit in a context of {context}",
            "Load the model with a longer context");
FOVEA_ERROR(invalid, bench_without_lengths, "there is nothing to measure", "");
FOVEA_ERROR(invalid, bench_prompt_length, "a prompt has at least one token", "");
FOVEA_ERROR(invalid, bench_context_length, "a context cannot have a negative length", "");
FOVEA_ERROR(invalid, bench_negative_budget, "it cannot be negative", "");
FOVEA_ERROR(invalid, bench_tiers_beside_offload, "experts that the processor computes stay at one tier",
            "Give one tier with --n-cpu-moe, --override-tensor or -ngl");
FOVEA_ERROR(invalid, bench_tiers_without_budget, "two tiers need a budget and a context",
            "Give --budget and --contexts");
FOVEA_ERROR(invalid, bench_tier_of_file, "there is no file whose types could be taken",
            "Choose bf16, q8, q4, q4e, q3 or q2");
FOVEA_ERROR(invalid, bench_offload_without_card,
            "made-up weights are only in memory, and {device} has no other", "Choose a GPU with --device");
FOVEA_ERROR(memory, bench_no_memory_for_choices, "there is no memory for the made-up choices",
            "Choose a smaller prefill chunk");

// synthetic_model.cpp
FOVEA_ERROR(format, shape_no_object, "it is not a JSON object",
            "fovea bench --help names the keys of a shape");
FOVEA_ERROR(format, shape_no_number, "{key} is missing, or not a whole number",
            "fovea bench --help names the keys of a shape");
FOVEA_ERROR(format, shape_number_out_of_range, "{key} is {value}, expected 1 … {limit}",
            "fovea bench --help names the keys of a shape");
FOVEA_ERROR(format, shape_no_boolean, "{key} is neither true nor false",
            "fovea bench --help names the keys of a shape");
FOVEA_ERROR(format, shape_no_multiple, "{key} is not a multiple of {divisor}",
            "fovea bench --help names the keys of a shape");
FOVEA_ERROR(format, shape_odd_number, "{key} is odd", "fovea bench --help names the keys of a shape");
FOVEA_ERROR(format, shape_number_beyond_other, "{key} is more than {other}",
            "fovea bench --help names the keys of a shape");
FOVEA_ERROR(unsupported, shape_not_run, "it has layers that Fovea plans for and does not run",
            "Choose a shape of experts and full attention, such as qwen3-30b-a3b or mixtral-8x7b");

// perplexity.cpp, reference_logits.cpp
FOVEA_ERROR(unsupported, perplexity_without_tokeniser, "the model was loaded without a tokeniser",
            "Load it with one");
FOVEA_ERROR(invalid, perplexity_window_too_short, "the window is {window} {window:token|tokens}",
            "Give at least {least}");
FOVEA_ERROR(invalid, perplexity_window_beyond_context,
            "the window is {window} tokens, the model is loaded for {context}",
            "Load it with a longer context, or give a smaller window");
FOVEA_ERROR(invalid, perplexity_negative_chunks, "the number must be 0 (all) or more",
            "Give how many windows to compute");
FOVEA_ERROR(invalid, perplexity_text_too_short,
            "it has {tokens} {tokens:token|tokens}, one window needs {window}",
            "Give a longer text or a smaller window");
FOVEA_ERROR(invalid, reference_vocabulary, "its vocabulary has {tokens} tokens, the model's {expected}",
            "Compare with a model that has the same tokeniser");
FOVEA_ERROR(invalid, reference_context,
            "it is loaded with a context of {context} tokens, the window has {window}",
            "Load it with a context as long as the window");
FOVEA_ERROR(not_found, reference_missing, "there is no such file, and no model that could make it",
            "Check the path, or give the model");
FOVEA_ERROR(format, reference_not_logits, "it holds no reference's output", "Choose another file");
FOVEA_ERROR(invalid, reference_of_other_shape,
            "it was made with another vocabulary, or with a window other than {window} tokens",
            "Remove it, so that it is made again");
FOVEA_ERROR(format, reference_cut, "it ends in the middle of a window",
            "Remove it, so that it is made again");
FOVEA_ERROR(invalid, reference_too_few_windows, "it holds {windows} {windows:window|windows}",
            "Remove it, so that it is made again");
FOVEA_ERROR(invalid, reference_of_other_text, "window {window} was made from another text",
            "Remove it, so that it is made again");

// continuations.cpp
FOVEA_ERROR(invalid, likelihood_empty_text, "the text has no tokens", "Give one that is not empty");
FOVEA_ERROR(invalid, continuation_without_tokens,
            "continuation {number} adds no token to what it continues: {continuation}",
            "Give continuations that are not empty");
FOVEA_ERROR(invalid, continuation_beyond_context,
            "continuation {number} has {tokens} tokens, the model is loaded for {context}",
            "Load it with a longer context");
FOVEA_ERROR(unsupported, likelihood_without_begin,
            "the vocabulary has neither a beginning-of-text nor an end-of-text token, so nothing can come "
            "before the text",
            "Give a context");

// trace_recorder.cpp
FOVEA_ERROR(unsupported, trace_without_experts, "the model has no experts, so there is no routing to record",
            "Give a Mixture-of-Experts model");
FOVEA_ERROR(invalid, trace_negative_tokens, "the number must be 0 (all) or more", "");
FOVEA_ERROR(invalid, trace_empty_chunk, "there must be at least one token in a pass", "");
FOVEA_ERROR(invalid, trace_of_no_tokens, "it has no tokens", "");

// trace.cpp
FOVEA_ERROR(format, trace_not_one, "it is not a trace: it does not begin with {magic}",
            "Give a file that `fovea trace` wrote");
FOVEA_ERROR(unsupported, trace_version, "the trace has version {version}, this program reads version {known}",
            "Record the trace again");
FOVEA_ERROR(format, trace_cut, "the file ends in the middle of a record", "Record the trace again");
FOVEA_ERROR(format, trace_number_too_long, "{number} is a number of more than 63 bits",
            "Record the trace again");
FOVEA_ERROR(format, trace_number_out_of_range, "{number} is {value}, it must be {least} … {most}",
            "Record the trace again");
FOVEA_ERROR(format, trace_record_kind, "a record of kind {kind}, expected 1, 2 or 3",
            "Record the trace again");
FOVEA_ERROR(format, trace_flags, "unknown flags {flags}", "Record the trace again");
FOVEA_ERROR(format, trace_entropy, "the entropy is not a number of 0 or more", "Record the trace again");
FOVEA_ERROR(format, trace_router_weight, "the largest router weight is not a number of 0 or more",
            "Record the trace again");
FOVEA_ERROR(
    format, trace_counts_differ,
    "the end counts {passes} passes of {tokens} tokens, the file has {found_passes} of {found_tokens}",
    "Record the trace again");
FOVEA_ERROR(format, trace_after_its_end, "something follows the end", "Record the trace again");

// routing_report.cpp
FOVEA_ERROR(invalid, report_of_nothing, "there is no trace to report on", "Name the files of `fovea trace`");
FOVEA_ERROR(invalid, report_trace_empty, "the trace has no passes", "Record one of a longer text");
FOVEA_ERROR(invalid, report_other_shape,
            "its layers and experts are not those of {other}, so nothing can be compared",
            "Give traces of one model, or of models that differ only in their weights");
FOVEA_ERROR(invalid, fidelity_of_sums, "a pass has {tokens} tokens, but stores their choices as a single sum",
            "Record this trace and the others with --decode");
FOVEA_ERROR(invalid, fidelity_without_text, "the trace does not say which tokens it covers",
            "Record the trace again");
FOVEA_ERROR(invalid, fidelity_of_other_text, "it covers other tokens than {reference}",
            "Record both from the same text, with the same --tokens and --context");

// replay.cpp, replay_stage.cpp, replay_report.cpp
FOVEA_ERROR(unsupported, replay_policy, "a replay supports fovea, dynaexq, offload and static", "");
FOVEA_ERROR(memory, replay_ceiling_room,
            "{bytes} is too little for the lowest tier of every expert, which takes {least}",
            "Give more room");
FOVEA_ERROR(invalid, setting_out_of_range, "it must be {range}", "");
FOVEA_ERROR(internal, replay_other_units, "the world's units are not the trace's", "");
FOVEA_ERROR(invalid, replay_tier_bits, "\"{tier}\" does not give bits per weight",
            "Write for example q2=2.25");
FOVEA_ERROR(invalid, replay_file_tier, "the trace does not say how large the file's experts are",
            "Give bits per weight, for example file=4.5");
FOVEA_ERROR(invalid, replay_tiers_out_of_order, "{tier} is not smaller than {higher}",
            "Give the tiers from high to low");
FOVEA_ERROR(invalid, replay_store_of_other_model,
            "it holds {units} units of scope {scope}, the trace has {experts} experts",
            "Give the store of the model that the trace was recorded with");
FOVEA_ERROR(invalid, replay_store_without_tier, "it does not hold the tier {tier}",
            "Prepare one whose --tiers name it");
FOVEA_ERROR(format, replay_layer_order, "layer {layer} follows layer {before}", "Record the trace again");
FOVEA_ERROR(invalid, replay_nothing_offloaded, "nothing says what is offloaded",
            "Give --n-cpu-moe, --override-tensor, -ngl, or a budget");
FOVEA_ERROR(invalid, replay_auto_without_budget, "auto needs a budget to fit", "Add --budget");
FOVEA_ERROR(invalid, replay_budget_or_share, "either a budget or a high share is needed",
            "Give for example --high-share 0.25");
FOVEA_ERROR(invalid, replay_offload_by_share, "offload chooses by bytes", "Give --budget");

// synthetic_trace.cpp
FOVEA_ERROR(invalid, synthetic_unknown_model, "nothing is known about \"{model}\"",
            "Give qwen3-30b-a3b, qwen3-next-80b-a3b or a shape like 48x128");
FOVEA_ERROR(invalid, synthetic_count, "there must be 1 … {limit}", "");
FOVEA_ERROR(invalid, synthetic_top, "it must be from 1 to the number of experts", "");
FOVEA_ERROR(invalid, synthetic_skew, "its strength must be from 0 to {limit}", "");
FOVEA_ERROR(invalid, synthetic_no_tokens, "there must be at least one", "");
FOVEA_ERROR(invalid, synthetic_phases, "there must be 1 … the number of tokens", "");
FOVEA_ERROR(invalid, synthetic_overlaps, "one share for all pairs of kinds is needed, or {pairs}", "");
FOVEA_ERROR(invalid, synthetic_overlap, "a share is not from 0 to 1", "");
FOVEA_ERROR(invalid, synthetic_repeat, "the chance must be from 0 to below 1", "");
FOVEA_ERROR(invalid, synthetic_drift, "it must be from 0 to {limit}", "");
FOVEA_ERROR(invalid, synthetic_parameters, "they must be 1 or more", "");

}  // namespace fovea::errors
