#include "app/library/data_folder.h"

#include <cstdlib>
#include <pwd.h>
#include <string>
#include <unistd.h>

namespace fovea::app {
namespace {

std::filesystem::path variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::filesystem::path home() {
  if (auto folder = variable("HOME"); !folder.empty()) return folder;
  const passwd* user = ::getpwuid(::getuid());
  return user && user->pw_dir ? user->pw_dir : "/";
}

}  // namespace

std::filesystem::path data_folder() {
  if (auto folder = variable("FOVEA_DATA"); !folder.empty()) return folder;
  // The XDG rules: a relative path is to be ignored.
  if (auto folder = variable("XDG_DATA_HOME"); folder.is_absolute()) return folder / "fovea";
  return home() / ".local/share/fovea";
}

std::filesystem::path models_folder() {
  return data_folder() / "models";
}

Result<std::filesystem::path> make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return std::unexpected(Error{ErrorKind::io, folder.string(), "cannot be made: " + error.message(),
                                 "Set FOVEA_DATA to a folder that you can write to"});
  }
  return folder;
}

}  // namespace fovea::app
