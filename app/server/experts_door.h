// A door beside a program that runs a model: who opens it, of the same user on this machine, sees what the
// experts do, as /fovea/experts tells it. While nobody does, nothing is asked of the engine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/server/experts.h"
#include "app/server/experts_client.h"
#include "engine/api/error.h"

namespace fovea::app {

// Only its user's: in $XDG_RUNTIME_DIR, or where there is none or FOVEA_DATA is set, in the cache's folder.
std::filesystem::path doors_folder();

// Doors of programs that run, the newest first.
std::vector<ExpertsAddress> open_doors(const std::filesystem::path& folder);

class ExpertsDoor {
 public:
  // Called on the door's own thread, ten times a second while somebody watches. False: nothing new.
  using Reader = std::function<bool(Snapshot&, std::int64_t& questions)>;

  // ErrorKind::io: there can be none.
  static Result<std::unique_ptr<ExpertsDoor>> open(const std::filesystem::path& folder, WatchedModel model,
                                                   Reader reader);
  ~ExpertsDoor();  // shuts it

  const std::filesystem::path& path() const;

  struct Parts;
  explicit ExpertsDoor(std::unique_ptr<Parts> parts);

 private:
  std::unique_ptr<Parts> parts_;
};

}  // namespace fovea::app
