// What is said of a model's files and of expert stores. What a file holds stands in quotes (describe.h).
#pragma once

#include "engine/core/errors.h"

namespace fovea::phrases {

// Where, beside a file.
FOVEA_PHRASE(new_key_place, "key {key}");
FOVEA_PHRASE(store_place, "store");
FOVEA_PHRASE(store_read_place, "a read");
FOVEA_PHRASE(synthetic_weights_place, "synthetic weights");

// What to do.
FOVEA_PHRASE(raise_address_space, "Raise the limit on address space (ulimit -v)");
FOVEA_PHRASE(name_a_model, "Name a model file or folder");
FOVEA_PHRASE(make_store, "Make it: fovea prepare MODEL");
FOVEA_PHRASE(make_store_again, "Make it again: fovea prepare MODEL --rebuild");
FOVEA_PHRASE(free_space_and_start_again,
             "Free some space on the disk and start again: what is written stays");
FOVEA_PHRASE(check_folder_is_writable, "Check that the folder can be written to");

// gguf_reader.cpp: what is being read.
FOVEA_PHRASE(gguf_version, "the version");
FOVEA_PHRASE(gguf_tensor_count, "the tensor count");
FOVEA_PHRASE(gguf_key_count, "the number of metadata keys");
FOVEA_PHRASE(gguf_key, "a metadata key");
FOVEA_PHRASE(gguf_value, "{key}");
FOVEA_PHRASE(gguf_type_of, "the type of {key}");
FOVEA_PHRASE(gguf_type_of_elements, "the type of {key}'s elements");
FOVEA_PHRASE(gguf_length_of, "the length of {key}");
FOVEA_PHRASE(gguf_tensor_name, "a tensor's name");
FOVEA_PHRASE(gguf_tensor_rank, "the rank of tensor {tensor}");
FOVEA_PHRASE(gguf_tensor_shape, "the shape of tensor {tensor}");
FOVEA_PHRASE(gguf_tensor_type, "the type of tensor {tensor}");
FOVEA_PHRASE(gguf_tensor_offset, "the offset of tensor {tensor}");

// packed_checks.cpp: the shapes that are expected.
FOVEA_PHRASE(packed_two_dimensions, "two dimensions above 0");
FOVEA_PHRASE(packed_one_dimension, "one dimension");
FOVEA_PHRASE(packed_groups_as_in, "{count} {count:group|groups} as in {tensor}");
FOVEA_PHRASE(packed_outputs_as_in, "{count} {count:output|outputs} as in {tensor}");
FOVEA_PHRASE(packed_multiple_of_8_outputs, "a multiple of 8 outputs");
FOVEA_PHRASE(packed_inputs_by_words, "[inputs, {words}]: eight outputs in a word");
FOVEA_PHRASE(packed_groups_by_words, "[groups, {words}]: eight outputs in a word");
FOVEA_PHRASE(packed_words_of_2_to_8_bits, "words for {count} {count:code|codes} of 2 to 8 bits");
FOVEA_PHRASE(packed_words_of_bits, "words for {count} {count:code|codes} of {bits} bits");
FOVEA_PHRASE(packed_groups_of, "{groups} {groups:group|groups} of {size} for {inputs} {inputs:input|inputs}");

// packed_folder.cpp: what became of packed layers.
FOVEA_PHRASE(conversion, "{method}: {outcomes}");
FOVEA_PHRASE(conversion_outcome, "{count} {count:matrix|matrices} of {bits} bits as {type} ({how})");
FOVEA_PHRASE(rounding_none, "exactly");
FOVEA_PHRASE(rounding_scales, "scales rounded to F16");
FOVEA_PHRASE(rounding_permuted, "rounded, since groups are in the order of activations");
FOVEA_PHRASE(rounding_groups, "rounded, since groups are not a multiple of 32 inputs");
FOVEA_PHRASE(rounding_columns, "rounded, since the inputs are not a multiple of 32");
FOVEA_PHRASE(rounding_zero_points, "rounded, since codes and zero points need 9 bits");

// quantization.cpp: what is expected.
FOVEA_PHRASE(quantization_range, "{least} to {most}");
FOVEA_PHRASE(quantization_methods, "gptq, awq and auto-round");
FOVEA_PHRASE(quantization_gptq_formats, "gptq and gptq_v2");
FOVEA_PHRASE(quantization_value, "{value}");
FOVEA_PHRASE(quantization_autoawq, "AutoAWQ's gemm format");
FOVEA_PHRASE(quantization_bits_of_awq, "4 with awq");
FOVEA_PHRASE(quantization_16_and_above, "16 and above");
FOVEA_PHRASE(quantization_packings, "auto_round, auto_round:auto_gptq and auto_round:auto_awq");

// store_format.cpp: what a header's number is …
FOVEA_PHRASE(store_unit_count, "the number of units");
FOVEA_PHRASE(store_tier_count, "the number of tiers");
FOVEA_PHRASE(store_description_length, "the description's length");
FOVEA_PHRASE(store_index_offset, "the index's offset");
FOVEA_PHRASE(store_first_extent_offset, "the first extent's offset");
FOVEA_PHRASE(store_file_size, "the file's size");
// … and what a field of the description should be.
FOVEA_PHRASE(store_hexadecimal, "16 hexadecimal digits");
FOVEA_PHRASE(store_short_text, "a short string");
FOVEA_PHRASE(store_number_up_to, "a number up to {most}");
FOVEA_PHRASE(store_short_texts, "a list of short strings");
FOVEA_PHRASE(store_list_without_repetitions, "a list without repetitions");

// joined_experts.cpp: what a shape should be.
FOVEA_PHRASE(joined_floats, "[experts, inputs, outputs], with an even number of outputs in gate_up_proj");
FOVEA_PHRASE(joined_biases, "[experts, outputs], with an even number of outputs in gate_up_proj");
FOVEA_PHRASE(joined_blocks, "[experts, outputs, blocks, 16], with an even number of outputs in gate_up_proj");
FOVEA_PHRASE(joined_scales, "the shape of the blocks without its last dimension");
// joined_projections.cpp
FOVEA_PHRASE(joined_qkvz, "[rows, inputs] with the rows of the heads that config.json gives");

}  // namespace fovea::phrases

