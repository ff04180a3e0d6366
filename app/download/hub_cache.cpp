#include "app/download/hub_cache.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>
#include <unistd.h>

#include "app/download/errors.h"
#include "app/download/hub_names.h"
#include "app/download/model_choices.h"
#include "app/files/files.h"
#include "app/files/folders.h"
#include "engine/core/atomic_file.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view folder_prefix = "models--";
constexpr std::size_t max_files = 10000;

fs::path variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string folder_name(const std::string& repository) {
  std::string name(folder_prefix);
  for (const char c : repository) name += c == '/' ? "--" : std::string(1, c);
  return name;
}

// Empty where the folder's name is not one of the cache's.
std::string repository_of(const std::string& folder) {
  if (!folder.starts_with(folder_prefix)) return {};
  std::string id = folder.substr(folder_prefix.size());
  if (const auto at = id.find("--"); at != id.npos) id.replace(at, 2, "/");
  return is_repository_id(id) ? id : std::string();
}

Result<void> made(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return fail(phrases::file_place(folder),
                errors::cannot_make_folder(Said{error.message()}).advise(phrases::download_set_hf_home()));
  return {};
}

Result<void> write_reference(const fs::path& file, const std::string& commit) {
  FOVEA_CHECK(made(file.parent_path()));
  FOVEA_TRY(auto out, AtomicFile::create(file));
  FOVEA_CHECK(out.write(commit));
  return out.commit();
}

}  // namespace

fs::path HubCache::default_folder() {
  for (const char* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"})
    if (auto folder = variable(name); !folder.empty()) return folder;
  if (auto home = variable("HF_HOME"); !home.empty()) return home / "hub";
  if (auto cache = variable("XDG_CACHE_HOME"); cache.is_absolute()) return cache / "huggingface/hub";
  return variable("HOME") / ".cache/huggingface/hub";
}

fs::path HubCache::repository_folder(const std::string& repository) const {
  return folder_ / folder_name(repository);
}

fs::path HubCache::blob(const std::string& repository, const HubFile& file) const {
  return repository_folder(repository) / "blobs" / file.blob();
}

fs::path HubCache::snapshot(const std::string& repository, const std::string& commit) const {
  return repository_folder(repository) / "snapshots" / commit;
}

fs::path HubCache::lock(const std::string& repository, const HubFile& file) const {
  return folder_ / ".locks" / folder_name(repository) / (file.blob() + ".lock");
}

std::optional<fs::path> HubCache::find(const std::string& repository, const std::string& revision,
                                       const std::string& path) const {
  if (!is_repository_id(repository) || !is_revision(revision) || !is_repository_path(path))
    return std::nullopt;
  std::string commit = revision;
  if (!is_commit(revision)) {
    const auto text = read_file(repository_folder(repository) / "refs" / revision, 100);
    if (!text) return std::nullopt;
    commit = text->substr(0, text->find_last_not_of(" \r\n") + 1);
    if (!is_commit(commit)) return std::nullopt;
  }
  const fs::path file = snapshot(repository, commit) / path;
  std::error_code ignored;
  return fs::is_regular_file(file, ignored) ? std::optional(file) : std::nullopt;
}

std::optional<HubRepository> HubCache::repository(const std::string& id, const std::string& revision) const {
  if (!is_repository_id(id) || !is_revision(revision)) return std::nullopt;
  HubRepository found{.id = id, .revision = revision, .commit = revision, .gated = false, .files = {}};
  if (!is_commit(revision)) {
    const auto text = read_file(repository_folder(id) / "refs" / revision, 100);
    if (!text) return std::nullopt;
    found.commit = text->substr(0, text->find_last_not_of(" \r\n") + 1);
    if (!is_commit(found.commit)) return std::nullopt;
  }
  const fs::path folder = snapshot(id, found.commit);
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored, unknown;
    if (!it->is_regular_file(ignored) || found.files.size() == max_files) continue;  // follows links
    HubFile file;
    file.path = fs::relative(it->path().parent_path(), folder, ignored) / it->path().filename();
    file.path = fs::path(file.path).lexically_normal().string();
    file.bytes = static_cast<std::int64_t>(it->file_size(unknown));
    if (!unknown && is_repository_path(file.path)) found.files.push_back(std::move(file));
  }
  if (found.files.empty()) return std::nullopt;
  std::ranges::sort(found.files, {}, &HubFile::path);
  return found;
}

std::vector<CachedModel> HubCache::models() const {
  std::vector<CachedModel> list;
  for (const fs::path& folder : entries_of(folder_)) {
    const std::string id = repository_of(folder.filename().string());
    if (id.empty()) continue;
    for (const fs::path& commit : entries_of(folder / "snapshots")) {
      const auto found = repository(id, commit.filename().string());
      if (!found) continue;
      for (const ModelChoice& choice : model_choices(*found)) {
        if (!choice.is_complete) continue;
        const fs::path path = choice.is_folder ? commit : commit / choice.files.front().path;
        list.push_back({id, choice.name, path, choice.bytes});
      }
    }
  }
  std::ranges::sort(list, {}, [](const CachedModel& model) { return std::tie(model.name, model.path); });
  return list;
}

Result<fs::path> HubCache::publish(const std::string& repository, const std::string& revision,
                                   const std::string& commit, const HubFile& file) const {
  const fs::path link = snapshot(repository, commit) / file.path;
  FOVEA_CHECK(made(link.parent_path()));
  std::error_code error;
  if (!fs::exists(link, error)) {
    const fs::path target = fs::path(blob(repository, file)).lexically_relative(link.parent_path());
    // Under another name first: two programs that publish at once both leave a link that is whole.
    const fs::path fresh = link.string() + ".link-" + std::to_string(::getpid());
    fs::remove(fresh, error);
    fs::create_symlink(target, fresh, error);
    if (!error) fs::rename(fresh, link, error);
    if (error) return fail(phrases::file_place(link), errors::hub_cache_link(Said{error.message()}));
  }
  if (!is_commit(revision))
    FOVEA_CHECK(write_reference(repository_folder(repository) / "refs" / revision, commit));
  return link;
}

}  // namespace fovea::app
