// A tiny model with experts, loaded with and without a precision policy.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/api/engine.h"
#include "tests/support/test.h"

namespace fovea::tests::expert_model {

inline constexpr std::int64_t layers = 2, experts = 8, used = 2;  // in each layer
inline constexpr std::int64_t vocabulary = 37;

inline LoadOptions plain_request() {
  return {.model = golden("models/experts.gguf"),
          .context = 64,
          .kv = KvType::f32,
          .threads = 2,
          .chunk = 3,
          .need_tokenizer = false};
}

inline LoadOptions with_policy(const std::filesystem::path& stores, PolicyKind policy,
                               std::vector<std::string> tiers, std::int64_t budget = 0) {
  LoadOptions load = plain_request();
  load.precision.policy = policy;
  load.precision.tiers = std::move(tiers);
  load.precision.budget_bytes = budget;
  load.precision.traffic_gb_per_s = 1;  // not measured
  load.precision.stores_folder = stores;
  return load;
}

inline std::unique_ptr<Engine> load(const LoadOptions& request) {
  auto engine = Engine::load(request);
  if (!engine) qFatal("%s", engine.error().message().c_str());
  return *std::move(engine);
}

inline std::vector<TokenId> some_tokens(std::int64_t count) {
  std::vector<TokenId> tokens(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < tokens.size(); ++i)
    tokens[i] = static_cast<TokenId>((i * 37 + 11) % vocabulary);
  return tokens;
}

inline std::vector<float> logits(Engine& engine, std::span<const TokenId> tokens) {
  std::vector<float> all;
  const auto done = engine.logits(tokens, [&](std::int64_t, std::span<const float> row) {
    all.insert(all.end(), row.begin(), row.end());
  });
  if (!done) qFatal("%s", done.error().message().c_str());
  return all;
}

}  // namespace fovea::tests::expert_model
