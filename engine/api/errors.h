// What many folders say: places, and what the system refuses. A folder's own sentences stand in its errors.h.
#pragma once

#include "engine/api/error.h"

namespace fovea::phrases {

// Where an error was.
FOVEA_PHRASE(file_place, "{file}");
FOVEA_PHRASE(offset_place, "{file}, offset {offset}");
FOVEA_PHRASE(line_place, "{file}, line {line}");
FOVEA_PHRASE(tensor_place, "{file}, tensor {tensor}");
FOVEA_PHRASE(option_place, "{option}");  // a flag or a setting, as the user writes it
FOVEA_PHRASE(name_place, "{name}");
FOVEA_PHRASE(device_place, "device {device}");

// What to do.
FOVEA_PHRASE(download_again, "Download the file again");
FOVEA_PHRASE(close_other_programs, "Close other programs");
FOVEA_PHRASE(check_the_disk, "Check the disk");

// How far a long operation is (progress.h): its stages and what they count.
FOVEA_PHRASE(stage_loading, "loading");
FOVEA_PHRASE(stage_prefill, "prefill");
FOVEA_PHRASE(stage_preparing, "preparing");
FOVEA_PHRASE(stage_calibrating, "calibrating");
FOVEA_PHRASE(stage_measuring, "measuring");
FOVEA_PHRASE(stage_writing, "writing to the disk");
FOVEA_PHRASE(stage_checking, "checking");
FOVEA_PHRASE(stage_building, "building");
FOVEA_PHRASE(stage_downloading, "downloading");
FOVEA_PHRASE(stage_self_test, "self-test");
FOVEA_PHRASE(stage_bench, "bench");
FOVEA_PHRASE(stage_perplexity, "perplexity");
FOVEA_PHRASE(stage_trace, "trace");
FOVEA_PHRASE(stage_replay, "replay");
FOVEA_PHRASE(stage_evaluating, "evaluating");

FOVEA_PHRASE(unit_bytes, "bytes");
FOVEA_PHRASE(unit_tokens, "tokens");
FOVEA_PHRASE(unit_versions, "versions");
FOVEA_PHRASE(unit_milliseconds, "ms");
FOVEA_PHRASE(unit_prompts, "prompts");
FOVEA_PHRASE(unit_cases, "cases");
FOVEA_PHRASE(unit_promotions, "promotions");
FOVEA_PHRASE(unit_rounds, "rounds");
FOVEA_PHRASE(unit_lengths, "lengths");
FOVEA_PHRASE(unit_passes, "passes");
FOVEA_PHRASE(unit_documents, "documents");

// Said by several folders.
FOVEA_PHRASE(a_text, "a string");
FOVEA_PHRASE(a_number, "a number");
FOVEA_PHRASE(true_or_false, "true or false");
FOVEA_PHRASE(lone_tensor_place, "tensor {tensor}");
FOVEA_PHRASE(shape_place, "--shape {shape}");
FOVEA_PHRASE(plan_place, "the plan");
FOVEA_PHRASE(choose_writable_place, "Choose a place that you can write to");
FOVEA_PHRASE(give_the_right_to_read, "Give yourself permission to read it");

}  // namespace fovea::phrases

namespace fovea::errors {

FOVEA_ERROR(io, cannot_read, "cannot be read: {said}", "Check the permissions of the file and its folder");
FOVEA_ERROR(io, cannot_write, "cannot be written: {said}",
            "Check the permissions of the file and its folder");
FOVEA_ERROR(io, cannot_make_folder, "the folder cannot be made: {said}",
            "Check the permissions of the folder above it");
FOVEA_ERROR(invalid, not_a_regular_file, "this is not a regular file", "Choose another file");
FOVEA_ERROR(memory, no_memory, "there is not enough memory", "Close other programs");
FOVEA_ERROR(cancelled, stopped_on_request, "stopped on request", "");

// Said by several folders.
FOVEA_ERROR(cancelled, check_was_stopped, "the check was stopped", "");
FOVEA_ERROR(unsupported, no_tokeniser, "the model was loaded without a tokeniser", "");

// On which the window acts.
FOVEA_ERROR(
    context_full, conversation_too_long,
    "{tokens} {tokens:token does|tokens do} not fit in a context of {context} with room for an answer",
    "Load the model with a longer context, shorten the conversation, or let the {messages} oldest "
    "{messages:message|messages} be left out");

// On which the server acts.
FOVEA_ERROR(context_full, text_beyond_context,
            "{tokens} {tokens:token does|tokens do} not fit in a context of {context}",
            "Split the text, or load the model with a longer context");

FOVEA_ERROR(unsupported, device_unusable, "{description} cannot be used: {obstacle}", "Choose --device cpu");
FOVEA_ERROR(not_found, no_gpu_here, "{obstacle}", "Choose one of: {devices}");
FOVEA_ERROR(not_found, no_such_device, "there is no such device", "Choose one of: {devices}");

}  // namespace fovea::errors
