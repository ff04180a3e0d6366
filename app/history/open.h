// How a history file is opened: who else has it open, whether it is sound, which schema it has.
#pragma once

#include "app/files/file_lock.h"
#include "app/history/database.h"
#include "app/history/history.h"

namespace fovea::app::history {

struct Opened {
  FileLock lock;  // shared by all who have the history open; who can take it alone may repair and migrate
  Database database;
  Opening opening;
};

Result<Opened> open_history(const std::filesystem::path& file, const Options& options);

// Leaves a note beside the file, so that the next start checks all of it.
void mark_suspect(const std::filesystem::path& file);

}  // namespace fovea::app::history
