// What a Hugging Face folder says of weights that lie in it as packed integers: config.json's
// "quantization_config".
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "engine/api/error.h"

namespace fovea::checkpoint {

enum class PackedLayout : std::uint8_t {
  gptq,   // codes [in · bits / 32, out]: a stream of bits along the inputs, zero points along the outputs
  awq,    // codes [in, out / 8]: each word holds eight outputs, the even ones first
  mxfp4,  // blocks and scales of gpt-oss' experts
};

struct Quantization {
  std::string method;  // as the file names it: "gptq", "awq", "auto-round"
  PackedLayout layout = PackedLayout::gptq;
  bool zeros_less_one = false;  // GPTQ's first format stores each zero point less one
  int bits = 4;                 // of most layers: a layer's own follow from its shapes
  std::int64_t group_size = 0;  // inputs that share a scale and a zero point, likewise; 0: all
  bool symmetric = false;       // every zero point is the middle of the codes, in every layer
};

// `configuration` is config.json's object; nothing when it has no "quantization_config". A method, a format
// or an option that Fovea does not read is refused by name. `file` is for errors.
Result<std::optional<Quantization>> read_quantization(const nlohmann::json& configuration,
                                                      const std::filesystem::path& file);

// The same for the text of such a "quantization_config" alone: older folders keep it in quantize_config.json.
Result<Quantization> read_quantization_object(const nlohmann::json& object,
                                              const std::filesystem::path& file);

}  // namespace fovea::checkpoint
