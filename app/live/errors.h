// What is said of recordings of the live panel.
#pragma once

#include "engine/api/errors.h"

namespace fovea::phrases {

FOVEA_PHRASE(recording_place, "recording");
FOVEA_PHRASE(recording_line, "recording, line {line}");

}  // namespace fovea::phrases

namespace fovea::errors {

FOVEA_ERROR(io, recording_not_opened, "{said}", "Choose another file");
FOVEA_ERROR(io, recording_not_written, "{said}", "Choose another place");
FOVEA_ERROR(io, recording_not_read, "{said}", "Check the disk");
FOVEA_ERROR(format, trace_without_pass, "the trace contains no passes", "");
FOVEA_ERROR(format, no_recording, "this is not a recording of experts",
            "Open a recording that was saved in the experts' panel, or a trace made by fovea trace");
FOVEA_ERROR(format, recording_no_json, "this is not a JSON object ({said})",
            "Open a recording that was saved in the experts' panel, or a trace made by fovea trace");
FOVEA_ERROR(format, recording_version, "version {version} is not known, only {known} is",
            "Open a recording that was saved in the experts' panel, or a trace made by fovea trace");
FOVEA_ERROR(format, recording_shape, "{layers} layers of {experts} experts are not possible",
            "Open a recording that was saved in the experts' panel, or a trace made by fovea trace");
FOVEA_ERROR(format, recording_no_time, "it has no time",
            "Open a recording that was saved in the experts' panel, or a trace made by fovea trace");
FOVEA_ERROR(format, recording_no_unit, "it names a unit that does not exist",
            "Open a recording that was saved in the experts' panel, or a trace made by fovea trace");
FOVEA_ERROR(format, recording_empty, "it contains no moments",
            "Open a recording that was saved in the experts' panel, or a trace made by fovea trace");

}  // namespace fovea::errors
