// What is said of connections, of the system's keyring and of access tokens.
#pragma once

#include "engine/api/errors.h"

namespace fovea::phrases {

// Where it was.
FOVEA_PHRASE(network, "network");
FOVEA_PHRASE(keyring, "keyring");
FOVEA_PHRASE(access_token, "token");

}  // namespace fovea::phrases

namespace fovea::errors {

// network.cpp: before a request is sent
FOVEA_ERROR(invalid, network_no_address, "this is not a web address", "Check HF_ENDPOINT");
FOVEA_ERROR(io, network_offline, "Fovea is offline, so nothing was asked for",
            "Switch offline mode off in the settings, or unset HF_HUB_OFFLINE");

// network.cpp: why there is no answer
FOVEA_ERROR(io, network_untrusted, "the server's certificate cannot be trusted",
            "Check this machine's date; if your company has its own certificate, name it in SSL_CERT_FILE");
FOVEA_ERROR(io, network_untrusted_because, "the server's certificate cannot be trusted ({said})",
            "Check this machine's date; if your company has its own certificate, name it in SSL_CERT_FILE");
FOVEA_ERROR(io, network_refused, "the server refuses connections", "Check the connection");
FOVEA_ERROR(io, network_ended, "the server ended the connection", "Check the connection");
FOVEA_ERROR(io, network_unknown_host, "the host is not known", "Check the connection");
FOVEA_ERROR(io, network_silent, "the server does not answer", "Check the connection");
FOVEA_ERROR(io, network_proxy, "the proxy does not pass the request on", "Check HTTPS_PROXY");
FOVEA_ERROR(io, network_not_http, "the server's answer is not HTTP", "Check the connection");
FOVEA_ERROR(io, network_failed, "the connection failed", "Check the connection");

// keyring.cpp
FOVEA_ERROR(io, keyring_denied, "access to the system's keyring was denied",
            "Unlock it and try again, or set the environment variable HF_TOKEN");
FOVEA_ERROR(io, keyring_silent, "the system's keyring does not answer",
            "Unlock it and try again, or set the environment variable HF_TOKEN");
FOVEA_ERROR(not_found, keyring_absent, "the system has no keyring service that can be used",
            "Start one (GNOME Keyring, KWallet), or set the environment variable HF_TOKEN");
FOVEA_ERROR(io, keyring_failed, "the system's keyring failed",
            "Start one (GNOME Keyring, KWallet), or set the environment variable HF_TOKEN");

// token_store.cpp
FOVEA_ERROR(invalid, token_unusable, "this is not an access token",
            "Copy it again from the hub's settings, without spaces");

}  // namespace fovea::errors
