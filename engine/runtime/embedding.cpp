#include "engine/runtime/embedding.h"

#include <utility>

#include "engine/core/result.h"
#include "engine/runtime/errors.h"
#include "engine/runtime/scheduler.h"

namespace fovea::runtime {
namespace {

Result<void> check(std::span<const TokenId> tokens, std::int64_t context, std::int64_t vocabulary) {
  const std::int64_t length = std::ssize(tokens);
  if (length < 1) return fail(errors::no_tokens());
  if (length > context) return fail(errors::text_beyond_context(length, context));
  for (const TokenId token : tokens)
    if (token < 0 || token >= vocabulary) return fail(errors::token_beyond_vocabulary(token, vocabulary));
  return {};
}

}  // namespace

Result<std::unique_ptr<Embedding>> Embedding::create(const Engine::Parts& parts,
                                                     std::span<const TokenId> tokens, std::size_t number,
                                                     std::stop_token stop) {
  if (auto sound = check(tokens, parts.plan.options.context, parts.model->config().vocabulary); !sound)
    return std::unexpected(std::move(sound).error().at(phrases::numbered_text_place(number)));
  return std::unique_ptr<Embedding>(new Embedding(tokens, std::move(stop)));
}

Embedding::Embedding(std::span<const TokenId> tokens, std::stop_token stop)
    : Computation(std::move(stop)), tokens_(tokens) {}

void Embedding::begin(Engine::Parts& parts) {
  sequence_.emplace(parts.cache->begin({}, 0));
  sums_.assign(static_cast<std::size_t>(parts.model->config().hidden), 0);
  if (parts.watch) parts.watch->begin_prompt();
}

void Embedding::suspend() {
  leave();
  sequence_.reset();
}

// Of what was read nothing stays in the cache.
void Embedding::leave() {
  if (sequence_) sequence_->discard();
}

PassPart Embedding::next(const Engine::Parts& parts, std::int64_t most) {
  const std::int64_t read = sequence_->length();
  taken_ = parts.slice(*sequence_, std::ssize(tokens_) - read, most);
  return {.sequence = &*sequence_,
          .tokens = tokens_.subspan(static_cast<std::size_t>(read), static_cast<std::size_t>(taken_)),
          .wanted = layers::LogitsWanted::none,
          .last_tokens = 0,
          .is_prompt = true,
          .hidden = true};
}

// Token by token, in double precision: however it is divided into slices, the sums are the same.
Result<void> Embedding::take(Engine::Parts&, const PassRows& rows) {
  const std::size_t d = sums_.size();
  for (std::size_t at = 0; at < rows.hidden.size(); at += d)
    for (std::size_t i = 0; i < d; ++i) sums_[i] += static_cast<double>(rows.hidden[at + i]);
  if (sequence_->length() < std::ssize(tokens_)) return {};
  leave();
  end();
  return {};
}

void Embedding::cancel(Engine::Parts&) {
  leave();
  fail(errors::stopped_on_request());
}

Result<std::vector<float>> Embedding::mean() && {
  if (error_) return std::unexpected(std::move(*error_));
  std::vector<float> values;
  for (const double sum : sums_)
    values.push_back(static_cast<float>(sum / static_cast<double>(tokens_.size())));
  return values;
}

}  // namespace fovea::runtime

namespace fovea {

Result<std::vector<std::vector<float>>> Engine::embed(std::span<const std::vector<TokenId>> texts,
                                                      std::stop_token stop) {
  return exhaustion_as_error([&]() -> Result<std::vector<std::vector<float>>> {
    std::vector<std::unique_ptr<runtime::Embedding>> made;
    std::vector<runtime::Computation*> all;
    for (const std::vector<TokenId>& text : texts) {
      FOVEA_TRY(made.emplace_back(), runtime::Embedding::create(*parts_, text, all.size() + 1, stop));
      all.push_back(made.back().get());
    }
    parts_->scheduler->run(all, {});
    std::vector<std::vector<float>> means;
    for (const auto& each : made) {
      FOVEA_TRY(means.emplace_back(), std::move(*each).mean());
    }
    return means;
  });
}

}  // namespace fovea
