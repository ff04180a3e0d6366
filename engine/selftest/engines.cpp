#include "engine/selftest/engines.h"

#include <cmath>
#include <fstream>
#include <string>

#include "engine/core/result.h"
#include "engine/selftest/errors.h"

namespace fovea::selftest {

Result<LoadOptions> request_for(const GoldenModel& model, const Bench& bench) {
  const auto path = bench.folder / (std::string(model.name) + ".gguf");
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(model.file.data()), std::ssize(model.file));
  file.close();
  if (!file) return fail(phrases::file_place(path), errors::selftest_cannot_write());
  LoadOptions request{.model = path, .context = 64, .kv = KvType::f32};
  request.threads = bench.threads;
  request.need_tokenizer = false;
  return request;
}

Result<std::vector<float>> all_logits(Engine& engine, std::span<const TokenId> tokens,
                                      const std::stop_token& stop) {
  std::vector<float> all;
  FOVEA_CHECK(engine.logits(
      tokens,
      [&](std::int64_t, std::span<const float> row) { all.insert(all.end(), row.begin(), row.end()); },
      stop));
  return all;
}

namespace {

bool is_wrong(float logit, float expected, const GoldenModel& model) {
  return !(std::abs(static_cast<double>(logit) - static_cast<double>(expected)) <= model.tolerance);
}

}  // namespace

Phrase wrong_logit(std::span<const float> logits, const GoldenModel& model) {
  if (logits.size() != model.logits.size())
    return phrases::selftest_logit_count(logits.size(), model.logits.size());
  for (std::size_t i = 0; i < logits.size(); ++i)
    if (is_wrong(logits[i], model.logits[i], model))
      return phrases::selftest_logit(i, logits[i], model.logits[i], model.tolerance);
  return {};
}

std::int64_t wrong_rows(std::span<const float> logits, const GoldenModel& model) {
  const std::size_t rows = model.tokens.size(), vocabulary = model.logits.size() / rows;
  if (logits.size() != model.logits.size()) return std::ssize(model.tokens);
  std::int64_t wrong = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    bool any = false;
    for (std::size_t i = row * vocabulary; i < (row + 1) * vocabulary; ++i)
      any = any || is_wrong(logits[i], model.logits[i], model);
    wrong += any ? 1 : 0;
  }
  return wrong;
}

}  // namespace fovea::selftest
