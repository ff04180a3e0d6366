// A loaded model. Any threads may call it. Calls of generate() and embed() share the passes, as many at once
// as were asked for when it was loaded; every other call that computes waits until no pass runs, and answers
// wait for it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "engine/api/error.h"
#include "engine/api/load_options.h"
#include "engine/api/model_info.h"
#include "engine/api/plan.h"
#include "engine/api/precision.h"
#include "engine/api/progress.h"
#include "engine/api/request.h"
#include "engine/api/snapshot.h"
#include "engine/api/text.h"
#include "engine/api/token_record.h"
#include "engine/api/trace.h"

namespace fovea {

// Answers of generate() and texts of embed().
struct EngineLoad {
  std::int64_t answering = 0, waiting = 0;
};

struct MemoryUse {  // bytes
  std::int64_t weights = 0;
  std::int64_t kv_cache = 0;  // of the layers that see the whole context
  // What some layers keep instead; on a processor with what there is to return to: keys and values of those
  // with a window, and recurrent states.
  std::int64_t windows = 0;
  std::int64_t states = 0;
  std::int64_t activations = 0;
  std::int64_t host_weights = 0;  // that the processor computes with beside a GPU; not on the device
  std::int64_t host_cache = 0;    // versions that swaps have read and that are kept there, now
  // Beside a GPU, pinned: what passes exchange with it, what windows and states return to, swaps; and cache
  // and activations of layers that the processor computes as a whole.
  std::int64_t host_buffers = 0;
  std::int64_t first_card = 0;  // of two cards: all that the first one has

  std::int64_t on_device() const { return weights + kv_cache + windows + states + activations; }
};

// What one token costs, for shares of the machine's ceiling.
struct TokenCost {
  std::int64_t weight_bytes = 0;             // read
  std::int64_t kv_bytes_per_token = 0;       // of the device's KV cache, for each token of the context …
  std::int64_t window_bytes_per_token = 0;   // … and for each that a window sees, of the layers with one
  std::int64_t window = 0;                   // positions
  std::int64_t host_weight_bytes = 0;        // of weight_bytes, by the processor beside a GPU
  std::int64_t expert_bytes = 0;             // of weight_bytes, of the experts
  std::int64_t multiply_adds = 0;            // of the matrices, without attention and the output layer
  std::int64_t attention_multiply_adds = 0;  // for each token of the context
  std::int64_t output_multiply_adds = 0;     // of the output layer, once for each prefill

  // That a token behind so many others reads.
  std::int64_t kv_bytes(std::int64_t context) const {
    return kv_bytes_per_token * context + window_bytes_per_token * std::min(context, window);
  }
};

// What this machine can do with the engine's threads.
struct Ceiling {
  double read_gb_per_s = 0;
  bool read_is_measured = false;  // else what a GPU's clock and width promise
  double peak_gop_per_s = 0;      // of the arithmetic that prefill uses; a multiply-add is two operations
  double link_gb_per_s = 0;  // copies from pinned memory to the device's, as swaps are; 0: no memory for it
  double host_gb_per_s = 0;  // read by the processor, where it computes beside a GPU
};

// What to do where a plan does not hold any more: less memory is free, or the store is another.
enum class IfChanged : std::uint8_t {
  refuse,     // ErrorKind::invalid tells what changed
  plan_anew,  // LoadPlan::changed tells it
};

class Engine {
 public:
  // Plans, and carries the plan out. Progress counts bytes and names tensors. Cancelling returns
  // ErrorKind::cancelled.
  static Result<std::unique_ptr<Engine>> load(const LoadOptions&, const ProgressSink& = {},
                                              std::stop_token = {});
  // Carries out a plan that was shown.
  static Result<std::unique_ptr<Engine>> load(const LoadPlan&, IfChanged, const ProgressSink& = {},
                                              std::stop_token = {});
  ~Engine();

  const ModelInfo& info() const;
  // Null when loaded without a tokeniser. Any thread may use it, also when the engine is gone.
  std::shared_ptr<const TextModel> text() const;
  // What was carried out. Its options have zeros and automatic choices replaced by what was chosen.
  const LoadPlan& plan() const;
  const LoadOptions& settings() const { return plan().options; }
  MemoryUse memory() const;

  // Nothing without a policy.
  std::optional<PrecisionUse> precision() const;
  // What the experts do, and the arena that holds them where there is a policy: ten times a second while
  // somebody asks (and until two seconds later), and behind each generate(). From one thread at a time, also
  // while the engine works. False: nothing new, or a model without experts and without a policy.
  bool read_snapshot(Snapshot&);

