// A model on disk: tensors by name, and its metadata, from a GGUF file (or its parts) or a Hugging Face
// folder. Everything is memory-mapped and every count, offset, shape and length was checked on opening. The
// packed layers of a GPTQ, AWQ or AutoRound folder appear as tensors of one of Fovea's types; their rows are
// converted when they are read (packed_layer.h says how).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/api/error.h"
#include "engine/checkpoint/metadata.h"
#include "engine/checkpoint/tensor_info.h"

namespace fovea::checkpoint {

enum class Format : std::uint8_t { gguf, hugging_face };

class Checkpoint {
 public:
  // A .gguf file (any part of a split one opens all parts) or a folder with config.json.
  // A folder without weights, or a GGUF with only a vocabulary, opens with no tensors.
  static Result<Checkpoint> open(const std::filesystem::path& path);

  Checkpoint(Checkpoint&&) noexcept;
  Checkpoint& operator=(Checkpoint&&) noexcept;
  ~Checkpoint();

  Format format() const;
  std::string format_name() const;                          // "GGUF v3", "safetensors"
  const std::filesystem::path& path() const;                // as it was given to open()
  const std::vector<std::filesystem::path>& files() const;  // those that hold tensors

  const std::vector<TensorInfo>& tensors() const;
  const TensorInfo* find(std::string_view name) const;
  std::span<const std::byte> bytes(const TensorInfo&) const;  // of a mapped tensor
  // Rows first … first + count − 1 of all matrices of `columns` weights that the tensor holds, as its type
  // stores them: copied, or, from a packed layer, converted. Safe from several threads.
  void read_rows(const TensorInfo&, std::int64_t columns, std::int64_t first, std::int64_t count,
                 std::byte* out) const;
  // The same without copying what is mapped; `buffer` keeps what is not.
  std::span<const std::byte> rows(const TensorInfo&, std::int64_t columns, std::int64_t first,
                                  std::int64_t count, std::vector<std::byte>& buffer) const;
  // What tells this tensor from another one: its bytes, or a packed layer's codes.
  std::span<const std::byte> identifying_bytes(const TensorInfo&) const;
  // What became of packed layers: "gptq, 4 bits: 224 matrices as Q4_0, exactly"; empty without any.
  const Phrase& conversion() const;
  // The tensor's pages will not be read again: they need not stay in this process.
  void drop(const TensorInfo&) const;
  // The tensor will be read soon: the system may begin to fetch it from the disk.
  void will_need(const TensorInfo&) const;

  const Metadata& metadata() const;  // GGUF's keys (of the first part); empty for a folder

  // A folder's JSON files, empty objects where a file is missing; unused for GGUF.
  const nlohmann::json& config() const;             // config.json
  const nlohmann::json& generation_config() const;  // generation_config.json
  const nlohmann::json& tokenizer_config() const;   // tokenizer_config.json
  std::string_view tokenizer_json() const;  // the mapped text of tokenizer.json, empty when there is none
  std::string_view chat_template() const;   // chat_template.jinja, else tokenizer_config's, else GGUF's

 private:
  struct Contents;
  explicit Checkpoint(std::unique_ptr<Contents>);
  friend struct Opener;
  std::unique_ptr<Contents> contents_;
};

}  // namespace fovea::checkpoint
