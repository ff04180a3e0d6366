// What a loaded model consists of at run time. Members stand in the order in which they refer to each other.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <unordered_set>
#include <vector>

#include "engine/api/engine.h"
#include "engine/chat/channels.h"
#include "engine/chat/control_tokens.h"
#include "engine/chat/form_masks.h"
#include "engine/chat/tool_calls.h"
#include "engine/layers/forward.h"
#include "engine/models/host_weights.h"
#include "engine/models/model.h"
#include "engine/runtime/energy.h"
#include "engine/runtime/errors.h"
#include "engine/runtime/kv_cache.h"
#include "engine/runtime/precision_control.h"
#include "engine/runtime/unit_watch.h"
#include "engine/text/tokenizer.h"
#include "kernels/api/device.h"

namespace fovea::runtime {

class RoutingRecord;

class Scheduler;

// The next tokens of one sequence in a pass.
struct PassPart {
  Sequence* sequence = nullptr;
  std::span<const TokenId> tokens;
  layers::LogitsWanted wanted = layers::LogitsWanted::last;
  std::int64_t last_tokens = 1;  // whose logits are wanted, where the last are
  float temperature = 1;         // of what is known of the likely tokens
  bool is_prompt = false;
  bool hidden = false;  // of all of them the last layer's output is wanted, and nobody goes on from here
  bool record = false;  // what the last of them uses

  std::int64_t wanted_rows() const;
  std::int64_t hidden_rows() const { return hidden ? std::ssize(tokens) : 0; }
};

}  // namespace fovea::runtime

namespace fovea {

struct Engine::Parts {
  LoadPlan plan;
  ModelInfo info;
  // Null when loaded without a tokeniser; then `tokenizer` is null and `control` has no names.
  std::shared_ptr<const TextModel> text;
  const text::Tokenizer* tokenizer = nullptr;
  chat::ControlTokens control{std::vector<std::string>{}};
  std::optional<chat::ChannelTokens> channels;  // in which the model writes its answers
  std::optional<chat::CallSyntax> call_syntax;  // nothing: it is given no tools
  std::unordered_set<TokenId> end_of_generation;
  std::unordered_set<TokenId> breakers;    // where DRY begins anew
  std::unique_ptr<chat::FormMasks> forms;  // null as `tokenizer`

  const kernels::Device* device = nullptr;
  const kernels::Device* first_device = nullptr;  // another card, that computes the first layers; or null
  std::unique_ptr<kernels::Stream> stream;
  std::optional<models::Model> model;
  std::optional<models::Model> first_layers;              // that the processor or the first card computes
  std::optional<models::HostWeights> host_weights;        // what else it computes with, beside the device …
  std::optional<models::HostWeights> first_host_weights;  // … and beside the first card
  std::unique_ptr<runtime::PrecisionControl> precision;   // null: every weight as the file has it
  std::unique_ptr<runtime::UnitWatch> watch;              // null: … and there are no experts
  std::optional<layers::Forward> forward;
  std::unique_ptr<runtime::KvCache> cache;
  std::unique_ptr<runtime::EnergyMeter> energy;

  // Whoever runs passes, or reads what they change, holds it; Scheduler::run takes it for each of its own.
  mutable std::mutex turn;
  std::unique_ptr<runtime::Scheduler> scheduler;

  // Runs one pass over tokens behind the ends of different sequences, within pass_limits(), and commits
  // them. The logits are valid until the next pass, one part's rows behind the other's; of likely
  // tokens, where no part wants more, and of hidden rows, forward knows more. `record` keeps what the
  // routers chose. ErrorKind::cancelled, and nothing is committed, when stopped.
  Result<std::span<const float>> pass(std::span<const runtime::PassPart> of, std::int64_t rotary_context,
                                      const std::stop_token& stop, runtime::RoutingRecord* record = nullptr);
  // Whether all is well on the device.
  Result<void> check_device() const;
  // Of whichever place computes it.
  const models::LayerWeights& layer(std::int64_t index) const {
    const models::Model& has_it = index < model->range().first ? *first_layers : *model;
    return has_it.layers()[static_cast<std::size_t>(index)];
  }
  std::vector<ExpertLayer> expert_layers() const;
  // Of main memory beside a card, …
  std::int64_t host_weight_bytes() const {
    return (first_layers && !first_device ? first_layers->weight_bytes() : 0) +
           (host_weights ? host_weights->bytes() : 0) +
           (first_host_weights ? first_host_weights->bytes() : 0);
  }
  // … and of another card, all and its arena.
  std::int64_t first_card_bytes() const {
    if (!first_device) return 0;
    return first_layers->weight_bytes() + cache->first_bytes() + forward->first_bytes() +
           first_arena_bytes() + (precision ? precision->cards().front().own_bytes() : 0);
  }
  std::int64_t first_arena_bytes() const {
    return first_device && precision ? precision->cards().front().residency->arena().bytes() : 0;
  }

  // Of prompts, in the next pass: the plan's, or fewer where a policy moves much.
  std::int64_t prompt_pass_tokens() const;
  // So many of a prompt's `left` next tokens, `most` at the most, that an answer does not depend on how it is
  // divided: where there are recurrent layers a multiple of what they take at once, and to where the state is
  // saved and not beyond.
  std::int64_t slice(const runtime::Sequence& sequence, std::int64_t left, std::int64_t most) const;
  // Runs `tokens` in chunks and calls after(done) behind each; the logits of the last token.
  // ErrorKind::cancelled when `stop` was requested; what was computed until then is in the sequence.
  using AfterChunk = std::function<void(std::int64_t done)>;
  Result<std::span<const float>> prefill(runtime::Sequence& sequence, std::span<const TokenId> tokens,
                                         const AfterChunk& after, const std::stop_token& stop);
};

// What the standard library throws for want of memory or threads becomes an error.
template <class Function>
auto exhaustion_as_error(Function&& function) -> decltype(function()) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return fail(phrases::engine_place(), errors::no_more_memory());
  } catch (const std::system_error& error) {
    return fail(phrases::engine_place(), errors::no_more_threads(Said{error.code().message()}));
  }
}

}  // namespace fovea
