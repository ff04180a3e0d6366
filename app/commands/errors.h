// What the commands say of what they were given.
#pragma once

#include "app/files/errors.h"

namespace fovea::phrases {

// Where.
FOVEA_PHRASE(byte_of_input, "{input}, byte {offset}");
FOVEA_PHRASE(column_of_input, "{input}, line {line}, column {column}");
FOVEA_PHRASE(token_of_input, "--tokens, number {number}");
FOVEA_PHRASE(own_window, "the window");

// What to do.
FOVEA_PHRASE(only_restart_helps, "Start the program again: only that brings the device back");
FOVEA_PHRASE(or_did_you_mean,
             "Give a path, or a name from the model library; or did you mean fovea {command}?");

}  // namespace fovea::phrases

namespace fovea::errors {

// Flags that do not go together.
FOVEA_ERROR(invalid, budget_without_policy, "without a policy, nothing enforces it on the processor",
            "Leave out --policy none");
FOVEA_ERROR(invalid, flag_without_policy, "without a policy, every weight stays as it is in the file",
            "Add --policy, --tiers or --budget");
FOVEA_ERROR(invalid, dynaexq_flags_of_another_policy, "dynaexq settings do not apply to {policy}",
            "Leave them out, or choose --policy dynaexq");
FOVEA_ERROR(invalid, flags_beside_later_version,
            "it sets --dynaexq-alpha, --dynaexq-interval and --dynaexq-in-flight itself",
            "Leave them out, or use --as-published, which leaves them open");
FOVEA_ERROR(invalid, first_token_of_another_policy,
            "only fovea and dynaexq move experts, {policy} leaves a first token's where they are",
            "Give --policy fovea or --policy dynaexq, or leave this flag out");
FOVEA_ERROR(invalid, fovea_flags_of_another_policy, "fovea settings do not apply to {policy}",
            "Leave them out, or choose --policy fovea");
FOVEA_ERROR(invalid, flexquant_flags_of_another_policy, "flexquant settings do not apply to {policy}",
            "Leave them out, or choose --policy flexquant");
FOVEA_ERROR(invalid, pmpd_schedule_of_another_policy, "a pmpd schedule does not apply to {policy}",
            "Leave it out, or choose --policy pmpd");
FOVEA_ERROR(invalid, auto_without_budget, "auto needs a budget to fit",
            "Add --budget, for example --budget 8GiB");
FOVEA_ERROR(invalid, streaming_without_card, "experts are brought to a GPU, and the processor computes here",
            "Leave it out, or add --device cuda:0");
FOVEA_ERROR(invalid, host_cache_of_another_policy, "{policy} moves no weights that could be kept",
            "Leave it out, or choose --policy fovea");
FOVEA_ERROR(invalid, host_cache_without_card,
            "versions are kept in main memory beside a GPU, and the processor computes here",
            "Leave it out, or add --device cuda:0");
FOVEA_ERROR(invalid, offload_flags_not_of_policy,
            "--n-cpu-moe, --cpu-moe, --override-tensor and -ngl do not apply to {policy}",
            "Leave them out, or choose --policy offload");
FOVEA_ERROR(invalid, tiers_without_policy,
            "none leaves every weight as it is in the file, so --tiers and --tier-map have no effect",
            "Choose --policy static or dynaexq");
FOVEA_ERROR(invalid, map_of_another_policy, "a map of fixed tiers does not apply to {policy}",
            "Leave it out, or choose --policy static");
FOVEA_ERROR(invalid, map_with_offload, "a map of fixed tiers cannot be combined with offload flags",
            "Give one of the two");
FOVEA_ERROR(
    invalid, shape_of_one_tier, "its experts have one fixed tier, or two within a budget",
    "Give --tiers with one tier, or two and --budget; with one also --n-cpu-moe, --override-tensor or -ngl "
    "beside a GPU; and no other flag of precision");
FOVEA_ERROR(invalid, stats_of_nothing,
            "{model} has no experts, and without a policy there is nothing to show",
            "Add --policy, --tiers or --budget, or open a Mixture-of-Experts model");
FOVEA_ERROR(invalid, eval_of_nothing, "there must be a model, tasks and their data",
            "Give MODEL, --tasks and --data, or two files of results with --compare; --list lists the tasks");
FOVEA_ERROR(invalid, raw_conversation, "a conversation needs the chat template",
            "Give one question with -p, or leave it out");

// Texts, tokens and JSON.
FOVEA_ERROR(invalid, text_not_utf8, "the text is not UTF-8", "Convert it, for example with iconv -t UTF-8");
FOVEA_ERROR(invalid, no_prompt_given, "there is no prompt", "Give one with -p TEXT");
FOVEA_ERROR(invalid, nothing_to_trace, "the text is empty", "Give a text to trace");
FOVEA_ERROR(invalid, nothing_to_calibrate_on, "the text is empty", "Give a text of a few thousand words");
FOVEA_ERROR(invalid, no_token_id, "\"{item}\" is not a token id", "Give ids like 1,2,3");
FOVEA_ERROR(invalid, id_beyond_vocabulary, "the id {id} is not in the model's vocabulary of {vocabulary}",
            "Give ids from 0 to {last}");
FOVEA_ERROR(invalid, input_too_deep, "lists and objects are nested more than {limit} levels deep",
            "Write what it says with fewer levels");
FOVEA_ERROR(invalid, input_empty_json, "is empty, which is not JSON", "Check it with a JSON tool");
FOVEA_ERROR(invalid, input_no_json, "is not JSON", "Check it with a JSON tool");
FOVEA_ERROR(invalid, object_without_messages, "the object has no \"messages\"",
            "Give a list of messages, or an object with one");
FOVEA_ERROR(invalid, messages_no_list, "the messages are not a list",
            "Give [{{\"role\": …, \"content\": …}, …]");
FOVEA_ERROR(invalid, tools_no_list, "the tools are not a list", "Give a list of tool descriptions");
FOVEA_ERROR(not_found, model_without_template, "the model has no chat template",
            "Give one with --template FILE");
FOVEA_ERROR(invalid, no_skew, "\"{given}\" is not a skew",
            "Give uniform, zipf:S or exp:S, for example zipf:1.2");
FOVEA_ERROR(invalid, no_number, "\"{given}\" is not a number", "");

// Outcomes.
FOVEA_ERROR(memory, no_mix_fits, "no fixed tiers fit the budget", "Give a larger budget");
FOVEA_ERROR(memory, plan_beyond_main_memory,
            "{needed} of main memory is needed beside the card, and only {available} is available", "");
FOVEA_ERROR(memory, plan_beyond_budget, "{needed} does not fit in a budget of {budget}",
            "{least} would be enough; the plan says what else to change");
FOVEA_ERROR(device, checks_failed, "{failed} of {checks} checks failed",
            "Update its driver, stop overclocking, and report the lines above if the failures remain");
FOVEA_ERROR(internal, window_ended, "ended with code {code}", "Start it with --verbose to see more");
FOVEA_ERROR(cancelled, answer_stopped, "stopped before the answer was complete", "");
FOVEA_ERROR(cancelled, download_paused, "paused; {done} of {total} has been downloaded",
            "The same command continues from there");

}  // namespace fovea::errors
