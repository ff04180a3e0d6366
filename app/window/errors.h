// What the window says of what it was given.
#pragma once

#include "engine/api/errors.h"

namespace fovea::errors {

FOVEA_ERROR(invalid, no_model_open, "no model is open", "Open a model first");

// server_key.cpp
FOVEA_ERROR(io, server_key_locked,
            "the server's key is in the system's keyring, which cannot be used just now",
            "Unlock it and try again");

// Attached files.
FOVEA_ERROR(unsupported, attached_picture, "this is a picture, and the model reads text only",
            "Attach text files: notes, Markdown, tables as CSV, source code");
FOVEA_ERROR(unsupported, attached_document, "this is a document or an archive, and the model reads text only",
            "Copy the text out of it, or save it as a text file and attach that");
FOVEA_ERROR(unsupported, attached_no_text, "this is not text, and the model reads only text",
            "Attach text files: notes, Markdown, tables as CSV, source code");
FOVEA_ERROR(unsupported, attached_not_utf8, "this text is not UTF-8", "Save it as UTF-8 and attach it again");
FOVEA_ERROR(invalid, attached_no_file, "this is not a regular file",
            "Attach text files: notes, Markdown, tables as CSV, source code");

}  // namespace fovea::errors
