// How a model is loaded: everything that somebody may choose. Plain data; what a zero or an empty text leaves
// open is chosen by the planner (engine/api/plan.h).
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/api/precision.h"
#include "engine/api/request.h"

namespace fovea {

struct LoadOptions {
  std::filesystem::path model = {};
  std::int64_t context = 0;         // tokens of KV cache; 0: the model's, at most 8,192
  bool context_may_shrink = false;  // to what the model is made for; else the plan says so
  KvType kv = KvType::f16;
  // By the names that devices() gives: "cpu", "cuda:0"; empty: automatic_device. Or two cards,
  // "cuda:0,cuda:1": the first one has the first layers, as many as the plan says.
  std::string device = {};
  int threads = 0;  // 0: the physical cores
  // Tokens in one prefill pass; 0: 256, or 128 where experts move; on a GPU twice that, or 2,048 where others
  // stay off it and come for prompts.
  std::int64_t chunk = 0;
  bool chunk_may_grow = false;  // to those, since nobody has chosen it
  // Of the first layers, that the processor computes whole beside a card, with their cache: as -ngl leaves
  // them there; or the first of two cards. Decided by the plan.
  std::int64_t host_layers = 0;
  // Answers that are written at once, 1 … max_sequences, and the tokens of KV cache that they share; 0: as
  // many as one context has. What does not fit waits.
  std::int64_t sequences = 1;
  std::int64_t cache_tokens = 0;
  bool need_tokenizer = true;
  PrecisionRequest precision = {};

  bool operator==(const LoadOptions&) const = default;
};

// As flags, settings and --json name them.
inline constexpr std::array<std::pair<KvType, const char*>, 3> kv_names{
    {{KvType::f32, "f32"}, {KvType::f16, "f16"}, {KvType::q8, "q8"}}};
inline constexpr std::array<std::pair<PolicyKind, const char*>, 7> policy_names{
    {{PolicyKind::none, "none"},
     {PolicyKind::static_tiers, "static"},
     {PolicyKind::dynaexq, "dynaexq"},
     {PolicyKind::fovea, "fovea"},
     {PolicyKind::offload, "offload"},
     {PolicyKind::flexquant, "flexquant"},
     {PolicyKind::pmpd, "pmpd"}}};

// "none" for PolicyKind::automatic: what is left open has no name.
template <class Value, std::size_t n>
constexpr const char* name_in(const std::array<std::pair<Value, const char*>, n>& names, Value value) {
  for (const auto& [known, name] : names)
    if (known == value) return name;
  return names.front().second;
}
template <class Value, std::size_t n>
constexpr std::optional<Value> named_in(const std::array<std::pair<Value, const char*>, n>& names,
                                        std::string_view name) {
  for (const auto& [value, known] : names)
    if (known == name) return value;
  return std::nullopt;
}

}  // namespace fovea
