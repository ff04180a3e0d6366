// Logits of whole sequences, and what bench times.
#include <algorithm>
#include <chrono>
#include <string>

#include "engine/api/engine.h"
#include "engine/core/result.h"
#include "engine/runtime/errors.h"
#include "engine/runtime/parts.h"
#include "engine/runtime/random.h"

namespace fovea {
namespace {

using Clock = std::chrono::steady_clock;

Result<void> check_length(std::int64_t tokens, std::int64_t context) {
  if (tokens < 1) return fail(phrases::option_place("tokens"), errors::no_tokens());
  if (tokens <= context) return {};
  return fail(phrases::option_place("tokens"), errors::tokens_beyond_context(tokens, context));
}

Result<void> check_tokens(std::span<const TokenId> tokens, std::int64_t vocabulary) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] < 0 || tokens[i] >= vocabulary)
      return fail(phrases::token_place(i), errors::token_beyond_vocabulary(tokens[i], vocabulary));
  }
  return {};
}

// Arbitrary, the same every time, and spread over the vocabulary so that a router's choices vary.
std::vector<TokenId> arbitrary_tokens(std::int64_t count, std::int64_t vocabulary) {
  runtime::Random random(1);
  std::vector<TokenId> tokens(static_cast<std::size_t>(count));
  for (TokenId& token : tokens)
    token = static_cast<TokenId>(random.next() % static_cast<std::uint64_t>(vocabulary));
  return tokens;
}

std::int64_t multiply_adds(const kernels::Weight& weight) {
  return weight.rows * weight.columns;
}

std::int64_t multiply_adds(const kernels::Expert& expert) {
  return multiply_adds(expert.gate) + multiply_adds(expert.up) + multiply_adds(expert.down);
}

std::int64_t bytes(const kernels::Expert& expert) {
  std::int64_t sum = 0;
  for (const kernels::Weight* weight : {&expert.gate, &expert.up, &expert.down})
    sum += weight->rows * kernels::row_bytes(weight->type, weight->columns);
  return sum;
}

}  // namespace

TokenCost Engine::cost() const {
  const models::Model& model = *parts_->model;
  const bool on_cards = parts_->first_device != nullptr;
  const std::int64_t bytes_before = parts_->first_layers ? parts_->first_layers->bytes_per_token() : 0;
  TokenCost cost{.weight_bytes = model.bytes_per_token() + bytes_before,
                 .kv_bytes_per_token = parts_->cache->token_bytes(false, on_cards),
                 .window_bytes_per_token = parts_->cache->token_bytes(true, on_cards),
                 .window = parts_->cache->settings().windows.window,
                 .output_multiply_adds = multiply_adds(model.output())};
  if (!on_cards) cost.host_weight_bytes = bytes_before;
  for (const models::LayerConfig& layer : model.config().layers) {
    if (const models::AttentionConfig* const attention = layer.attention())
      cost.attention_multiply_adds += 2 * attention->heads * attention->head_dim;
  }
  const std::int64_t used = model.config().experts_used();
  for (std::int64_t index = 0; index < model.config().layer_count(); ++index) {
    const models::LayerWeights& layer = parts_->layer(index);
    for (const kernels::Weight* weight :
         {&layer.attention.q, &layer.attention.k, &layer.attention.v, &layer.attention.output, &layer.delta.z,
          &layer.delta.a, &layer.delta.b, &layer.router, &layer.shared_gate})
      cost.multiply_adds += multiply_adds(*weight);
    cost.multiply_adds += multiply_adds(layer.shared);
    if (layer.experts.empty()) continue;
    cost.multiply_adds += used * multiply_adds(layer.experts.front());
    cost.expert_bytes += used * bytes(layer.experts.front());
  }
  for (const std::optional<models::HostWeights>* weights :
       {&parts_->first_host_weights, &parts_->host_weights}) {
    for (std::int64_t index = 0; *weights && index < model.config().layer_count(); ++index) {
      const models::HostWeights::Layer& layer = (*weights)->layer(index);
      // Every expert used alike.
      const std::int64_t experts = std::max<std::int64_t>(1, std::ssize(layer.experts));
      std::int64_t routed = 0;
      for (const kernels::Expert& expert : layer.experts) routed += expert.gate ? bytes(expert) : 0;
      cost.host_weight_bytes += routed * used / experts + bytes(layer.shared);
    }
  }
  return cost;
}

Result<void> Engine::logits(std::span<const TokenId> tokens, const LogitsSink& row, std::stop_token stop,
                            std::int64_t first_row) {
  Parts& parts = *parts_;
  const std::lock_guard turn(parts.turn);
  const std::int64_t vocabulary = parts.model->config().vocabulary;
  const std::int64_t length = std::ssize(tokens);
  FOVEA_CHECK(check_length(length, parts.plan.options.context));
  FOVEA_CHECK(check_tokens(tokens, vocabulary));
  runtime::Sequence sequence = parts.cache->begin({}, 0);
  // Where a policy tells an answer from its prompt, that is what comes behind first_row, read token by token.
  const bool answers = lowers_layers(parts.plan.policy());
  const std::int64_t watched = parts.precision ? parts.precision->prompt_tokens_watched() : 0;
  if (answers) parts.watch->begin_prompt();
  while (sequence.length() < length) {
    const std::int64_t first = sequence.length();
    std::int64_t count = std::min(length - first, parts.prompt_pass_tokens());
    if (answers) count = first < first_row ? std::min(count, first_row - first) : 1;
    const bool wanted = first + count > first_row;
    const std::int64_t watched_here =
        wanted ? 0 : std::clamp<std::int64_t>(first + count - (first_row - watched), 0, count);
    const runtime::PassPart part{
        .sequence = &sequence,
        .tokens = tokens.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)),
        .wanted = wanted             ? layers::LogitsWanted::all
                  : watched_here > 0 ? layers::LogitsWanted::last
                                     : layers::LogitsWanted::none,
        .last_tokens = watched_here,
        .is_prompt = answers && first < first_row};
    FOVEA_TRY(const auto logits, parts.pass({&part, 1}, length, stop));
    for (std::int64_t position = std::max(first, first_row); wanted && position < first + count; ++position)
      row(position, logits.subspan(static_cast<std::size_t>((position - first) * vocabulary),
                                   static_cast<std::size_t>(vocabulary)));
  }
  sequence.discard();
  return {};
}

