// A pass: the next tokens of one sequence or several, and what is wanted of them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "engine/api/text.h"
#include "kernels/api/operations.h"

namespace fovea::layers {

// top_k: of the last token, and where the device's memory is out of the host's reach and no segment of the
// pass wants more, only the largest (Forward::top_k), which saves the copy of a vocabulary's logits.
enum class LogitsWanted : std::uint8_t { none, last, top_k, all };

// The next tokens of one sequence.
struct Segment {
  std::span<const TokenId> tokens;          // at least one
  std::int64_t first = 0;                   // position of tokens[0]
  std::span<const kernels::KvPages> pages;  // [layers], room for first + tokens.size() positions
  // Of what the lists of `pages` say: lists with the same revision are the same as far as they reach. 0: it
  // is not known, and they are looked through.
  std::uint64_t pages_revision = 0;
  // What its recurrent layers have behind position first − 1; null where the model has none.
  std::byte* state = nullptr;
  LogitsWanted logits = LogitsWanted::last;
  std::int64_t last_tokens = 1;  // of which LogitsWanted::last wants them
  float temperature = 1;         // above 0; of the top-k logits' weight
  bool hidden = false;           // of all tokens what the last layer gives (Forward::hidden) is wanted
  // A piece of a prompt: on a processor the bits do not depend on how it is divided into pieces, even of one
  // token, which is computed a little faster where it is not.
  bool is_prompt = false;
};

class PassObserver;

struct Pass {
  std::vector<Segment> segments;  // of different sequences; 1 … max_segments, of max_tokens together
  std::int64_t context = 0;       // of these sequences, for dynamic rotary scaling
  std::stop_token stop = {};      // asked between layers; a stopped pass leaves its positions undefined
  PassObserver* observer = nullptr;
};

// Learns what a pass does while it runs, on its thread, and may give a sequence's first token other weights.
// Tensors are valid during the call only.
class PassObserver {
 public:
  virtual ~PassObserver() = default;
  // What it needs. Where the device's memory is out of the host's reach, the rest comes late or not at all,
  // so that the pass need not wait for the device in each layer.
  enum class Needs : std::uint8_t {
    history,      // routed(), without x, may come when the pass has ended, not when it was stopped
    choices,      // routed(), without x, before the layer reads its experts
    activations,  // everything, and input() too
  };
  virtual Needs needs() const { return Needs::activations; }
  // Which rows are shown: the last `tokens` of this segment.
  struct Where {
    std::size_t segment = 0;
    std::int64_t layer = 0;
    std::int64_t tokens = 0;
    bool last = true;  // no other segment of this layer follows
  };
  // A layer's feed-forward is about to read these experts: x [tokens, d], ids and gate weights [tokens,
  // used]. False: their weights cannot be had; the pass stops.
  virtual bool routed(const Where& where, const float* x, const std::int32_t* ids, const float* weights) = 0;
  // A sequence's first token has chosen these experts [used] in a layer, where the device's memory is the
  // host's: gate, up and down that they shall have for it alone [used], valid until the next call; nothing:
  // those of all tokens.
  using ExpertWeights = std::array<kernels::Weight, 3>;
  virtual std::span<const ExpertWeights> first_token(std::int64_t /*layer*/,
                                                     std::span<const std::int32_t> /*ids*/) {
    return {};
  }
  // Inputs of the linear layers [tokens, columns]: of q, k and v; of the attention's output; of a dense layer
  // or shared expert.
  enum class Input : std::uint8_t { attention, attention_output, feed_forward };
  virtual void input(const Where&, Input, const float*) {}
};

// --- the same as the operations read it ---

struct Rows {
  std::int64_t first = 0, count = 0;
  constexpr std::int64_t end() const { return first + count; }
  bool operator==(const Rows&) const = default;
};
// Those of both.
constexpr Rows common(const Rows& a, const Rows& b) {
  const std::int64_t first = a.first > b.first ? a.first : b.first;
  const std::int64_t end = a.end() < b.end() ? a.end() : b.end();
  return {first, end > first ? end - first : 0};
}

// The tokens of all segments behind each other, where the operations can read them.
struct Batch {
  struct Part {  // of one segment
    Rows rows;
    std::int64_t first = 0;                   // position of its first row, or the most that it may be …
    const std::int32_t* position = nullptr;   // … where the operations read it here
    std::span<const kernels::KvPages> pages;  // [layers]
    std::byte* state = nullptr;               // of its recurrent layers, behind each other
    bool is_alone = false;                    // one token, and no piece of a prompt
  };
  std::int64_t rows = 0;
  const std::int32_t* tokens = nullptr;     // [rows]
  const std::int32_t* positions = nullptr;  // [rows]
  std::vector<Part> parts;                  // one for each segment
  std::vector<Rows> wanted;                 // whose logits are wanted, in order; neighbours are one
  std::vector<Rows> hidden;                 // … and of which the last layer's output

  std::int64_t wanted_rows() const {
    std::int64_t count = 0;
    for (const Rows& run : wanted) count += run.count;
    return count;
  }
  // Once a layer's keys and values are stored, only these matter if it is the last one.
  Rows from_first_wanted() const {
    std::int64_t first = rows;
    for (const std::vector<Rows>* each : {&wanted, &hidden})
      if (!each->empty() && each->front().first < first) first = each->front().first;
    return {first, rows - first};
  }
  // What a router of this layer sees.
  Rows routed(std::int64_t layer, std::int64_t layers) const {
    return layer == layers - 1 ? from_first_wanted() : Rows{0, rows};
  }
};

}  // namespace fovea::layers
