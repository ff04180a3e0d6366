// What is said of the server: its address, its key, its clients' requests.
#pragma once

#include "engine/api/errors.h"

namespace fovea::phrases {

// Where.
FOVEA_PHRASE(server_address_place, "{host}, port {port}");
FOVEA_PHRASE(server_request_place, "the request");
FOVEA_PHRASE(server_event_place, "what the server reports about its experts");

// What a parameter must be.
FOVEA_PHRASE(server_whole_number, "a whole number from {least} to {most}");
FOVEA_PHRASE(server_some_number, "a number from {least} to {most}");
FOVEA_PHRASE(server_a_list, "a list");
FOVEA_PHRASE(server_an_object, "an object");
FOVEA_PHRASE(server_one_of, "one of {names}");
FOVEA_PHRASE(server_there, "present");
FOVEA_PHRASE(server_texts, "a string or a list of at most {most} strings");
FOVEA_PHRASE(server_texts_or_tokens, "a string, a list of tokens, or a list of at most {most} of either");
FOVEA_PHRASE(server_text_parts, "a string or a list of parts");
FOVEA_PHRASE(server_duration, "a duration such as 5m, or seconds");
FOVEA_PHRASE(server_not_empty, "a list that is not empty");
FOVEA_PHRASE(server_known_item, "the id of one of the response's items");
FOVEA_PHRASE(server_known_tool, "the name of one of the request's functions");
FOVEA_PHRASE(server_encoded_object, "a JSON object as a string");

}  // namespace fovea::phrases

namespace fovea::errors {

// http_server.cpp
FOVEA_ERROR(invalid, server_no_address, "{host} is not a network address",
            "Give one such as 127.0.0.1 or 0.0.0.0");
FOVEA_ERROR(io, server_port_in_use, "another program is listening there", "Choose another one with --port");
FOVEA_ERROR(io, server_port_of_fovea, "Fovea {version} is already listening there, as process {process}",
            "Use that one, stop it, or choose another port with --port");
FOVEA_ERROR(io, server_cannot_listen, "nothing can listen there: {said}", "Choose another --host or --port");

// access.cpp
FOVEA_ERROR(invalid, server_needs_key, "anyone who reaches this address could use the models",
            "Give a key with --api-key-file FILE, or --host 127.0.0.1");
FOVEA_ERROR(invalid, server_open_key, "other users can read the key", "Prevent that: chmod 600 {file}");
FOVEA_ERROR(invalid, server_bad_key, "a key is one line of 16 to 512 printable characters without spaces",
            "Make one: head -c 32 /dev/urandom | base64 > FILE");
FOVEA_ERROR(io, server_key_not_written, "the key cannot be written: {said}",
            "Check the permissions of the folder");

// Requests.
FOVEA_ERROR(invalid, server_no_json, "the body is not JSON, at byte {offset}",
            "Send one object, as the interface's documentation describes");
FOVEA_ERROR(invalid, server_deep_json, "the body is nested more than {limit} levels deep",
            "Send it with fewer levels");
FOVEA_ERROR(invalid, server_no_object, "the body is not an object",
            "Send one object, as the interface's documentation describes");
FOVEA_ERROR(invalid, server_wrong_parameter, "{parameter} is not {expected}", "");
FOVEA_ERROR(unsupported, server_refused_parameter,
            "{parameter} would change the answer, and Fovea cannot do that", "Leave it out");
FOVEA_ERROR(unsupported, server_unknown_parameter, "{parameter} is not known here",
            "Leave it out; docs/server.md lists what is known");
FOVEA_ERROR(unsupported, server_only_text,
            "{parameter} is of the kind {kind}, but models here read only text", "Send text");
FOVEA_ERROR(not_found, server_no_path, "there is nothing at {path}", "docs/server.md lists what there is");
FOVEA_ERROR(not_found, server_no_response, "response {id} no longer exists",
            "Send the conversation with the request");
FOVEA_ERROR(not_found, server_no_kept_response, "there is no response {id}",
            "A response can be fetched for an hour, unless it was made with \"store\": false");
FOVEA_ERROR(invalid, server_short_context,
            "num_ctx asks for a context of {wanted} tokens, and the model is loaded with {context}",
            "Ask for less, or start the server with --context {wanted}");

// What watches another Fovea.
FOVEA_ERROR(invalid, server_bad_address, "this is not a server address",
            "Give one such as http://127.0.0.1:11435, or a port");
FOVEA_ERROR(io, server_gone, "there is no answer: {said}", "Start fovea serve or fovea chat alongside it");
FOVEA_ERROR(io, server_ended, "it has ended", "Start it again");
FOVEA_ERROR(invalid, server_wants_key, "it asks for its key", "Give it with --api-key-file FILE");
FOVEA_ERROR(not_found, server_not_watched, "what answers is not a Fovea that shows its experts",
            "Check the address");
FOVEA_ERROR(io, server_watched_by_others, "as many programs as can watch it already do", "Close one of them");
FOVEA_ERROR(io, server_answers_status, "it answers with the status {status}", "Check the address");
FOVEA_ERROR(format, server_no_events, "what answers does not speak Fovea's protocol", "Check the address");
FOVEA_ERROR(format, server_bad_event, "{field} is not what it should be",
            "Use the same version of Fovea on both sides");
FOVEA_ERROR(not_found, server_nothing_runs, "no Fovea chat or server is running here",
            "Start fovea chat or fovea serve, or give an address");
FOVEA_ERROR(io, server_not_there, "there is no answer", "Start it, or check the address");
FOVEA_ERROR(not_found, server_nothing_told, "nothing has been answered there yet", "Ask it something");
FOVEA_ERROR(io, server_no_own_folder, "the folder is not your own",
            "Remove it, and it will be created again");
FOVEA_ERROR(io, server_no_door, "fovea top cannot watch here: {said}", "Check the permissions of the folder");

// Models.
FOVEA_ERROR(not_found, server_no_model, "there is no model {model}; there are {models}",
            "Choose one of them, or put the model into the model library");
FOVEA_ERROR(not_found, server_no_models, "there is no model {model}, nor any other",
            "Put one into the model library, or name one: fovea serve MODEL");
FOVEA_ERROR(memory, server_no_memory,
            "{model} needs {needed}, and only {available} is available beside {loaded}",
            "Try again when those have answered, or choose a smaller model or --context");
FOVEA_ERROR(memory, server_no_memory_beside_window,
            "{model} needs {needed}, and only {available} is available beside {open}, which is open in "
            "Fovea's window",
            "Ask for {open}, or open a smaller model or a shorter context in the window");
FOVEA_ERROR(cancelled, server_model_closed, "{model} was closed or replaced by another model",
            "Try again in a moment");
FOVEA_ERROR(memory, server_never_memory, "{model} needs {needed}, and only {available} is available",
            "Choose a smaller model or --context, or give it a --budget");

}  // namespace fovea::errors
