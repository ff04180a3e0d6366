// What is said of a model's configuration and weights.
#pragma once

#include "engine/core/errors.h"

namespace fovea::phrases {

FOVEA_PHRASE(loading_place, "loading");

// keys.cpp: advice, what a value is, and what it should be.
FOVEA_PHRASE(damaged_or_unknown_model, "The file is damaged, or not a model that Fovea knows");
FOVEA_PHRASE(cannot_run_this_model, "Fovea cannot run this model");
FOVEA_PHRASE(config_found, "{value}");
FOVEA_PHRASE(config_list, "a list of {count} {count:value|values}");
FOVEA_PHRASE(config_whole_number, "a whole number");
FOVEA_PHRASE(config_text, "text");

// check.cpp: what a configuration may ask for and nothing computes yet.
FOVEA_PHRASE(latent_attention, "latent attention");
FOVEA_PHRASE(delta_heads_too_large, "gated delta with heads of more than 256 elements");
FOVEA_PHRASE(long_convolution, "a convolution over more than 8 positions");
FOVEA_PHRASE(mamba2_state, "a Mamba-2 state");
FOVEA_PHRASE(short_convolution, "a short convolution");
FOVEA_PHRASE(attention_softcap, "a cap on attention's logits");
FOVEA_PHRASE(keys_of_another_layer, "keys and values of another layer");
FOVEA_PHRASE(attention_without_positions, "attention without positions");
FOVEA_PHRASE(missing_rotary_table, "a rotary table that the model does not have");
FOVEA_PHRASE(rotation_beyond_head, "a rotation of more than a head");
FOVEA_PHRASE(feed_forward_biases, "biases in the feed-forward part");
FOVEA_PHRASE(shared_expert_biases, "biases of experts beside shared ones");
FOVEA_PHRASE(norm_of_one_branch, "a norm of one of two feed-forward parts");
FOVEA_PHRASE(sigmoid_router, "a sigmoid router");
FOVEA_PHRASE(router_choice_biases, "a router with selection biases");
FOVEA_PHRASE(router_groups, "routing by groups of experts");
FOVEA_PHRASE(other_norms, "a block without a norm before it");
FOVEA_PHRASE(no_feed_forward, "no feed-forward part");
FOVEA_PHRASE(dense_beside_shared_experts, "a dense part beside shared experts");
FOVEA_PHRASE(scale_of_block_output, "a scale of a block's output");
FOVEA_PHRASE(input_for_each_layer, "an input for each layer that is unlike the first one's");
FOVEA_PHRASE(other_number_of_experts, "a different number of experts from the layers before");
FOVEA_PHRASE(scale_of_logits, "a scale of the logits");

}  // namespace fovea::phrases