namespace fovea::errors {

// checkpoint.cpp
FOVEA_ERROR(format, tensor_in_two_files, "tensor {tensor} is also in {file}, expected it once",
            "Download all parts again from one place");
FOVEA_ERROR(memory, no_memory_to_open, "there is not enough memory to open the model",
            "Close other programs");

// folder_checkpoint.cpp
FOVEA_ERROR(format, json_too_long, "the file has {size:exact} bytes, expected at most {limit:exact}", "");
FOVEA_ERROR(format, no_json_object, "the file holds no JSON object", "");
FOVEA_ERROR(format, no_chat_template_named_default,
            "chat_template is neither a string nor a list that contains one named \"default\"",
            "Put the template into chat_template.jinja");
FOVEA_ERROR(format, no_weight_map, "the index has no weight_map", "");
FOVEA_ERROR(format, shard_outside_folder,
            "tensor {tensor} is in {shard}, expected the name of a file in this folder", "");
FOVEA_ERROR(not_found, shard_missing,
            "this file of the model is missing, {count} {count:tensor is|tensors are} in it",
            "Download it into the same folder");
FOVEA_ERROR(format, tensor_not_in_index,
            "the file holds tensor {tensor}, which the index does not place in it", "");
FOVEA_ERROR(format, tensor_not_in_shard, "the file lacks tensor {tensor}, which the index places in it", "");
FOVEA_ERROR(not_found, no_model_in_folder, "the folder has neither config.json nor tokenizer.json",
            "Name a model folder as Hugging Face publishes it, or a .gguf file");

// gguf_checkpoint.cpp
FOVEA_ERROR(
    format, gguf_part_count,
    "the file says that its model has {count} {count:part|parts} (split.count), its name says {named}",
    "Give the parts the names they were published with");
FOVEA_ERROR(format, gguf_part_number,
            "the file says that it is part {number} counted from 0 (split.no), its name says {named}",
            "Give the parts the names they were published with");
FOVEA_ERROR(invalid, gguf_part_name,
            "the file is one of a model's {count} parts, but its name does not end in -0000N-of-0000M.gguf",
            "Give the parts the names they were published with");
FOVEA_ERROR(not_found, gguf_part_missing, "part {number} of {count} of the model is missing",
            "Download it into the same folder");
FOVEA_ERROR(format, gguf_parts_tensor_count,
            "the parts hold {count} {count:tensor|tensors}, split.tensors.count says {expected}",
            "Download all parts again from one place");

// gguf_reader.cpp
FOVEA_ERROR(format, gguf_cut_off,
            "the file ends after {left} more {left:byte|bytes} where {subject} needs {needed}", "");
FOVEA_ERROR(format, gguf_length, "the length of {subject} is {length}, at most {most} is possible here", "");
FOVEA_ERROR(unsupported, before_gguf, "this is a GGML file from before GGUF", "Get the model as GGUF");
FOVEA_ERROR(format, gguf_magic, "the file begins with {start}, a GGUF file begins with \"GGUF\"",
            "Name a .gguf file or a folder with config.json");
FOVEA_ERROR(unsupported, gguf_big_endian, "the file is big-endian, Fovea reads little-endian files",
            "Get the model's little-endian file");
FOVEA_ERROR(unsupported, gguf_other_version, "the GGUF version is {version}, Fovea reads 2 and 3",
            "Convert the model again with current tools");
FOVEA_ERROR(format, gguf_too_many, "{subject} is {count}, the file can hold at most {limit}", "");
FOVEA_ERROR(format, gguf_value_type, "{subject} is {type}, GGUF knows 0 to 12", "");
FOVEA_ERROR(format, gguf_key_empty, "a metadata key is empty", "");
FOVEA_ERROR(format, gguf_key_twice, "the metadata key {key} occurs twice, expected once", "");
FOVEA_ERROR(format, gguf_type_without_value, "the type of {key} has no value", "");
FOVEA_ERROR(unsupported, gguf_array_of_arrays,
            "the metadata key {key} is an array of arrays, which Fovea does not read",
            "Convert the model again with current tools");
FOVEA_ERROR(format, gguf_array_length,
            "the array {key} has {count} {count:element|elements}, at most {most} are possible here", "");
FOVEA_ERROR(format, gguf_truth_value, "{key} holds the truth value {value}, expected 0 or 1", "");
FOVEA_ERROR(format, gguf_alignment,
            "general.alignment is {value}, expected a power of two from 8 to {largest}", "");
FOVEA_ERROR(format, gguf_alignment_no_number,
            "general.alignment is not an unsigned number, expected a power of two from 8 to {largest}", "");
FOVEA_ERROR(format, gguf_undefined_type,
            "tensor {tensor} has the type number {type}, which GGUF does not define", "");
FOVEA_ERROR(unsupported, gguf_foreign_type,
            "tensor {tensor} has type {type} ({number}), which Fovea does not read",
            "Use a file of the model in F32, F16, BF16, Q4_0 to Q8_0, Q2_K to Q6_K, IQ4_NL, IQ4_XS or MXFP4");
FOVEA_ERROR(format, gguf_row_length,
            "tensor {tensor} has rows of {columns} {columns:element|elements}, {type} needs a multiple of "
            "{block}",
            "");
FOVEA_ERROR(format, gguf_shape_too_large,
            "tensor {tensor} has the shape [{shape}], which takes more than the file's {size:exact} bytes",
            "");
FOVEA_ERROR(format, gguf_tensor_name_empty, "a tensor's name is empty", "");
FOVEA_ERROR(format, gguf_tensor_twice, "tensor {tensor} occurs twice, expected once", "");
FOVEA_ERROR(format, gguf_dimensions,
            "tensor {tensor} has {count} {count:dimension|dimensions}, expected 1 to 4", "");
FOVEA_ERROR(format, gguf_dimension, "tensor {tensor} has a dimension of {size}, expected 1 or more", "");
FOVEA_ERROR(format, gguf_tensor_alignment,
            "tensor {tensor} begins at {offset} of the data, expected a multiple of {alignment}", "");
FOVEA_ERROR(format, gguf_tensor_outside,
            "tensor {tensor} takes {size:exact} bytes at {offset} of the data, the file holds {room:exact}",
            "");
FOVEA_ERROR(format, gguf_tensors_overlap,
            "tensor {tensor} begins at file offset {offset}, inside tensor {other} which ends at {end}", "");

// gguf_writer.cpp
FOVEA_ERROR(invalid, shape_not_storable, "its shape cannot be stored as {type}", "");
FOVEA_ERROR(invalid, value_not_storable, "its value cannot be stored as {type}", "");
FOVEA_ERROR(invalid, alignment_not_writable, "general.alignment is not a power of two of at least 8", "");
FOVEA_ERROR(invalid, more_bytes_than_announced, "more bytes were given than the tensors announced take", "");
FOVEA_ERROR(invalid, fewer_bytes_than_announced,
            "{written:exact} bytes were written, expected {expected:exact}", "");

// folder_checkpoint.cpp, joined_experts.cpp
FOVEA_ERROR(unsupported, mxfp4_of_another_model,
            "quantization_config's quant_method is \"mxfp4\", which Fovea reads only for gpt-oss",
            "Use the model's unquantised folder, or a GGUF file of it");
FOVEA_ERROR(format, joined_shape, "tensor {tensor} has the shape [{shape}], expected {expected}", "");

// json_file.cpp
FOVEA_ERROR(format, json_key_twice, "the key {key} occurs twice, expected once", "");
FOVEA_ERROR(format, json_not_valid, "this is not valid JSON near {token}", "");
FOVEA_ERROR(format, json_too_deep, "the JSON is nested more than {depth} levels deep", "");

// mapped_file.cpp
FOVEA_ERROR(not_found, model_file_missing, "cannot open the file: {said}", "Check the path");
FOVEA_ERROR(io, model_file_not_opened, "cannot open the file: {said}", "Check the disk");
FOVEA_ERROR(io, model_file_size_unknown, "cannot read the file's size: {said}", "Check the disk");
FOVEA_ERROR(io, model_file_not_mapped, "cannot map the file into memory: {said}", "Check the disk");

// packed_checks.cpp
FOVEA_ERROR(format, packed_shape, "tensor {tensor} has the shape [{shape}], expected {expected}", "");
FOVEA_ERROR(format, packed_groups_unexpected, "tensor {tensor} has no place in a folder of this format", "");
FOVEA_ERROR(format, packed_group_number,
            "tensor {tensor} places input {input} in group {group}, there are {count}", "");
FOVEA_ERROR(format, packed_zero_point_less_one,
            "tensor {tensor} has the zero point {found}, expected {expected} everywhere: the configuration "
            "says \"sym\": true, and the format \"zero points less one\"",
            "");
FOVEA_ERROR(format, packed_zero_point,
            "tensor {tensor} has the zero point {found}, expected {expected} everywhere: the configuration "
            "says \"sym\": true, and the format \"zero points as they are\"",
            "");
FOVEA_ERROR(format, packed_scale_too_large,
            "tensor {tensor} has a scale of {scale}, more than F16 weights can have", "");
FOVEA_ERROR(format, packed_tensor_missing, "tensor {tensor} is missing beside {other}", "");

// packed_folder.cpp
FOVEA_ERROR(format, packed_tensor_twice, "tensor {tensor} is also in {file}", "");

// quantization.cpp
FOVEA_ERROR(unsupported, quantization_not_read,
            "quantization_config's {key} is {value}, Fovea reads {expected}",
            "Use the model's unquantised folder, or a GGUF file of it");
FOVEA_ERROR(format, quantization_wrong, "quantization_config's {key} is {value}, expected {expected}",
            "The file is damaged or cut off: download it again");
FOVEA_ERROR(format, quantization_no_object, "quantization_config is not a JSON object",
            "The file is damaged or cut off: download it again");

// safetensors_reader.cpp
FOVEA_ERROR(format, safetensors_too_short,
            "the file has {size:exact} bytes, a safetensors file begins with 8 bytes of header length", "");
FOVEA_ERROR(format, safetensors_header_length, "the header length is {length}, expected 2 to {most}", "");
FOVEA_ERROR(format, safetensors_header_start, "the header begins with {start}, expected {{", "");
FOVEA_ERROR(format, safetensors_no_dtype, "tensor {tensor} has no dtype", "");
FOVEA_ERROR(unsupported, safetensors_foreign_dtype,
            "tensor {tensor} has type {type}, which Fovea does not read",
            "Use the model's unquantised folder, or a GGUF file of it");
FOVEA_ERROR(unsupported, safetensors_no_weight_type,
            "tensor {tensor} has type {type}, Fovea reads F32, F16 and BF16 weights from safetensors",
            "Use the model's unquantised folder, or a GGUF file of it");
FOVEA_ERROR(format, safetensors_no_shape, "tensor {tensor} has no shape", "");
FOVEA_ERROR(format, safetensors_dimensions, "tensor {tensor} has {count} dimensions, expected at most {most}",
            "");
FOVEA_ERROR(format, safetensors_shape, "tensor {tensor} has the shape {shape}, expected whole numbers", "");
FOVEA_ERROR(format, safetensors_shape_too_large,
            "tensor {tensor} has the shape {shape}, which takes more than the file's {size:exact} bytes", "");
FOVEA_ERROR(format, safetensors_no_description, "tensor {tensor} has no description", "");
FOVEA_ERROR(format, safetensors_no_offsets, "tensor {tensor} has no data_offsets of two whole numbers", "");
FOVEA_ERROR(format, safetensors_offsets,
            "tensor {tensor} has the data_offsets {offsets}, the file holds {size:exact} bytes of data", "");
FOVEA_ERROR(format, safetensors_size,
            "tensor {tensor} has {size:exact} bytes of data, its shape and type need {count} times {width}",
            "");
FOVEA_ERROR(format, safetensors_hole,
            "tensor {tensor} begins at byte {offset} of the data, expected {expected}, where the one before "
            "it ends",
            "");
FOVEA_ERROR(format, safetensors_tail,
            "the tensors end here, the file goes on for {count} more {count:byte|bytes}", "");

// store.cpp
FOVEA_ERROR(io, store_not_opened, "cannot open the store: {said}", "Check the file's permissions");
FOVEA_ERROR(not_found, store_not_finished, "the store is not finished", "Continue it: fovea prepare MODEL");
FOVEA_ERROR(not_found, no_such_store, "there is no such store", "Make it: fovea prepare MODEL");
FOVEA_ERROR(io, store_size_unknown, "cannot read the size: {said}", "Check the disk");
FOVEA_ERROR(cancelled, store_read_given_up, "was given up", "");
FOVEA_ERROR(format, store_unit_checksum, "the checksum of unit {unit} at tier {tier} is wrong",
            "Make the store again: fovea prepare MODEL --rebuild");

// store_format.cpp
FOVEA_ERROR(format, store_field, "\"{key}\" in the description is not {expected}", "");
FOVEA_ERROR(format, store_index_place, "the index begins at {offset}, expected {expected}", "");
FOVEA_ERROR(format, store_extents_place, "the extents begin at {offset}, expected {expected}", "");
FOVEA_ERROR(format, store_stated_size,
            "the file is said to have {size:exact} bytes, which its counts do not allow", "");
FOVEA_ERROR(format, store_too_short,
            "the file ends here: it has {size:exact} bytes, expected {expected:exact}", "");
FOVEA_ERROR(format, store_too_long,
            "the store should end here: it has {size:exact} bytes, expected {expected:exact}", "");
FOVEA_ERROR(invalid, store_size_count,
            "{count} {count:size is|sizes are} given for {units} {units:unit|units} and {tiers} "
            "{tiers:tier|tiers}",
            "");
FOVEA_ERROR(invalid, store_extent_alignment, "an extent's size is not a multiple of 4096", "");
FOVEA_ERROR(invalid, store_extents_too_large, "the extents' sizes are too large", "");
FOVEA_ERROR(format, no_expert_store, "this is not an expert store", "Choose another file");
FOVEA_ERROR(unsupported, store_version,
            "the store has version {version}, this Fovea reads version {expected}", "");
FOVEA_ERROR(format, store_ends_in_header, "the file ends in the header", "");
FOVEA_ERROR(format, store_ends_in_description, "the file ends in the description", "");
FOVEA_ERROR(format, store_ends_in_index, "the file ends in the index", "");
FOVEA_ERROR(format, store_header_checksum, "the header's checksum is wrong", "");
FOVEA_ERROR(format, store_description_checksum, "the description's checksum is wrong", "");
FOVEA_ERROR(format, store_sizes_checksum, "the checksum of the extents' sizes is wrong", "");
FOVEA_ERROR(format, store_entry_size, "an index entry does not have 48 bytes", "");
FOVEA_ERROR(format, store_number, "{subject} is {number}, it must be 1 … {most}", "");
FOVEA_ERROR(format, store_no_description, "the description is not a JSON object", "");
FOVEA_ERROR(format, store_counts, "the header's counts are not those of the description", "");
FOVEA_ERROR(format, store_entry_damaged, "the index entry of unit {unit} is damaged or was never written",
            "");
FOVEA_ERROR(format, store_extent_outside, "the extent has {size:exact} bytes, which does not fit the file",
            "");
FOVEA_ERROR(format, store_extent_error, "an error value of the extent is not a possible number", "");
FOVEA_ERROR(format, store_extents_hole, "the extents do not fill the file", "");
FOVEA_ERROR(invalid, store_of_another_model,
            "the store was made for the model with the fingerprint {found}, expected {expected}", "");
FOVEA_ERROR(invalid, store_of_another_packing,
            "the store was made for the packing {found}, expected {expected}", "");
FOVEA_ERROR(invalid, store_of_another_scope,
            "the store was made for units of the scope {found}, expected {expected}", "");
FOVEA_ERROR(invalid, store_of_other_tiers, "the store was made for the tiers {found}, expected {expected}",
            "");
FOVEA_ERROR(invalid, store_of_another_quantiser,
            "the store was made for the quantiser's version {found}, expected {expected}", "");
FOVEA_ERROR(invalid, store_of_other_units, "the store was made for {found} units, expected {expected}", "");

// store_writer.cpp
FOVEA_ERROR(io, store_room, "the store needs {needed:exact} bytes more on this disk, {free:exact} are free",
            "Free some space, or name another place: with --out to prepare it, with --store to use it");
FOVEA_ERROR(io, store_room_unknown, "cannot find out how much space the disk has: {said}", "");
FOVEA_ERROR(io, store_size_not_set, "cannot set the file's size: {said}", "");
FOVEA_ERROR(io, store_not_emptied, "cannot empty the file: {said}", "");
FOVEA_ERROR(io, store_not_written, "cannot write to the file: {said}", "");
FOVEA_ERROR(io, store_not_created, "cannot create the file: {said}", "");
FOVEA_ERROR(io, store_not_synced, "cannot flush the file to the disk: {said}", "");
FOVEA_ERROR(io, store_not_named, "cannot name the finished store: {said}", "");
FOVEA_ERROR(invalid, not_to_be_emptied, "this is not an expert store", "Choose another file");
FOVEA_ERROR(io, store_folder_not_made, "cannot make the folder: {said}", "");
FOVEA_ERROR(io, store_in_preparation, "another program is preparing this store now", "Wait until it is done");
FOVEA_ERROR(format, store_extent_checksum, "the extent's checksum is wrong", "");
FOVEA_ERROR(invalid, store_version_size,
            "a version has {size:exact} bytes, but {announced:exact} were announced", "");
FOVEA_ERROR(internal, store_extents_missing, "{count} {count:extent is|extents are} not written", "");

// synthetic.cpp
FOVEA_ERROR(memory, no_memory_for_synthetic, "the system has no memory for them", "Close other programs");
FOVEA_ERROR(memory, no_memory_to_make_weights, "there is not enough memory to make the weights",
            "Close other programs");
FOVEA_ERROR(
    invalid, synthetic_columns,
    "{columns} {columns:column is|columns are} not a multiple of the {block} weights of a block of {type}",
    "Choose another type, or another shape");

}  // namespace fovea::errors
