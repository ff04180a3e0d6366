// Opening a Hugging Face folder: JSON files, chat template, and safetensors, sharded or not.
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "engine/checkpoint/contents.h"
#include "engine/checkpoint/describe.h"
#include "engine/checkpoint/json_file.h"
#include "engine/checkpoint/quantization.h"
#include "engine/checkpoint/safetensors_reader.h"
#include "engine/core/result.h"

namespace fovea::checkpoint {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

// Far above what is published; keeps a hostile folder from asking for a parse of gigabytes.
constexpr std::int64_t max_json_bytes = std::int64_t{256} << 20;

std::string_view text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

// The file's bytes, or none when the folder has no such file.
Result<MappedFile> map_optional(const fs::path& path) {
  auto file = MappedFile::open(path);
  if (!file && file.error().kind == ErrorKind::not_found) return MappedFile();
  return file;
}

// An empty object when the folder has no such file.
Result<Json> read_object(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return Json::object();
  FOVEA_TRY(const MappedFile file, MappedFile::open(path));
  if (const auto size = std::ssize(file.bytes()); size > max_json_bytes) {
    return fail(
        phrases::file_place(path),
        errors::json_too_long(Bytes{size}, Bytes{max_json_bytes}).advise(phrases::damaged_or_cut_off()));
  }
  FOVEA_TRY(Json value, parse_json(text_of(file), path));
  if (!value.is_object()) return damaged(path, 0, errors::no_json_object());
  return value;
}

// transformers 5 and 4 write chat_template.jinja; older folders have it in tokenizer_config.json, as a string
// or as a list of named ones.
Result<std::string> read_chat_template(const fs::path& folder, const Json& tokenizer_config) {
  FOVEA_TRY(const MappedFile file, map_optional(folder / "chat_template.jinja"));
  if (!file.bytes().empty()) return std::string(text_of(file));
  const auto it = tokenizer_config.find("chat_template");
  if (it == tokenizer_config.end() || it->is_null()) return std::string();
  if (it->is_string()) return it->get<std::string>();
  if (it->is_array()) {
    for (const Json& entry : *it) {
      if (!entry.is_object()) continue;
      const auto name = entry.find("name");
      const auto text = entry.find("template");
      if (name != entry.end() && *name == "default" && text != entry.end() && text->is_string()) {
        return text->get<std::string>();
      }
    }
  }
  return fail(phrases::file_place(folder / "tokenizer_config.json"),
              errors::no_chat_template_named_default());
}

// A shard's name stands in a file that anybody may have written: it must not lead out of the folder.
bool stays_inside(const std::string& shard) {
  return !shard.empty() && shard != "." && shard != ".." && shard.find('/') == std::string::npos &&
         shard.find('\\') == std::string::npos && shard.find('\0') == std::string::npos;
}

using WeightMap = std::map<std::string, std::set<std::string>>;  // shard → its tensors

Result<WeightMap> read_index(const fs::path& path) {
  FOVEA_TRY(const Json index, read_object(path));
  const auto entries = index.find("weight_map");
  if (entries == index.end() || !entries->is_object()) {
    return damaged(path, 0, errors::no_weight_map());
  }
  WeightMap shards;
  for (const auto& [tensor, shard] : entries->items()) {
    if (!shard.is_string() || !stays_inside(shard.get_ref<const std::string&>())) {
      const std::string found = shard.dump(-1, ' ', false, Json::error_handler_t::replace);
      return fail(phrases::file_place(path), errors::shard_outside_folder(in_quotes(tensor), in_quotes(found))
                                                 .advise(phrases::damaged_or_cut_off()));
    }
    shards[shard.get<std::string>()].insert(tensor);
  }
  return shards;
}

// The configuration of packed weights, from config.json or, in older folders, a file of its own.
Result<std::optional<Quantization>> find_quantization(const fs::path& folder, const Json& config) {
  FOVEA_TRY(auto found, read_quantization(config, folder / "config.json"));
  if (found) return found;
  const fs::path older = folder / "quantize_config.json";
  FOVEA_TRY(const Json object, read_object(older));
  if (object.empty()) return std::nullopt;
  FOVEA_TRY(Quantization quantization, read_quantization_object(object, older));
  return quantization;
}

class Weights {
 public:
  Weights(const fs::path& folder, Opener::Contents& contents) : folder_(folder), contents_(contents) {}

