// What is said of downloads: the hub's answers, transfers, and what of them lies on the disk.
#pragma once

#include "engine/api/errors.h"

namespace fovea::phrases {

// What to do.
FOVEA_PHRASE(check_hf_endpoint, "Check HF_ENDPOINT");
FOVEA_PHRASE(hub_accept_terms_with_token,
             "Accept its terms on the hub's page, with the account that your token belongs to");
FOVEA_PHRASE(hub_check_name, "Check the name");
FOVEA_PHRASE(download_free_space, "Free some space, then resume; nothing that was downloaded is lost");
FOVEA_PHRASE(download_set_hf_home, "Set HF_HOME to a folder that you can write to");
FOVEA_PHRASE(queue_forgotten, "Downloads of this window are forgotten when it closes");

// model_choices.cpp: what there is to choose
FOVEA_PHRASE(choice_list, "{names}");
FOVEA_PHRASE(choice_list_and_more, "{names} and {count} more");

}  // namespace fovea::phrases

namespace fovea::errors {

// hub_client.cpp: what was asked for
FOVEA_ERROR(invalid, hub_repository_name, "this is not the name of a repository",
            "Write ORG/NAME as the hub shows it");
FOVEA_ERROR(invalid, hub_revision_name, "this is not the name of a revision", "Use main");

// hub_client.cpp: the status of an answer
FOVEA_ERROR(io, hub_gated, "access to this repository must be granted first",
            "Accept its terms on the hub's page, then set HF_TOKEN or store a token in the settings");
FOVEA_ERROR(not_found, hub_no_file, "the repository has no such file", "Look at its list of files");
FOVEA_ERROR(not_found, hub_no_revision, "the repository has no such revision", "Use main");
FOVEA_ERROR(not_found, hub_no_repository, "the hub does not have it, or does not show it to you",
            "Check the name; a private one needs HF_TOKEN");
FOVEA_ERROR(
    io, hub_refuses_token, "the hub does not accept the token (status {status})",
    "Check the name; a private or gated repository needs HF_TOKEN, or a token stored in the settings");
FOVEA_ERROR(
    io, hub_wants_token, "the hub wants a token (status {status})",
    "Check the name; a private or gated repository needs HF_TOKEN, or a token stored in the settings");
FOVEA_ERROR(io, hub_too_many_requests, "the hub received too many requests (status {status})",
            "Wait a while; a token allows more");
FOVEA_ERROR(io, server_trouble, "the server has a problem (status {status})", "Try again later");
FOVEA_ERROR(io, server_refuses, "the server refuses the request (status {status})",
            "Check HF_ENDPOINT and the proxy");

// hub_request.cpp
FOVEA_ERROR(io, hub_token_out_of_reach,
            "{refusal}, and the keyring, which may have one, cannot be read: {why}",
            "Unlock it and try again, or set the environment variable HF_TOKEN");
FOVEA_ERROR(format, hub_status, "the answer has the status {status}", "Check HF_ENDPOINT");
FOVEA_ERROR(format, server_redirects_nowhere, "the server redirects to nowhere", "Try again later");

// hub_json.cpp, hub_client.cpp: answers that are none of the hub's
FOVEA_ERROR(format, hub_answer_too_long, "the answer is too long",
            "This answer is not from the hub. Check HF_ENDPOINT and the proxy");
FOVEA_ERROR(format, hub_answer_no_json, "the answer is not JSON",
            "This answer is not from the hub. Check HF_ENDPOINT and the proxy");
FOVEA_ERROR(format, hub_answer_no_list, "the answer is not a list",
            "This answer is not from the hub. Check HF_ENDPOINT and the proxy");
FOVEA_ERROR(format, hub_answer_no_commit, "the answer names no commit",
            "This answer is not from the hub. Check HF_ENDPOINT and the proxy");
FOVEA_ERROR(format, hub_answer_no_repository, "the answer names no repository",
            "This answer is not from the hub. Check HF_ENDPOINT and the proxy");
FOVEA_ERROR(format, hub_answer_no_files, "the answer is not a list of files",
            "This answer is not from the hub. Check HF_ENDPOINT and the proxy");
FOVEA_ERROR(format, hub_list_too_long, "the list of files is too long",
            "This answer is not from the hub. Check HF_ENDPOINT and the proxy");
FOVEA_ERROR(format, hub_list_endless, "the list of files does not end", "Check HF_ENDPOINT");
FOVEA_ERROR(format, hub_file_no_path, "a file has no path",
            "This answer is not from the hub. Check HF_ENDPOINT and the proxy");
FOVEA_ERROR(format, hub_file_outside, "a file's path leads out of the repository",
            "This answer is not from the hub. Check HF_ENDPOINT and the proxy");
FOVEA_ERROR(format, hub_file_no_size, "{file} has no size",
            "This answer is not from the hub. Check HF_ENDPOINT and the proxy");
FOVEA_ERROR(format, hub_file_no_git_hash, "{file} has no Git hash",
            "This answer is not from the hub. Check HF_ENDPOINT and the proxy");
FOVEA_ERROR(format, hub_file_no_sha256, "{file} has no SHA-256",
            "This answer is not from the hub. Check HF_ENDPOINT and the proxy");

// model_choices.cpp
FOVEA_ERROR(not_found, hub_no_model, "holds neither GGUF nor safetensors files",
            "Search for a repository with GGUF in its name");
FOVEA_ERROR(invalid, hub_several_versions, "holds several versions: {choices}",
            "Name one of them after the repository, for example {example}");
FOVEA_ERROR(invalid, hub_several_meant, "{wanted} matches several versions: {choices}", "Name the file");
FOVEA_ERROR(not_found, hub_no_version, "has no {wanted}; there is {choices}", "Name one of them");
FOVEA_ERROR(not_found, hub_part_missing, "a part of {name} is missing on the hub", "Choose another version");

// transfer.cpp
FOVEA_ERROR(format, hub_other_file, "the file on the hub is not the one in its list",
            "Start the download again");
FOVEA_ERROR(io, server_never_whole, "the server does not support ranges, and never sends the whole file",
            "Try again later");
FOVEA_ERROR(io, storage_refuses, "the storage refuses fresh addresses too (status {status})",
            "Check the clock of this machine");
FOVEA_ERROR(format, server_compresses, "the server sends it compressed, which was not asked for",
            "Check the proxy, and try again later");
FOVEA_ERROR(format, server_file_shorter, "the file on the server is shorter than the hub says",
            "Check the proxy, and try again later");
FOVEA_ERROR(format, server_other_answer, "the answer does not match the request (status {status})",
            "Check the proxy, and try again later");
FOVEA_ERROR(io, server_too_slow, "the server is sending almost nothing", "Check the connection");
FOVEA_ERROR(format, download_wrong_hash,
            "the downloaded file is not the one the hub lists: its hash is wrong",
            "Try again; if it happens again, the storage or the network is changing the file");

// partial_file.cpp, hub_cache.cpp
FOVEA_ERROR(io, download_disk_full, "the disk is too full: {missing} is needed, {free} is free",
            "Free some space, then resume; nothing that was downloaded is lost");
FOVEA_ERROR(io, download_not_read_back, "cannot be read back", "Check the disk");
FOVEA_ERROR(io, hub_cache_link, "cannot be made: {said}",
            "Set HF_HOME to a disk that supports symbolic links");

// queue_file.cpp, downloads.cpp
FOVEA_ERROR(format, queue_no_list, "this is not a list of downloads", "Start the downloads again");
FOVEA_ERROR(format, queue_other_version, "the list of downloads is from another version of Fovea",
            "Start the downloads again");
FOVEA_ERROR(format, queue_damaged_entry, "download number {number} is damaged", "Start the downloads again");
FOVEA_ERROR(io, queue_taken, "another Fovea is using the list of downloads",
            "Downloads of this window are forgotten when it closes");
FOVEA_ERROR(format, queue_set_aside, "{why}; it was set aside as {file}", "Start the downloads again");
FOVEA_ERROR(format, queue_stays, "{why}; it cannot be renamed: {said}", "Start the downloads again");

}  // namespace fovea::errors