namespace {

// Back to the context, of which recurrent states and windows may need a part again.
Result<void> return_to(Engine::Parts& parts, runtime::Sequence& sequence, std::span<const TokenId> context,
                       const std::stop_token& stop) {
  sequence.truncate(std::ssize(context));
  if (sequence.length() == std::ssize(context)) return {};
  FOVEA_CHECK(
      parts.prefill(sequence, context.subspan(static_cast<std::size_t>(sequence.length())), {}, stop));
  return {};
}

}  // namespace

Result<void> Engine::branch_logits(std::span<const TokenId> context,
                                   std::span<const std::vector<TokenId>> continuations, const BranchSink& row,
                                   std::stop_token stop) {
  Parts& parts = *parts_;
  const std::lock_guard turn(parts.turn);
  const auto vocabulary = static_cast<std::size_t>(parts.model->config().vocabulary);
  FOVEA_CHECK(check_length(std::ssize(context), parts.plan.options.context));
  FOVEA_CHECK(check_tokens(context, parts.model->config().vocabulary));
  for (const std::vector<TokenId>& each : continuations) {
    FOVEA_CHECK(check_length(std::ssize(each), parts.plan.options.context));
    FOVEA_CHECK(check_length(std::ssize(context) + std::ssize(each) - 1, parts.plan.options.context));
    FOVEA_CHECK(check_tokens(each, parts.model->config().vocabulary));
  }
  runtime::Sequence sequence = parts.cache->begin(context, std::ssize(context) - 1);
  FOVEA_TRY(const std::span<const float> behind_context,
            parts.prefill(sequence, context.subspan(static_cast<std::size_t>(sequence.length())), {}, stop));
  for (std::size_t i = 0; i < continuations.size(); ++i) row(i, 0, behind_context);
  sequence.save_state();
  for (std::size_t i = 0; i < continuations.size(); ++i) {
    // The last token's logits predict what nobody asks for.
    std::span<const TokenId> rest = std::span(continuations[i]).first(continuations[i].size() - 1);
    if (rest.empty()) continue;
    FOVEA_CHECK(return_to(parts, sequence, context, stop));
    for (std::size_t k = 1; !rest.empty();) {
      const std::size_t count = std::min(rest.size(), static_cast<std::size_t>(parts.prompt_pass_tokens()));
      const runtime::PassPart part{
          .sequence = &sequence, .tokens = rest.first(count), .wanted = layers::LogitsWanted::all};
      FOVEA_TRY(const auto logits, parts.pass({&part, 1}, parts.plan.options.context, stop));
      for (std::size_t j = 0; j < count; ++j, ++k) row(i, k, logits.subspan(j * vocabulary, vocabulary));
      rest = rest.subspan(count);
    }
  }
  return {};
}

namespace {

// A sequence of these tokens, computed or found.
Result<runtime::Sequence> sequence_of(Engine::Parts& parts, std::span<const TokenId> tokens, bool again) {
  runtime::Sequence sequence = parts.cache->begin(tokens, again ? std::ssize(tokens) : 0);
  if (sequence.length() == std::ssize(tokens)) return sequence;
  FOVEA_CHECK(parts.prefill(sequence, tokens.subspan(static_cast<std::size_t>(sequence.length())), {}, {}));
  if (again) sequence.save_state();
  return sequence;
}

}  // namespace

Result<double> Engine::time_prefill(std::int64_t count, std::int64_t depth, bool again) {
  Parts& parts = *parts_;
  const std::lock_guard turn(parts.turn);
  FOVEA_CHECK(check_length(depth + count, parts.plan.options.context));
  const auto tokens = arbitrary_tokens(depth + count, parts.model->config().vocabulary);
  const auto before = std::span(tokens).first(static_cast<std::size_t>(depth));
  FOVEA_TRY(runtime::Sequence sequence, sequence_of(parts, before, again));
  const auto start = Clock::now();
  FOVEA_CHECK(parts.prefill(sequence, std::span(tokens).last(static_cast<std::size_t>(count)), {}, {}));
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (!again) sequence.discard();
  return seconds;
}

Result<std::vector<double>> Engine::time_decode(std::int64_t depth, std::int64_t count, bool again) {
  Parts& parts = *parts_;
  const std::lock_guard turn(parts.turn);
  FOVEA_CHECK(check_length(depth + count, parts.plan.options.context));
  const auto tokens = arbitrary_tokens(depth + count, parts.model->config().vocabulary);
  const auto before = std::span(tokens).first(static_cast<std::size_t>(depth));
  FOVEA_TRY(runtime::Sequence sequence, sequence_of(parts, before, again));
  std::vector<double> seconds;
  for (std::int64_t step = 0; step < count; ++step) {
    const auto start = Clock::now();
    const runtime::PassPart part{.sequence = &sequence,
                                 .tokens = {&tokens[static_cast<std::size_t>(depth + step)], 1},
                                 .wanted = layers::LogitsWanted::top_k};
    FOVEA_CHECK(parts.pass({&part, 1}, parts.plan.options.context, {}));
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  if (!again) sequence.discard();
  return seconds;
}

}  // namespace fovea
