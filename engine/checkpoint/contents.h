// What an open checkpoint holds, and the two ways to fill it.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/mapped_file.h"
#include "engine/checkpoint/packed_layer.h"
#include "engine/checkpoint/safetensors_reader.h"

namespace fovea::checkpoint {

struct Checkpoint::Contents {
  Format format = Format::gguf;
  std::string format_name;
  std::filesystem::path path;
  std::vector<std::filesystem::path> files;
  std::vector<MappedFile> maps;  // one for each of files
  std::vector<TensorInfo> tensors;
  std::vector<PackedLayer> packed;  // the tensors' that are not mapped
  Phrase conversion;
  std::unordered_map<std::string_view, std::size_t> index;  // by name, into tensors
  Metadata metadata;
  nlohmann::json config = nlohmann::json::object();
  nlohmann::json generation_config = nlohmann::json::object();
  nlohmann::json tokenizer_config = nlohmann::json::object();
  MappedFile tokenizer_json;
  std::string chat_template;

  void add(const std::filesystem::path& file, MappedFile map, std::vector<TensorInfo> from_file);
  Result<void> make_index();  // after the last file; refuses a name that occurs twice
  // Calls f(map, offset, bytes) for every part of a file that the tensor is read from.
  template <class F>
  void each_region(const TensorInfo& tensor, F&& f) const;
};

struct SyntheticModel;

// A tensor that holds no weights by itself.
struct PackedEntry {
  SafetensorsEntry entry;
  std::uint32_t file = 0;
};

struct Opener {
  using Contents = Checkpoint::Contents;
  static Result<void> gguf(const std::filesystem::path& path, Contents& contents);
  static Result<void> folder(const std::filesystem::path& path, Contents& contents);
  static Result<void> synthetic(const SyntheticModel& model, Contents& contents);
  static Result<Checkpoint> make(const SyntheticModel& model);
  // Makes one tensor X.weight of each X.qweight and what belongs to it, and takes those out.
  static Result<void> packed_layers(const Quantization& quantization, const std::vector<PackedEntry>& entries,
                                    Contents& contents);
  // Takes apart what some files of Qwen3-Next join: of each layer of gated delta, q, k, v and z; and what
  // gpt-oss' folders do: of each layer's experts, gate and up.
  static Result<void> joined_projections(Contents& contents);
  static Result<void> joined_experts(const std::vector<PackedEntry>& entries, Contents& contents);
};

}  // namespace fovea::checkpoint
