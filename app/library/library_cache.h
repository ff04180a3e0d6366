// What was read of models before, so that a large folder is shown at once. Everything in it can be read
// again: a file that is missing or broken is an empty cache.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "app/library/library_types.h"
#include "app/library/model_files.h"

namespace fovea::app {

class LibraryCache {
 public:
  explicit LibraryCache(std::filesystem::path file) : file_(std::move(file)) {}

  void load();
  void begin_scan();
  // After a whole scan: models that were not asked for since begin_scan() are forgotten. Written only when
  // something changed.
  Result<void> save();

  // Fills in info or error, when the files are as they were.
  bool find(LibraryModel& model, const ModelFiles& files);
  void keep(const LibraryModel& model, const ModelFiles& files);

 private:
  struct Entry {
    std::int64_t bytes = 0, modified = 0, files = 0;
    std::optional<Error> error;
    ModelInfo info;
    bool used = false;
  };
  std::filesystem::path file_;
  std::map<std::string, Entry> entries_;
  bool changed_ = false;
};

}  // namespace fovea::app
