// The files that a model is made of: their size and age, their content's checksums, and what to delete.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <vector>

#include "engine/api/error.h"
#include "engine/api/progress.h"

namespace fovea::app {

struct ModelFiles {
  std::vector<std::filesystem::path> files;  // all parts; of a folder what lies in it
  std::int64_t bytes = 0;
  std::int64_t modified =
      0;  // of the latest, in the file system's clock; with bytes and path it tells changes

  bool operator==(const ModelFiles&) const = default;
};
ModelFiles files_of(const std::filesystem::path& model);

struct FileCheck {
  std::int64_t bytes = 0;  // read without an error
  std::int64_t files = 0;
  std::int64_t compared = 0;  // files whose checksum the hub's cache knows, and that have it
};
// Reads every byte. In the hub's cache a file's name is its checksum: a difference is ErrorKind::format.
// Progress counts bytes.
Result<FileCheck> check_files(const std::filesystem::path& model, const ProgressSink& progress,
                              std::stop_token stop);

// What deleting a model moves to the trash.
struct Removal {
  std::vector<std::filesystem::path> whole;  // files, or the one folder
  std::int64_t bytes = 0;
};
// Links are followed into the hub's cache. They stay, so that a model that comes back from the trash is
// whole; a link to nothing is no model. What another model of the cache uses too stays as well.
Removal removal_of(const std::filesystem::path& model);

}  // namespace fovea::app
