// The live panel's files: recordings and traces that it replays, and what it saves. For another thread than
// the GUI's.
#pragma once

#include <QString>
#include <filesystem>
#include <stop_token>

#include "app/live/recording.h"
#include "engine/api/error.h"

namespace fovea::app {

// A recording that the panel saved, or a trace of `fovea trace`: of a trace, what the usual policy would
// have done with a quarter of the experts in the high tier.
Result<Recording> open_recording(const std::filesystem::path& file, std::stop_token stop = {});

// The file is there whole or not at all.
Result<void> save_export(const QString& path, const LiveExport& data);

}  // namespace fovea::app
