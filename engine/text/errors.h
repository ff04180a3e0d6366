// What is said of tokenisers, of regular expressions, and of what chat templates are rendered with.
#pragma once

#include "engine/api/errors.h"

namespace fovea::phrases {

// Parts of tokenizer.json and keys of a GGUF file
FOVEA_PHRASE(tokenizer_part, "{file}, \"{part}\"");
FOVEA_PHRASE(tokenizer_key, "{file}, {key}");

// Chat templates and what they are rendered with
FOVEA_PHRASE(chat_template, "chat template");
FOVEA_PHRASE(model_chat_template, "{model}, chat template");
FOVEA_PHRASE(template_variables, "template variables");
FOVEA_PHRASE(given_messages, "messages");
FOVEA_PHRASE(given_tools, "tools");
FOVEA_PHRASE(given_variables, "variables");

}  // namespace fovea::phrases

namespace fovea::errors {

// tokenizer.cpp
FOVEA_ERROR(not_found, tokenizer_missing, "the file is missing or empty",
            "Download it into the model's folder");

// json_fields.h
FOVEA_ERROR(format, tokenizer_not_string, "\"{key}\" is not a string", "");
FOVEA_ERROR(format, tokenizer_not_flag, "\"{key}\" is not true or false", "");
FOVEA_ERROR(format, tokenizer_not_count, "\"{key}\" is not a number from 0 to {limit}", "");
FOVEA_ERROR(format, tokenizer_not_object, "not an object", "");

// json_steps.cpp: any step
FOVEA_ERROR(unsupported, tokenizer_unknown_step, "\"{step}\" is not supported", "");
FOVEA_ERROR(unsupported, tokenizer_nested_sequence, "a Sequence inside a Sequence", "");
FOVEA_ERROR(format, tokenizer_no_members, "\"{key}\" is not a list", "");
FOVEA_ERROR(format, tokenizer_empty_field, "\"{key}\" is empty", "");
FOVEA_ERROR(format, tokenizer_pattern, "\"pattern\" is neither a String nor a Regex", "");
FOVEA_ERROR(unsupported, tokenizer_behavior, "the behavior \"{behavior}\" is not known", "");
FOVEA_ERROR(unsupported, tokenizer_scheme, "the prepend_scheme \"{scheme}\" is not known", "");
FOVEA_ERROR(format, tokenizer_charsmap, "\"precompiled_charsmap\" is not base 64", "");
FOVEA_ERROR(format, tokenizer_length, "\"length\" is 0", "");
FOVEA_ERROR(unsupported, tokenizer_behind_bytes, "\"{step}\" after \"ByteLevel\"", "");

// json_steps.cpp: decoders
FOVEA_ERROR(unsupported, tokenizer_strip_at_end, "Strip at the end of the whole text", "");
FOVEA_ERROR(unsupported, tokenizer_replace_regex, "Replace by a regular expression", "");
FOVEA_ERROR(unsupported, tokenizer_replace_fused, "Replace after Fuse", "");
FOVEA_ERROR(unsupported, tokenizer_beside_bytes, "\"{step}\" beside \"ByteLevel\"", "");
FOVEA_ERROR(unsupported, tokenizer_bytes_beside, "\"ByteLevel\" beside other steps", "");

// json_steps.cpp: post-processors
FOVEA_ERROR(unsupported, tokenizer_text_twice, "a template that repeats the text", "");
FOVEA_ERROR(format, tokenizer_text_left_out, "the template leaves out the text", "");
FOVEA_ERROR(format, tokenizer_template_item,
            "\"single\" contains something that is neither a token nor a sequence", "");
FOVEA_ERROR(format, tokenizer_template_token, "the token \"{token}\" is not among \"special_tokens\"", "");
FOVEA_ERROR(format, tokenizer_template_id, "the token \"{token}\" has an id outside the vocabulary", "");
FOVEA_ERROR(format, tokenizer_pair, "\"{key}\" is not a token of the vocabulary", "");

// tokenizer_json.cpp
FOVEA_ERROR(format, tokenizer_not_json, "this is not a JSON object", "Download the file again");
FOVEA_ERROR(format, tokenizer_no_model, "\"model\" is missing", "");
FOVEA_ERROR(unsupported, tokenizer_unknown_model, "the model \"{model}\" is not supported", "");
FOVEA_ERROR(unsupported, tokenizer_dropout, "dropout makes ids random and is not supported", "");
FOVEA_ERROR(format, tokenizer_unk_token, "the unk_token \"{token}\" is not in the vocabulary", "");
FOVEA_ERROR(format, tokenizer_id, "the id of \"{token}\" is not a number below {limit}", "");
FOVEA_ERROR(format, tokenizer_shared_id, "\"{token}\" has the id {id}, which another token has", "");
FOVEA_ERROR(format, tokenizer_no_pieces, "not a list of pieces", "");
FOVEA_ERROR(format, tokenizer_piece, "piece {piece} is not a text and a score", "");
FOVEA_ERROR(format, tokenizer_not_list, "not a list", "");
FOVEA_ERROR(format, tokenizer_not_objects, "not a list of objects", "");
FOVEA_ERROR(format, tokenizer_no_id, "a token has no id", "");
FOVEA_ERROR(format, tokenizer_id_key, "the key \"{key}\" is not a token id", "");
FOVEA_ERROR(format, tokenizer_added_id, "the id of \"{token}\" is not below {limit}", "");
FOVEA_ERROR(unsupported, tokenizer_long_token, "token {token} is longer than {limit:exact} bytes", "");

// tokenizer_json.cpp, tokenizer_gguf.cpp
FOVEA_ERROR(format, tokenizer_merge, "merge {rank} is not a pair of tokens", "");
FOVEA_ERROR(format, tokenizer_merge_of_strangers,
            "merge {rank} (\"{left}\", \"{right}\") has a part or a result that is not in the vocabulary",
            "");

// tokenizer_gguf.cpp
FOVEA_ERROR(format, tokenizer_key_no_string, "this key is missing or is not a string", "");
FOVEA_ERROR(format, tokenizer_key_no_texts, "this key is missing or is not a list of strings", "");
FOVEA_ERROR(format, tokenizer_key_no_bytes, "this is not a list of bytes", "");
FOVEA_ERROR(format, tokenizer_key_no_token, "this key is missing or outside the vocabulary", "");
FOVEA_ERROR(format, tokenizer_many_tokens, "there are more than {limit} tokens", "");
FOVEA_ERROR(format, tokenizer_types, "{types} {types:type|types} for {tokens} {tokens:token|tokens}", "");
FOVEA_ERROR(format, tokenizer_scores, "{scores} {scores:score|scores} for {tokens} {tokens:token|tokens}",
            "");
FOVEA_ERROR(format, tokenizer_score, "score {token} is not a number", "");
FOVEA_ERROR(unsupported, tokenizer_unknown, "the tokeniser \"{tokenizer}\" is not supported", "");
FOVEA_ERROR(unsupported, tokenizer_pre, "the pre-tokeniser \"{name}\" is not known", "");

// character_map.cpp
FOVEA_ERROR(format, character_map_size,
            "the trie of the character map has {trie:exact} bytes, the map {map:exact}", "");
FOVEA_ERROR(format, character_map_utf8, "the replacements of the character map are not valid UTF-8", "");

// regex.cpp
FOVEA_ERROR(unsupported, regex_class, "the regular expression \"{expression}\" has a class inside a class",
            "");
FOVEA_ERROR(unsupported, regex_not_understood,
            "the regular expression \"{expression}\" is not understood at byte {offset} ({said})", "");

// text_model.cpp
FOVEA_ERROR(not_found, no_chat_template, "the model has none", "Give one, or a raw prompt");
FOVEA_ERROR(invalid, given_no_json, "this is not valid JSON", "Check it with a JSON tool");
FOVEA_ERROR(invalid, given_messages_no_list, "this is not a JSON list",
            "Give [{{\"role\": …, \"content\": …}, …]");
FOVEA_ERROR(invalid, given_tools_no_list, "this is not a JSON list", "Give a list of tool descriptions");
FOVEA_ERROR(invalid, given_variables_no_object, "this is not a JSON object", "Give {{\"name\": value, …}");

// text_model.cpp, chat_template.cpp
FOVEA_ERROR(invalid, given_nested, "lists and objects are nested more than {limit} levels deep",
            "Correct the messages, tools and variables");
FOVEA_ERROR(invalid, given_no_utf8, "a string is not UTF-8 text",
            "Correct the messages, tools and variables");
FOVEA_ERROR(invalid, given_no_value, "a value cannot be represented in JSON",
            "Correct the messages, tools and variables");
FOVEA_ERROR(invalid, given_no_object, "they are not an object", "Correct the messages, tools and variables");
FOVEA_ERROR(invalid, given_no_time, "{variable} is not a time in seconds",
            "Correct the messages, tools and variables");

}  // namespace fovea::errors
