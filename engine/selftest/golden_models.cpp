#include "engine/selftest/golden_models.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/core/result.h"
#include "engine/selftest/errors.h"

// The files' bytes between labels in the read-only data.
#define FOVEA_CARRY(label, file)                \
  asm(".pushsection .rodata\n"                  \
      ".balign 64\n"                            \
      ".globl fovea_" label                     \
      "_begin\n"                                \
      "fovea_" label                            \
      "_begin:\n"                               \
      ".incbin \"" FOVEA_GOLDEN_MODELS "/" file \
      "\"\n"                                    \
      ".globl fovea_" label                     \
      "_end\n"                                  \
      "fovea_" label                            \
      "_end:\n"                                 \
      ".byte 0\n"                               \
      ".popsection\n")
FOVEA_CARRY("selftest_cases", "cases.json");
FOVEA_CARRY("selftest_floats", "qwen3_moe-0-gguf.gguf");
FOVEA_CARRY("selftest_floats_logits", "qwen3_moe-0.npy");
FOVEA_CARRY("selftest_experts", "experts.gguf");
FOVEA_CARRY("selftest_experts_logits", "experts.npy");
#undef FOVEA_CARRY
extern "C" const std::byte fovea_selftest_cases_begin[], fovea_selftest_cases_end[];
extern "C" const std::byte fovea_selftest_floats_begin[], fovea_selftest_floats_end[];
extern "C" const std::byte fovea_selftest_floats_logits_begin[], fovea_selftest_floats_logits_end[];
extern "C" const std::byte fovea_selftest_experts_begin[], fovea_selftest_experts_end[];
extern "C" const std::byte fovea_selftest_experts_logits_begin[], fovea_selftest_experts_logits_end[];

namespace fovea::selftest {
namespace {

using Contents = std::span<const std::byte>;

std::unexpected<Error> damaged() {
  return fail(phrases::selftest_models_place(), errors::selftest_models_damaged());
}

// NumPy's format, version 1: magic (6), version (2), length of the header (2), header, values.
Result<std::vector<float>> read_npy(Contents file) {
  constexpr std::size_t before = 10;
  if (file.size() < before) return damaged();
  const std::size_t header = std::to_integer<std::size_t>(file[8]) | std::to_integer<std::size_t>(file[9])
                                                                         << 8;
  if (before + header > file.size()) return damaged();
  const Contents data = file.subspan(before + header);
  std::vector<float> values(data.size() / sizeof(float));
  std::memcpy(values.data(), data.data(), values.size() * sizeof(float));
  return values;
}

Result<std::vector<TokenId>> tokens_of(std::string_view name) {
  const auto* const text = reinterpret_cast<const char*>(fovea_selftest_cases_begin);
  const auto cases =
      nlohmann::json::parse(text, reinterpret_cast<const char*>(fovea_selftest_cases_end), nullptr, false);
  if (!cases.is_array()) return damaged();
  for (const auto& one : cases) {
    if (!one.is_object() || one.value("name", "") != name || !one.contains("tokens")) continue;
    std::vector<TokenId> tokens;
    for (const auto& token : one["tokens"]) {
      if (!token.is_number_integer()) return damaged();
      tokens.push_back(token.get<TokenId>());
    }
    return tokens;
  }
  return damaged();
}

Result<GoldenModel> golden_model(std::string_view name, Contents file, Contents logits) {
  GoldenModel model{.name = name, .file = file, .tokens = {}, .logits = {}};
  FOVEA_TRY(model.tokens, tokens_of(name));
  FOVEA_TRY(model.logits, read_npy(logits));
  if (model.tokens.empty() || model.logits.empty()) return damaged();
  return model;
}

}  // namespace

Result<GoldenModel> quantised_experts() {
  FOVEA_TRY(GoldenModel model,
            golden_model("experts", {fovea_selftest_experts_begin, fovea_selftest_experts_end},
                         {fovea_selftest_experts_logits_begin, fovea_selftest_experts_logits_end}));
  // Activations become blocks of 8 bits: what two layers make of that stays below this; a wrong row, block or
  // expert is far above.
  double largest = 0;
  for (const float value : model.logits) largest = std::max(largest, std::abs(static_cast<double>(value)));
  model.tolerance = 0.03 * largest;
  return model;
}

Result<std::vector<GoldenModel>> golden_models() {
  FOVEA_TRY(GoldenModel floats,
            golden_model("qwen3_moe-0-gguf", {fovea_selftest_floats_begin, fovea_selftest_floats_end},
                         {fovea_selftest_floats_logits_begin, fovea_selftest_floats_logits_end}));
  floats.tolerance = 1e-4;
  FOVEA_TRY(GoldenModel experts, quantised_experts());
  return std::vector<GoldenModel>{std::move(floats), std::move(experts)};
}

}  // namespace fovea::selftest
