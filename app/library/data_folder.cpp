#include "app/library/data_folder.h"

#include <cstdlib>
#include <pwd.h>
#include <string>
#include <unistd.h>

#include "app/files/errors.h"
#include "engine/core/result.h"

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

// By the XDG rules a relative path in their variables is to be ignored.
std::filesystem::path user_folder(const char* ours, const char* xdg, const char* usual) {
  if (auto folder = variable(ours); !folder.empty()) return folder;
  if (auto folder = variable(xdg); folder.is_absolute()) return folder / "fovea";
  return home() / usual / "fovea";
}

bool only_data_is_set(const char* ours) {
  return variable(ours).empty() && !variable("FOVEA_DATA").empty();
}

}  // namespace

std::filesystem::path data_folder() {
  return user_folder("FOVEA_DATA", "XDG_DATA_HOME", ".local/share");
}

std::filesystem::path config_folder() {
  if (only_data_is_set("FOVEA_CONFIG")) return data_folder() / "config";
  return user_folder("FOVEA_CONFIG", "XDG_CONFIG_HOME", ".config");
}

std::filesystem::path cache_folder() {
  if (only_data_is_set("FOVEA_CACHE")) return data_folder() / "cache";
  return user_folder("FOVEA_CACHE", "XDG_CACHE_HOME", ".cache");
}

std::filesystem::path models_folder() {
  return data_folder() / "models";
}

std::filesystem::path history_file() {
  return data_folder() / "history.db";
}

Result<std::filesystem::path> make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return fail(phrases::file_place(folder),
                errors::cannot_make_folder(Said{error.message()}).advise(phrases::files_set_fovea_data()));
  return folder;
}

}  // namespace fovea::app
