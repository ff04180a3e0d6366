#include "app/library/library_cache.h"

#include <nlohmann/json.hpp>

#include "app/files/atomic_file.h"
#include "app/files/files.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

using nlohmann::json;

constexpr std::int64_t limit_bytes = 64 << 20;
constexpr int version = 1;  // of the entries' fields

std::int64_t number(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

std::string text(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

json as_json(const ModelInfo& info) {
  return {{"name", info.name},
          {"format", info.format},
          {"architecture", info.architecture},
          {"layers", info.layers},
          {"hidden", info.hidden},
          {"heads", info.heads},
          {"kv_heads", info.kv_heads},
          {"head_dim", info.head_dim},
          {"vocabulary", info.vocabulary},
          {"context", info.context},
          {"experts", info.experts},
          {"experts_used", info.experts_used},
          {"parameters", info.parameters},
          {"parameters_active", info.parameters_active},
          {"bytes", info.bytes},
          {"bytes_by_type", info.bytes_by_type},
          {"conversion", info.conversion},
          {"has_chat_template", info.has_chat_template}};
}

ModelInfo as_info(const json& object) {
  ModelInfo info;
  for (const auto& [key, field] :
       std::initializer_list<std::pair<const char*, std::string*>>{{"name", &info.name},
                                                                   {"format", &info.format},
                                                                   {"architecture", &info.architecture},
                                                                   {"conversion", &info.conversion}})
    *field = text(object, key);
  for (const auto& [key, field] : std::initializer_list<std::pair<const char*, std::int64_t*>>{
           {"layers", &info.layers},
           {"hidden", &info.hidden},
           {"heads", &info.heads},
           {"kv_heads", &info.kv_heads},
           {"head_dim", &info.head_dim},
           {"vocabulary", &info.vocabulary},
           {"context", &info.context},
           {"experts", &info.experts},
           {"experts_used", &info.experts_used},
           {"parameters", &info.parameters},
           {"parameters_active", &info.parameters_active},
           {"bytes", &info.bytes}})
    *field = number(object, key);
  info.has_chat_template = object.value("has_chat_template", json()) == true;
  if (const auto types = object.find("bytes_by_type"); types != object.end() && types->is_object()) {
    for (const auto& [type, bytes] : types->items())
      if (bytes.is_number_integer()) info.bytes_by_type[type] = bytes.get<std::int64_t>();
  }
  return info;
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
                .error = text(object, "error"),
                .info = {}};
    if (entry.error.empty()) {
      const auto info = object.find("info");
      if (info == object.end() || !info->is_object()) continue;
      entry.info = as_info(*info);
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
    if (entry.error.empty()) {
      object["info"] = as_json(entry.info);
    } else {
      object["error"] = entry.error;
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
