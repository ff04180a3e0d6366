// One text on its way to its embedding: read in slices beside others' answers, and not kept in the cache,
// which has none of what is wanted of it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/api/text.h"
#include "engine/runtime/computation.h"

namespace fovea::runtime {

class Embedding final : public Computation {
 public:
  // The tokens outlive it. Errors as Engine::embed, which say that it is text `number`.
  static Result<std::unique_ptr<Embedding>> create(const Engine::Parts& parts,
                                                   std::span<const TokenId> tokens, std::size_t number,
                                                   std::stop_token stop);

  std::int64_t expected_tokens() const override { return std::ssize(tokens_); }
  void begin(Engine::Parts& parts) override;
  void suspend() override;
  bool is_reading() const override { return true; }
  PassPart next(const Engine::Parts& parts, std::int64_t most) override;
  Result<void> take(Engine::Parts& parts, const PassRows& rows) override;
  void cancel(Engine::Parts& parts) override;

  Result<std::vector<float>> mean() &&;  // [d]

 private:
  Embedding(std::span<const TokenId> tokens, std::stop_token stop);
  void leave();

  std::span<const TokenId> tokens_;
  std::int64_t taken_ = 0;    // of them by the pass that runs
  std::vector<double> sums_;  // [d], over the tokens that were read
};

}  // namespace fovea::runtime