  Result<void> read() {
    const fs::path index = folder_ / "model.safetensors.index.json";
    const fs::path single = folder_ / "model.safetensors";
    std::error_code ignored;
    const bool is_single = fs::exists(single, ignored);
    if (!is_single && !fs::exists(index, ignored)) return {};
    FOVEA_TRY(const auto quantization, find_quantization(folder_, contents_.config));
    takes_others_ = quantization.has_value();
    if (is_single) {
      FOVEA_CHECK(add_file(single));
    } else {
      FOVEA_TRY(const WeightMap shards, read_index(index));
      FOVEA_CHECK(add_shards(shards));
    }
    const auto type = contents_.config.find("model_type");
    const bool is_gpt_oss = type != contents_.config.end() && *type == "gpt_oss";
    if (is_gpt_oss && (!quantization || quantization->layout == PackedLayout::mxfp4))
      return Opener::joined_experts(others_, contents_);
    if (type != contents_.config.end() && *type == "qwen3_next")
      FOVEA_CHECK(Opener::joined_projections(contents_));
    if (!quantization) return {};
    if (quantization->layout == PackedLayout::mxfp4)
      return fail(phrases::file_place(folder_ / "config.json"), errors::mxfp4_of_another_model());
    return Opener::packed_layers(*quantization, others_, contents_);
  }

 private:
  Result<void> add_file(const fs::path& path) {
    FOVEA_TRY(MappedFile map, MappedFile::open(path));
    std::vector<SafetensorsEntry> others;
    FOVEA_TRY(std::vector<TensorInfo> tensors,
              read_safetensors(map.bytes(), path, takes_others_ ? &others : nullptr));
    contents_.add(path, std::move(map), std::move(tensors));
    const auto file = static_cast<std::uint32_t>(contents_.files.size() - 1);
    for (SafetensorsEntry& entry : others) others_.push_back({std::move(entry), file});
    return {};
  }

  // What add_file() added, by name and offset.
  using Added = std::vector<std::pair<std::string, std::uint64_t>>;
  Added added_since(std::size_t tensors, std::size_t others) const {
    Added added;
    for (std::size_t i = tensors; i < contents_.tensors.size(); ++i)
      added.emplace_back(contents_.tensors[i].name, contents_.tensors[i].offset);
    for (std::size_t i = others; i < others_.size(); ++i)
      added.emplace_back(others_[i].entry.name, others_[i].entry.offset);
    return added;
  }

  Result<void> add_shards(const WeightMap& shards) {
    for (const auto& [name, expected] : shards) {
      const fs::path path = folder_ / name;
      std::error_code ignored;
      if (!fs::exists(path, ignored)) {
        return fail(phrases::file_place(path), errors::shard_missing(expected.size()));
      }
      const std::size_t tensors = contents_.tensors.size(), others = others_.size();
      FOVEA_CHECK(add_file(path));
      std::set<std::string> missing = expected;
      for (const auto& [found, offset] : added_since(tensors, others)) {
        if (missing.erase(found) == 1) continue;
        return damaged(path, offset, errors::tensor_not_in_index(in_quotes(found)));
      }
      if (missing.empty()) continue;
      return fail(
          phrases::file_place(path),
          errors::tensor_not_in_shard(in_quotes(*missing.begin())).advise(phrases::damaged_or_cut_off()));
    }
    return {};
  }

  const fs::path& folder_;
  Opener::Contents& contents_;
  bool takes_others_ = false;
  std::vector<PackedEntry> others_;  // tensors that hold no weights by themselves
};

}  // namespace

Result<void> Opener::folder(const fs::path& path, Contents& contents) {
  contents.format = Format::hugging_face;
  contents.format_name = "safetensors";
  FOVEA_TRY(contents.config, read_object(path / "config.json"));
  FOVEA_TRY(contents.generation_config, read_object(path / "generation_config.json"));
  FOVEA_TRY(contents.tokenizer_config, read_object(path / "tokenizer_config.json"));
  FOVEA_TRY(contents.tokenizer_json, map_optional(path / "tokenizer.json"));
  FOVEA_TRY(contents.chat_template, read_chat_template(path, contents.tokenizer_config));

  FOVEA_CHECK(Weights(path, contents).read());
  if (!contents.files.empty()) return {};
  std::error_code ignored;
  if (!fs::exists(path / "config.json", ignored) && contents.tokenizer_json.bytes().empty()) {
    return fail(phrases::file_place(path), errors::no_model_in_folder());
  }
  return {};
}

}  // namespace fovea::checkpoint