namespace fovea::errors {

// keys.cpp; Keys::wrong has the advice for these and those that follow.
FOVEA_ERROR(format, config_type, "{key} is {value}, expected {expected}", "");
FOVEA_ERROR(format, config_range, "{key} is {value}, expected {least} to {most}", "");
FOVEA_ERROR(format, config_list_range, "{key} holds a number outside {least} to {most}", "");
FOVEA_ERROR(
    format, nothing_to_share,
    "{key} is {shared}: no layer before them has keys and values of the kind that layer {layer} reads", "");
FOVEA_ERROR(unsupported, looks_ahead, "{key} is {value}: tokens would see those after them", "");
FOVEA_ERROR(format, config_missing, "{key} is missing, expected {least} to {most}", "");

// config.cpp
FOVEA_ERROR(unsupported, config_number_unsupported, "{key} is {value}, expected {expected}", "");
FOVEA_ERROR(unsupported, config_name_unsupported, "{key} is \"{value}\", expected \"{expected}\"", "");
FOVEA_ERROR(unsupported, parallel_residual, "{key} is true", "");
FOVEA_ERROR(unsupported, not_causal, "{key} is false: an encoder, not a chat model", "");
FOVEA_ERROR(format, config_no_multiple, "{key} is {value}, not a multiple of the {divisor} of {other}", "");
FOVEA_ERROR(format, odd_heads, "{key} gives heads of {size}, expected an even number", "");
FOVEA_ERROR(unsupported, other_value_heads, "{key} is {value}, expected {expected} as for the keys", "");

// families.cpp
FOVEA_ERROR(format, no_architecture, "{key} is missing, expected one of {names}", "");
FOVEA_ERROR(unsupported, unknown_architecture,
            "{key} is \"{name}\", an architecture that is not supported; these are: {supported}", "");
FOVEA_ERROR(format, more_experts_used,
            "{key} is {used}, more than the {experts} {experts:expert|experts} of {other}", "");
FOVEA_ERROR(unsupported, unknown_gating, "{key} is {value}, expected 1 (softmax)", "");
FOVEA_ERROR(unsupported, grouped_routing, "{key} is {value}: routing by groups of experts", "");
FOVEA_ERROR(format, no_layer_numbers, "{key} is not a list of layer numbers", "");
FOVEA_ERROR(format, no_such_layer, "{key} holds {entry}, expected layers 0 to {last}", "");
FOVEA_ERROR(format, config_list_length, "{key} has {count} {count:entry|entries}, expected {expected}", "");
FOVEA_ERROR(unsupported, layer_type_unsupported, "{key} holds {entry} at layer {layer}", "");
FOVEA_ERROR(format, window_missing, "{key} is missing, expected a number of tokens or null", "");
FOVEA_ERROR(unsupported, windows_not_listed, "{key} is true, but no layer_types say which layers it means",
            "");
FOVEA_ERROR(unsupported, mlp_biases, "{key} is true: biases in the feed-forward layers", "");

// rope.cpp
FOVEA_ERROR(unsupported, unknown_rope, "{key} is \"{name}\", a rotary scaling that is not supported", "");
FOVEA_ERROR(format, rope_frequencies, "{key} is {high}, expected more than the {low} of low_freq_factor", "");
FOVEA_ERROR(format, odd_rotation, "{key} rotates {rotary} elements of a head, expected an even number", "");
FOVEA_ERROR(unsupported, multimodal_rotation, "{key} is given: multimodal rotation", "");
FOVEA_ERROR(unsupported, rope_of_its_own, "{key} has rotary parameters of its own, which is not supported",
            "");
FOVEA_ERROR(format, rope_by_kind_missing,
            "{key} is not an object with rotary parameters for each kind of layer", "");
FOVEA_ERROR(format, rope_of_kind_missing, "{key} is missing, expected its rotary parameters", "");
FOVEA_ERROR(unsupported, partial_rotation, "{key} is {value}, expected the heads' {head_dim}", "");
FOVEA_ERROR(format, rope_tensor, "the tensor is {type} [{shape}], expected F32 [{size}]",
            "The file is damaged, or made by a faulty program: download it again");
FOVEA_ERROR(format, rope_factor, "a factor is not a positive number",
            "The file is damaged, or made by a faulty program: download it again");

// check.cpp
FOVEA_ERROR(unsupported, model_not_run, "the model has {what}, which Fovea cannot run yet",
            "Fovea cannot run this model");
FOVEA_ERROR(unsupported, layer_not_run, "layer {layer} has {what}, which Fovea cannot run yet",
            "Fovea cannot run this model");

// plan.cpp
FOVEA_ERROR(format, tensor_missing, "the tensor is missing, expected [{shape}]",
            "The file is not complete, or its configuration is another model's");
FOVEA_ERROR(format, tensor_shape, "the shape is [{found}], expected [{expected}]",
            "The file's configuration does not belong to its weights");
FOVEA_ERROR(unsupported, vector_type, "the type is {type}, expected F32, F16 or BF16",
            "Choose another version of this model");
FOVEA_ERROR(unsupported, tensor_without_place,
            "the tensor [{shape}] has no place in a {architecture} model with this configuration",
            "Fovea cannot run this model");

// model.cpp, host_weights.cpp, transfer.cpp
FOVEA_ERROR(memory, no_memory_for_weights, "the weights need {mebibytes} MiB, more than there is",
            "Close other programs, or choose a smaller model");
FOVEA_ERROR(memory, no_memory_for_host_weights,
            "the weights that the processor computes with need {mebibytes} MiB of main memory, more than "
            "there is",
            "Leave less to the processor, close other programs, or choose a smaller model");
FOVEA_ERROR(memory, no_memory_to_upload, "{size:exact} bytes of pinned memory are not available",
            "Close other programs");
FOVEA_ERROR(cancelled, loading_cancelled, "cancelled", "");

}  // namespace fovea::errors
