#include "app/download/hub_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/download/errors.h"
#include "app/download/hub_names.h"
#include "engine/core/json_depth.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

using Json = nlohmann::json;

constexpr std::size_t max_entries = 100000;
constexpr std::size_t max_tags = 200;
constexpr std::size_t longest_text = 400;
constexpr int deepest = 64;  // more than anything the hub sends

std::unexpected<Error> wrong(const std::string& where, Error error) {
  return fail(phrases::name_place(where), std::move(error));
}

Result<Json> parse(std::string_view text, const std::string& where) {
  if (static_cast<std::int64_t>(text.size()) > api_limit_bytes)
    return wrong(where, errors::hub_answer_too_long());
  Json json = json_depth(text) > deepest ? Json(Json::value_t::discarded) : Json::parse(text, nullptr, false);
  if (json.is_discarded()) return wrong(where, errors::hub_answer_no_json());
  return json;
}

const Json* field(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto it = object.find(name);
  return it == object.end() ? nullptr : &*it;
}

std::string text_of(const Json& object, const char* name) {
  const Json* value = field(object, name);
  if (!value || !value->is_string()) return {};
  const auto& text = value->get_ref<const std::string&>();
  return text.size() <= longest_text ? text : std::string();
}

// -1 where there is no such number or it is out of range.
std::int64_t count_of(const Json& object, const char* name, std::int64_t most) {
  const Json* value = field(object, name);
  if (!value || !value->is_number_integer()) return -1;
  if (value->is_number_unsigned() && value->get<std::uint64_t>() > static_cast<std::uint64_t>(most))
    return -1;
  const auto number = value->get<std::int64_t>();
  return number >= 0 && number <= most ? number : -1;
}

// false, or "auto" or "manual".
bool is_gated(const Json& object) {
  const Json* value = field(object, "gated");
  return value && (value->is_string() || (value->is_boolean() && value->get<bool>()));
}

HubModel model_of(const Json& entry) {
  HubModel model;
  model.id = text_of(entry, "id");
  model.downloads = std::max<std::int64_t>(0, count_of(entry, "downloads", INT64_MAX));
  model.likes = std::max<std::int64_t>(0, count_of(entry, "likes", INT64_MAX));
  model.modified = text_of(entry, "lastModified");
  model.task = text_of(entry, "pipeline_tag");
  model.gated = is_gated(entry);
  const Json* tags = field(entry, "tags");
  if (tags && tags->is_array()) {
    for (const Json& tag : *tags) {
      if (model.tags.size() == max_tags) break;
      if (tag.is_string() && tag.get_ref<const std::string&>().size() <= longest_text)
        model.tags.push_back(tag.get<std::string>());
    }
  }
  return model;
}

std::string file_name(const std::string& path) {
  return path.size() > 100 ? path.substr(0, 100) + "…" : path;
}

Result<HubFile> file_of(const Json& entry, const std::string& where) {
  HubFile file;
  const Json* path = field(entry, "path");
  if (!path || !path->is_string()) return wrong(where, errors::hub_file_no_path());
  file.path = path->get<std::string>();
  if (!is_repository_path(file.path)) return wrong(where, errors::hub_file_outside());
  file.bytes = count_of(entry, "size", max_file_bytes);
  if (file.bytes < 0) return wrong(where, errors::hub_file_no_size(file_name(file.path)));
  file.git_oid = text_of(entry, "oid");
  if (!is_commit(file.git_oid)) return wrong(where, errors::hub_file_no_git_hash(file_name(file.path)));
  if (const Json* lfs = field(entry, "lfs"); lfs && lfs->is_object()) {
    file.sha256 = text_of(*lfs, "oid");
    if (!is_sha256(file.sha256)) return wrong(where, errors::hub_file_no_sha256(file_name(file.path)));
    file.bytes = count_of(*lfs, "size", max_file_bytes);
    if (file.bytes < 0) return wrong(where, errors::hub_file_no_size(file_name(file.path)));
  }
  return file;
}

}  // namespace

Result<std::vector<HubModel>> parse_search(std::string_view text, const std::string& where) {
  FOVEA_TRY(const Json json, parse(text, where));
  if (!json.is_array()) return wrong(where, errors::hub_answer_no_list());
  std::vector<HubModel> models;
  for (const Json& entry : json) {
    HubModel model = model_of(entry);
    // One entry that is not well-formed does not spoil a search.
    if (is_repository_id(model.id)) models.push_back(std::move(model));
    if (models.size() == max_entries) break;
  }
  return models;
}

Result<HubRevision> parse_revision(std::string_view text, const std::string& where) {
  FOVEA_TRY(const Json json, parse(text, where));
  HubRevision revision{.id = text_of(json, "id"), .commit = text_of(json, "sha"), .gated = is_gated(json)};
  if (!is_commit(revision.commit)) return wrong(where, errors::hub_answer_no_commit());
  if (!is_repository_id(revision.id)) return wrong(where, errors::hub_answer_no_repository());
  return revision;
}

Result<std::vector<HubFile>> parse_tree(std::string_view text, const std::string& where) {
  FOVEA_TRY(const Json json, parse(text, where));
  if (!json.is_array()) return wrong(where, errors::hub_answer_no_files());
  if (json.size() > max_entries) return wrong(where, errors::hub_list_too_long());
  std::vector<HubFile> files;
  for (const Json& entry : json) {
    if (text_of(entry, "type") != "file") continue;  // a folder
    FOVEA_TRY(HubFile file, file_of(entry, where));
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace fovea::app
