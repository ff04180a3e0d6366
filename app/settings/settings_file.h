// settings.json: read, changed and written so that nothing is lost that this version does not know, that
// another instance has written meanwhile, or that was on its way when the program was killed.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "app/settings/settings.h"
#include "engine/api/error.h"

namespace fovea::app {

// $FOVEA_CONFIG/settings.json … (app/library/data_folder.h)
std::filesystem::path settings_path();

class SettingsFile {
 public:
  explicit SettingsFile(std::filesystem::path path) : path_(std::move(path)) {}

  // Reads the file; a missing one is all defaults. One that is no JSON is renamed, and a notice says to what.
  // A value that does not fit is left in the file, the default stands in for it, and a notice says so. An
  // error only when the system refuses to read: then nothing is written either.
  Result<Settings> load();

  // Takes the file's lock, reads what others have written, applies the change to it, and renames the new file
  // into place. Only what the change changed is written; unknown keys, invalid values and the order of keys
  // stay.
  Result<Settings> update(const std::function<void(Settings&)>& change);

  // Sentences from load() and update() that the user should see; taking them empties the list.
  std::vector<Phrase> take_notices();

  const std::filesystem::path& path() const { return path_; }

 private:
  Result<std::string> read_sound_text();

  std::filesystem::path path_;
  std::vector<Phrase> notices_;
};

}  // namespace fovea::app
