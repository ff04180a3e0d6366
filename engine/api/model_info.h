// What a model file or folder holds, found without reading weights.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "engine/api/error.h"

namespace fovea {

struct ModelInfo {
  std::filesystem::path path;
  std::string name;
  std::string format;        // "GGUF v3", "safetensors"
  std::string architecture;  // "llama", "qwen3_moe" …: Fovea's name for the family
  std::int64_t layers = 0;
  std::int64_t hidden = 0;  // d
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t vocabulary = 0;
  std::int64_t context = 0;           // trained context length, tokens
  std::int64_t extended_context = 0;  // … and the longest that its rotary scaling is made for
  std::int64_t experts = 0;           // for each layer; 0 = dense
  std::int64_t experts_used = 0;      // top-k
  std::int64_t parameters = 0;
  std::int64_t parameters_active =
      0;                   // read for one token: embeddings counted once, chosen and shared experts
  std::int64_t bytes = 0;  // of all tensors, packed layers as Fovea holds them
  std::map<std::string, std::int64_t> bytes_by_type;  // "Q4_K" -> bytes
  // What became of packed layers ("gptq: 224 matrices of 4 bits as Q4_0 (exactly)"); empty without any.
  Phrase conversion;
  bool has_chat_template = false;
  bool can_switch_thinking = false;  // the template asks whether the model shall think
  bool has_effort = false;           // … and how hard
};

// A GGUF file (any part of a split one) or a Hugging Face folder.
Result<ModelInfo> inspect(const std::filesystem::path& model);

}  // namespace fovea
