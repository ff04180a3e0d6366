// What can be asked of a loaded model, and what comes back. Plain data.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/api/text.h"

namespace fovea {

enum class KvType : std::uint8_t { f32, f16, q8 };

struct SamplingSettings {
  float temperature = 0.7F;          // 0: greedy
  std::int32_t top_k = 40;           // 0: off
  float top_p = 0.95F;               // 1: off
  float min_p = 0.05F;               // 0: off
  float repetition_penalty = 1;      // 1: off; divides positive, multiplies negative logits (CTRL, §4.1)
  float presence_penalty = 0;        // subtracted once for a token that occurred
  float frequency_penalty = 0;       // subtracted for each occurrence
  std::int32_t penalty_window = 64;  // last tokens that these three look at; -1: all
  // DRY ("don't repeat yourself"): a token that would make a passage of n tokens, said before, one longer
  // loses dry_multiplier · dry_base^(n − dry_allowed_length) where n ≥ dry_allowed_length. No passage goes
  // across a newline, colon, double quote, asterisk or control token, and none of these loses anything.
  float dry_multiplier = 0;             // 0: off
  float dry_base = 1.75F;               // 1 or more
  std::int32_t dry_allowed_length = 2;  // 1 or more
  std::int32_t dry_window = -1;         // last tokens in which passages are looked for; -1: all
  std::uint64_t seed = 0;               // 0: a random one, reported in the result
};

// What to do when prompt + answer do not fit the context.
enum class ContextOverflow : std::uint8_t {
  fail,              // ErrorKind::context_full
  drop_oldest_turns  // whole turns after the system messages, until half of the context is free for what
                     // follows; the last turn always stays. Reported in the result
};

// What an answer must look like; thoughts stay free. docs/grammar.md says what is supported.
struct AnswerForm {
  enum class Kind : std::uint8_t { free, json, json_schema, regex, gbnf };
  Kind kind = Kind::free;
  std::string text = {};  // of the schema, the expression or the grammar
};

enum class ToolChoice : std::uint8_t { automatic, none, required };

struct GenerateRequest {
  std::vector<Message> messages;          // rendered with the chat template …
  std::optional<std::string> raw_prompt;  // … unless a prompt is given as it is (control tokens parsed)
  SamplingSettings sampling;
  std::int32_t max_tokens = -1;   // -1: until the model stops or the context is full
  std::vector<std::string> stop;  // none of them is part of the answer; thoughts may hold them
  ContextOverflow overflow = ContextOverflow::fail;
  // What the chat template is told, where it asks for it (ModelInfo). Empty: what the template does by
  // itself.
  std::optional<bool> thinking;
  std::string effort;       // "low", "medium", "high"
  bool reuse_cache = true;  // false: the whole prompt is computed again
  // The last message is an answer that ended early: the text goes on where it stopped. The result holds only
  // what is added.
  bool continue_last = false;
  AnswerForm form = {};
  // Functions that the model may call, as a JSON array [{"type": "function", "function": {"name",
  // "description", "parameters"}}, …]; empty: none. A call is part of the answer's text, however the model
  // writes it: <tool_call>{"name": …, "arguments": {…}}</tool_call>, one for each.
  std::string tools = {};
  ToolChoice tool_choice = ToolChoice::automatic;
  std::string required_tool = {};   // with ToolChoice::required, the one that must be called; empty: any
  bool parallel_tool_calls = true;  // false: the answer ends behind its first call
  // Of each of the answer's tokens its log-probability and those of so many likeliest, at most 20, as the
  // model has them before the sampling settings; −1: none.
  std::int32_t top_logprobs = -1;
};

enum class FinishReason : std::uint8_t { stop_token, stop_string, max_tokens, context_full, cancelled };

struct Timings {
  std::int64_t prompt_tokens = 0;
  std::int64_t reused_tokens = 0;  // of the prompt, found in the KV cache
  double prefill_seconds = 0;
  std::int64_t generated_tokens = 0;
  double decode_seconds = 0;
  double tokens_per_second() const {  // decode
    return decode_seconds > 0 ? static_cast<double>(generated_tokens) / decode_seconds : 0;
  }
};

struct TokenChoice {
  struct Alternative {
    TokenId token = 0;
    float logprob = 0;  // in nats
    bool operator==(const Alternative&) const = default;
  };
  TokenId token = 0;
  float logprob = 0;
  std::vector<Alternative> likeliest = {};  // from likely to less likely
  // So many bytes of the answer's text stand before the end of this token's; as many as are certain so far
  // where it turns out to be none of the text.
  std::int64_t text_end = 0;
  bool operator==(const TokenChoice&) const = default;
};

struct GenerateResult {
  std::string text;  // thoughts first, as <think>…</think>, however the model writes them
  FinishReason finish = FinishReason::stop_token;
  std::uint64_t seed = 0;
  std::int32_t dropped_messages = 0;
  std::vector<TokenId> tokens;       // of the answer, without the token that ended it
  std::vector<TokenChoice> choices;  // of these, where they were asked for
  Timings timings;
  // Mean bits per weight of the experts, or layers, that wrote the answer's tokens, one on disk alone as the
  // lowest tier; 0: no policy moves them, or one pass read and wrote all.
  double bits_per_use = 0;
  // How much of the model's quality was kept (kept_share) and how much energy went, from the prompt's first
  // pass to the answer's end, with what other answers took meanwhile. Nothing: the
  // divergence of the tiers was not measured, or the system does not tell.
  std::optional<double> quality_kept = {}, joules = {};
  // What the policy expects a conversation to use that goes on here, for its history to keep and for
  // Engine::recall(); empty: it expects nothing.
  std::string use_profile = {};
};

// Called on the engine's thread with whole UTF-8 characters as they become final.
using TextSink = std::function<void(std::string_view text, const Timings& so_far)>;

// The same of one of several answers, with what was thought of the tokens since the piece before. A token
// whose text is held back, for it may begin a stop string or be half a character, has its text_end behind the
// piece.
struct ChoicePiece {
  std::string_view text;
  Timings so_far;
  std::span<const TokenChoice> choices;
};
using ChoiceSink = std::function<void(std::size_t choice, const ChoicePiece& piece)>;

}  // namespace fovea
