#include "app/download/queue_file.h"

#include <nlohmann/json.hpp>

#include "app/download/errors.h"
#include "app/download/hub_names.h"
#include "app/files/error_json.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr int version = 1;

std::string text_of(const Json& object, const char* name) {
  const auto it = object.find(name);
  return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
}

std::int64_t number_of(const Json& object, const char* name) {
  const auto it = object.find(name);
  return it != object.end() && it->is_number_integer() ? it->get<std::int64_t>() : -1;
}

Json entry_json(const QueuedDownload& entry) {
  Json files = Json::array();
  for (const HubFile& file : entry.request.choice.files)
    files.push_back(
        {{"path", file.path}, {"bytes", file.bytes}, {"git_oid", file.git_oid}, {"sha256", file.sha256}});
  const ModelChoice& choice = entry.request.choice;
  return {{"id", entry.id},
          {"repository", entry.request.repository},
          {"revision", entry.request.revision},
          {"commit", entry.request.commit},
          {"folder", entry.request.folder.string()},
          {"name", choice.name},
          {"quantization", choice.quantization},
          {"is_folder", choice.is_folder},
          {"files", files},
          {"state", state_name(entry.state)},
          {"error", entry.error ? as_json(*entry.error) : Json()}};
}

bool is_sound(const HubFile& file) {
  return is_repository_path(file.path) && file.bytes >= 0 && file.bytes <= max_file_bytes &&
         is_commit(file.git_oid) && (file.sha256.empty() || is_sha256(file.sha256));
}

bool read_entry(const Json& json, QueuedDownload& entry) {
  if (!json.is_object()) return false;
  entry.id = number_of(json, "id");
  entry.request.repository = text_of(json, "repository");
  entry.request.revision = text_of(json, "revision");
  entry.request.commit = text_of(json, "commit");
  entry.request.folder = text_of(json, "folder");
  entry.error = as_error(json.value("error", Json()));
  ModelChoice& choice = entry.request.choice;
  choice.name = text_of(json, "name");
  choice.quantization = text_of(json, "quantization");
  choice.is_folder = json.contains("is_folder") && json["is_folder"] == true;
  const std::string state = text_of(json, "state");
  for (const DownloadState known : {DownloadState::paused, DownloadState::failed, DownloadState::done})
    if (state == state_name(known)) entry.state = known;
  if (!json.contains("files") || !json["files"].is_array()) return false;
  for (const Json& each : json["files"]) {
    if (!each.is_object()) return false;
    HubFile file{text_of(each, "path"), number_of(each, "bytes"), text_of(each, "git_oid"),
                 text_of(each, "sha256")};
    if (!is_sound(file)) return false;
    choice.bytes += file.bytes;
    choice.files.push_back(std::move(file));
  }
  return entry.id > 0 && is_repository_id(entry.request.repository) && is_revision(entry.request.revision) &&
         is_commit(entry.request.commit) && !choice.files.empty() && is_repository_path(choice.name);
}

}  // namespace

std::string write_queue(const std::vector<QueuedDownload>& queue) {
  Json downloads = Json::array();
  for (const QueuedDownload& entry : queue) downloads.push_back(entry_json(entry));
  const Json file = {{"version", version}, {"downloads", downloads}};
  return file.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<std::vector<QueuedDownload>> parse_queue(std::string_view text, const std::filesystem::path& file) {
  const Json json = Json::parse(text, nullptr, false);
  const auto broken = [&](Error error) { return fail(phrases::file_place(file), std::move(error)); };
  if (!json.is_object() || !json.contains("downloads") || !json["downloads"].is_array())
    return broken(errors::queue_no_list());
  if (number_of(json, "version") != version) return broken(errors::queue_other_version());
  std::vector<QueuedDownload> queue;
  for (const Json& each : json["downloads"]) {
    QueuedDownload entry;
    if (!read_entry(each, entry)) return broken(errors::queue_damaged_entry(queue.size() + 1));
    queue.push_back(std::move(entry));
  }
  return queue;
}

}  // namespace fovea::app
