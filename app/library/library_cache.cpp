#include "app/library/library_cache.h"

#include <nlohmann/json.hpp>

#include "app/files/error_json.h"
#include "app/files/files.h"
#include "app/library/model_info_json.h"
#include "engine/core/atomic_file.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

using json = nlohmann::ordered_json;

constexpr std::int64_t limit_bytes = 64 << 20;
constexpr int version = 4;  // of the entries' fields

std::int64_t number(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

}  // namespace

void LibraryCache::load() {
  entries_.clear();
  changed_ = false;
  const auto content = read_file(file_, limit_bytes);
  if (!content) return;
  const json document = json::parse(*content, nullptr, false);
  if (!document.is_object() || number(document, "version") != version) return;
  const auto models = document.find("models");
  if (models == document.end() || !models->is_object()) return;
  for (const auto& [path, object] : models->items()) {
    if (!object.is_object()) continue;
    Entry entry{.bytes = number(object, "bytes"),
                .modified = number(object, "modified"),
                .files = number(object, "files"),
                .error = as_error(object.value("error", json())),
                .info = {}};
    if (!entry.error) {
      const auto info = object.find("info");
      if (info == object.end() || !info->is_object()) continue;
      entry.info = as_model_info(*info);
      entry.info.path = path;
    }
    entries_.emplace(path, std::move(entry));
  }
}

void LibraryCache::begin_scan() {
  for (auto& [path, entry] : entries_) entry.used = false;
}

Result<void> LibraryCache::save() {
  changed_ = std::erase_if(entries_, [](const auto& entry) { return !entry.second.used; }) > 0 || changed_;
  if (!changed_) return {};
  json models = json::object();
  for (const auto& [path, entry] : entries_) {
    json& object = models[path];
    object = {{"bytes", entry.bytes}, {"modified", entry.modified}, {"files", entry.files}};
    if (entry.error) {
      object["error"] = as_json(*entry.error);
    } else {
      object["info"] = as_json(entry.info);
    }
  }
  const json document{{"version", version}, {"models", std::move(models)}};
  std::error_code ignored;
  std::filesystem::create_directories(file_.parent_path(), ignored);
  FOVEA_TRY(auto out, AtomicFile::create(file_));
  FOVEA_CHECK(out.write(document.dump(1, ' ', false, json::error_handler_t::replace)));
  FOVEA_CHECK(out.commit());
  changed_ = false;
  return {};
}

bool LibraryCache::find(LibraryModel& model, const ModelFiles& files) {
  const auto found = entries_.find(model.path.string());
  if (found == entries_.end()) return false;
  Entry& entry = found->second;
  if (entry.bytes != files.bytes || entry.modified != files.modified ||
      entry.files != std::ssize(files.files))
    return false;
  entry.used = true;
  model.error = entry.error;
  model.info = entry.info;
  model.is_read = true;
  return true;
}

void LibraryCache::keep(const LibraryModel& model, const ModelFiles& files) {
  entries_[model.path.string()] = {.bytes = files.bytes,
                                   .modified = files.modified,
                                   .files = std::ssize(files.files),
                                   .error = model.error,
                                   .info = model.info,
                                   .used = true};
  changed_ = true;
}

}  // namespace fovea::app
