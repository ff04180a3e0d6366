#include "app/download/library_link.h"

#include <system_error>

#include "engine/core/log.h"

namespace fovea::app {
namespace fs = std::filesystem;

namespace {

// A link of that name is replaced, for it is ours; anything else is the user's.
bool link(const fs::path& target, const fs::path& name) {
  std::error_code error;
  const auto there = fs::symlink_status(name, error);
  if (fs::exists(there) && !fs::is_symlink(there)) return false;
  fs::remove(name, error);
  fs::create_symlink(target, name, error);
  if (error) log::warning("download", name.string(), " cannot be made: ", error.message());
  return !error;
}

}  // namespace

std::string link_into_library(const fs::path& library, const ModelChoice& choice, const fs::path& snapshot) {
  std::error_code error;
  fs::create_directories(library, error);
  if (choice.is_folder) return link(snapshot, library / choice.name) ? choice.name : std::string();
  for (const HubFile& file : choice.files)
    if (!link(snapshot / file.path, library / fs::path(file.path).filename())) return {};
  return choice.name;
}

}  // namespace fovea::app