  // Prefill progress counts prompt tokens. A cancelled request returns what was generated so far.
  // Several threads' calls are answered at once; what one says does not depend on the others, bit for bit,
  // where no policy moves units and the processor computes. Sinks are called on the calling thread, which may
  // run the passes of all: what they take the others wait for. Only where there is a sink for them are tokens
  // recorded; the answer is the same.
  Result<GenerateResult> generate(const GenerateRequest&, const TextSink& = {}, const ProgressSink& = {},
                                  std::stop_token = {}, const RecordSink& = {});

  // Several answers to one request at once, each with a seed of its own: what generate() says with that. The
  // prompt is read by the first; the others find it in the cache as far as it is kept there, unless the
  // request wants it computed again.
  Result<std::vector<GenerateResult>> generate_choices(const GenerateRequest&,
                                                       std::span<const std::uint64_t> seeds,
                                                       const ChoiceSink& = {}, std::stop_token = {});

  // What generate() reads for the request before it answers, whole: also where it is longer than the context.
  // Nothing is computed; any thread may ask.
  Result<std::vector<TokenId>> prompt(const GenerateRequest&) const;

  EngineLoad load() const;

  // Between two answers: finishes swaps that an answer began, as far as it can without waiting, for they are
  // else published by the passes of the next one. True: call it again in a moment, some are under way.
  bool rest();

  // Between two answers: a conversation goes on whose last answer left this profile (GenerateResult). Its
  // experts take their places in the next calls of rest(), before a token needs them. False: it is another
  // model's or damaged, or the policy expects nothing.
  bool recall(std::string_view use_profile);

  // Logits of the positions from first_row on of one sequence, computed in the load request's chunks, without
  // reuse of cached prefixes. `row(position, logits[vocabulary])` is called in order.
  using LogitsSink = std::function<void(std::int64_t position, std::span<const float> logits)>;
  Result<void> logits(std::span<const TokenId> tokens, const LogitsSink& row, std::stop_token = {},
                      std::int64_t first_row = 0);

  // Logits behind a context that several continuations share. It is computed once, or found in the cache,
  // where it stays. `row(i, k, logits[vocabulary])` has those that predict token k of continuation i: first
  // the first tokens' of all, then one continuation after the other. None of them may be empty.
  using BranchSink =
      std::function<void(std::size_t continuation, std::size_t k, std::span<const float> logits)>;
  Result<void> branch_logits(std::span<const TokenId> context,
                             std::span<const std::vector<TokenId>> continuations, const BranchSink& row,
                             std::stop_token = {});

  // Of each text the mean over its tokens of what the last layer gives behind the final norm, [d], as it is:
  // its length is not 1 (transformers' last_hidden_state, llama.cpp's --pooling mean). The texts are read
  // beside answers and leave nothing in the cache. ErrorKind::context_full and invalid say which text it is
  // before any is read; a cancelled call returns ErrorKind::cancelled.
  Result<std::vector<std::vector<float>>> embed(std::span<const std::vector<TokenId>> texts,
                                                std::stop_token = {});

  // The layers that have experts, and what their routers choose for one sequence in passes of at most `chunk`
  // tokens, which a policy observes as all others. Nothing stays in the cache.
  std::vector<ExpertLayer> expert_layers() const;
  // How the store's calibration, over many subjects, used those layers' experts: of each one the share of its
  // layer's uses, layer after layer. Empty: data-free, or there is no store of experts.
  std::span<const float> calibrated_uses() const;
  Result<void> routing(std::span<const TokenId> tokens, std::int64_t chunk, const RoutingSink& sink,
                       std::stop_token = {});

  // The measured primitives of `bench`: seconds for a prefill of `tokens`, and for each of `count` decode
  // steps, after a context of `depth` tokens. `again`: that context is found in the cache if an earlier call
  // left it, and is left there; else nothing stays in the cache.
  Result<double> time_prefill(std::int64_t tokens, std::int64_t depth = 0, bool again = false);
  Result<std::vector<double>> time_decode(std::int64_t depth, std::int64_t count, bool again = false);

  TokenCost cost() const;
  // Measures for about a second.
  Ceiling measure_ceiling();

  struct Parts;
  explicit Engine(std::unique_ptr<Parts> parts);

 private:
  std::unique_ptr<Parts> parts_;
};

}  // namespace fovea
