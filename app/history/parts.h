// What a History is made of; shared by the files that implement it.
#pragma once

#include "app/history/database.h"
#include "app/history/history.h"
#include "app/history/open.h"

namespace fovea::app::history {

struct History::Parts {
  FileLock lock;  // outlives the database
  Database database;
  Opening opening;
  std::function<Time()> now;
};

}  // namespace fovea::app::history
