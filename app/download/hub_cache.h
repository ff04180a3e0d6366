// The cache that the hub's tools share: $HF_HOME/hub/models--ORG--NAME/{blobs,snapshots,refs}. Contents lie
// in blobs/ by their hash; snapshots/COMMIT/ holds links to them by name; refs/main holds the commit it
// stands for.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/download/hub_types.h"
#include "engine/api/error.h"

namespace fovea::app {

// A model in the cache, whoever downloaded it.
struct CachedModel {
  std::string repository;
  std::string name;            // as ModelChoice::name
  std::filesystem::path path;  // the GGUF file (of a split one the first part), or the snapshot's folder
  std::int64_t bytes = 0;      // all parts
};

class HubCache {
 public:
  // HF_HUB_CACHE, $HF_HOME/hub, $XDG_CACHE_HOME/huggingface/hub, ~/.cache/huggingface/hub: the first that is
  // set.
  static std::filesystem::path default_folder();
  explicit HubCache(std::filesystem::path folder = default_folder()) : folder_(std::move(folder)) {}

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path repository_folder(const std::string& repository) const;
  std::filesystem::path blob(const std::string& repository, const HubFile& file) const;
  std::filesystem::path snapshot(const std::string& repository, const std::string& commit) const;
  // The lock that the hub's own tools take while they write this blob.
  std::filesystem::path lock(const std::string& repository, const HubFile& file) const;

  // The file at a revision (a branch, a tag or a commit), when it is there.
  std::optional<std::filesystem::path> find(const std::string& repository, const std::string& revision,
                                            const std::string& path) const;
  // What lies there of a revision: files with their sizes (no hashes). Nothing where the revision is unknown.
  std::optional<HubRepository> repository(const std::string& repository, const std::string& revision) const;
  // The models of all repositories, by name.
  std::vector<CachedModel> models() const;

  // Makes the blob appear under its name: the link in the snapshot, and the revision's reference.
  Result<std::filesystem::path> publish(const std::string& repository, const std::string& revision,
                                        const std::string& commit, const HubFile& file) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace fovea::app
