// The one operation table. Every device implements these operations over plain pointers; the engine's
// layers call nothing else. Shapes are row-major, outermost dimension first. Activations are float.
//
// All arguments are checked where a model is built; operations assert and do not fail. Inputs and outputs
// must not overlap unless an operation says so. C++20: CUDA sources include this.
//
// Pointers point into the device's memory, which may be out of the host's reach (Device::memory_is_host), the
// KV cache's lists of pages among them. Host memory is what a span names, and `shared` of a FeedForward: they
// are read before the call returns. An operation may go on after its call; its stream says when it is done.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "kernels/api/failure.h"
#include "kernels/api/types.h"

namespace fovea::kernels {

// The order in which a weight matrix's blocks lie in memory. `rows` is the file's order; the others are
// lossless permutations made by Device::pack and are known to one device only.
enum class Packing : std::uint8_t { rows, tiles };

// A weight matrix [rows, columns]; out = x · Wᵀ maps `columns` inputs to `rows` outputs.
struct Weight {
  const std::byte* data = nullptr;
  Type type = Type::f32;
  Packing packing = Packing::rows;
  std::int64_t rows = 0;
  std::int64_t columns = 0;

  explicit operator bool() const { return data != nullptr; }
};

// Captured work of a stream (Stream::begin_capture).
class Graph {
 public:
  virtual ~Graph() = default;
};

// Runs operations in order. One thread at a time may use a stream. On the CPU it is a thread pool and its
// scratch memory; on a GPU a driver stream.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual void synchronize() = 0;
  // Why something in this stream has failed; empty while all is well. To be asked behind synchronize() or an
  // event's wait(). It stays: what was computed since is worth nothing, and a device that is lost says so in
  // each of its streams.
  virtual Failure failure() const { return {}; }

  // --- capture: much work again and again, each time for the price of one launch ---
  //
  // What is given to the stream between begin_capture() and end_capture() is not done but noted, with its
  // arguments as they are; launch() does it, as often as wanted. So what differs between two launches must
  // lie in the device's memory, or in memory of Device::allocate_host, at addresses that stay, and none of it
  // may be released while the graph is in use. The capturing thread must not wait for the device, record or
  // ask events, allocate or release memory, or copy from and to other host memory.

  // False: this stream captures nothing.
  virtual bool begin_capture() { return false; }
  // Null when something in between could not be captured; `why` says what, for the log.
  virtual std::unique_ptr<Graph> end_capture(std::string& why) {
    why = "the device captures nothing";
    return nullptr;
  }
  // Does the graph's work in the stream's order. It must be one that this stream has captured, and live until
  // that is done.
  virtual void launch(const Graph&) {}
};

// Quantised activations: a few rows in the form that a device multiplies weights with, where that is not
// floats (a GPU: 8-bit values with their scales). What writes activations quantises them beside the floats
// where it is given the room; then what multiplies them need not, each in a launch of its own. As many bytes
// as the floats, aligned to 16. Of more rows, and by devices without such a form, it is neither made nor
// read.
constexpr std::int64_t max_quantised_rows = 8;

// out[t, :] = scale · dequantised table[ids[t], :].   ids [tokens], out [tokens, table.columns]
struct EmbedRows {
  Weight table;  // [vocabulary, d], Packing::rows
  const std::int32_t* ids = nullptr;
  std::int64_t tokens = 0;
  float* out = nullptr;
  float scale = 1;
};

// x = scale · (x + residual), when there is a residual, which may have a norm of its own first; then, when
// there is an out, out = x / sqrt(mean(x²) + eps) · weight, for each row.
// x [rows, columns] is written only when there is a residual. out may be x.
struct RmsNorm {
  float* x = nullptr;
  const float* residual = nullptr;         // [rows, columns] or null
  const float* residual_weight = nullptr;  // [columns]: residual / sqrt(mean(residual²) + …) · this; or null
  float residual_eps = 0;
  float scale = 1;
  const float* weight = nullptr;  // [columns]
  float eps = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  float* out = nullptr;            // [rows, columns], or null
  std::byte* quantised = nullptr;  // of out, or null

  explicit operator bool() const { return x != nullptr; }
};

// One output of a Linear operation.
struct Projection {
  Weight weight;                // [rows, columns]
  const float* bias = nullptr;  // [rows] or null
  float* out = nullptr;         // [tokens, rows], row stride = out_stride
  std::int64_t out_stride = 0;  // in floats, ≥ weight.rows
};

// out_p = x · W_pᵀ + bias_p for every projection: one input, quantised once, read by several matrices. Behind
// them, where it is given, the addition of what was computed, and the norm for what comes next: a device may
// do both without a launch of their own.
struct Linear {
  const float* x = nullptr;  // [tokens, columns], rows adjacent
  std::int64_t tokens = 0;
  std::int64_t columns = 0;
  std::span<const Projection> projections;
  const std::byte* quantised = nullptr;  // of x, or null
  RmsNorm then = {};                     // its residual is the only projection's out; or none
};

// half_split pairs element i with i + rotary/2 (Hugging Face); interleaved pairs 2i with 2i + 1.
enum class RotaryStyle : std::uint8_t { half_split, interleaved };

constexpr std::int64_t max_head_dim = 512;

// The pages of one layer's KV cache that a sequence uses. Position p lies in page p / page_tokens.
// A page holds [kv_heads, page_tokens, head_dim] elements of `type` (f32, f16 or q8_0 along head_dim),
// so that one head's keys are adjacent.
struct KvPages {
  std::byte* const* keys = nullptr;    // [pages]
  std::byte* const* values = nullptr;  // [pages]
  std::int64_t page_tokens = 0;
  Type type = Type::f32;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
};

// From what the projections give to what attention reads, each head by itself: the norm of the heads of q and
// k, where there are weights for it, the rotary embedding of both, then k and v into the cache. Without k the
// cache is left alone: another layer has filled it.
struct AttentionInputs {
  float* q = nullptr;  // [tokens, heads, head_dim], token stride = q_stride floats; in place …
  // [tokens, heads, 2, head_dim]; … or from here, where each head of q has a gate beside it (Gating).
  const float* gated_q = nullptr;
  float* k = nullptr;        // [tokens, kv_heads, head_dim], or null; used up: afterwards it holds anything
  const float* v = nullptr;  // [tokens, kv_heads, head_dim]; it may be k, as that is before its norm
  std::int64_t q_stride = 0;
  std::int64_t k_stride = 0;
  std::int64_t v_stride = 0;
  std::int64_t tokens = 0;
  std::int64_t heads = 0;
  const std::int32_t* positions = nullptr;   // [tokens]
  const float* q_norm = nullptr;             // [head_dim] or null
  const float* k_norm = nullptr;             // [head_dim] or null
  bool v_norm = false;                       // the heads of v have a norm without weights
  float eps = 0;                             // of the norms
  std::int64_t rotary = 0;                   // the first elements of a head that turn; even, ≤ head_dim
  const float* inverse_frequency = nullptr;  // [rotary / 2]
  float magnitude = 1;                       // YaRN's attention factor multiplies cos and sin
  RotaryStyle style = RotaryStyle::half_split;
  KvPages pages;
};

// Causal attention of `tokens` queries at positions first … over everything in the pages up to each.
// heads is a multiple of kv_heads (grouped heads). window > 0: only the last `window` positions. A head's
// sink takes part in its softmax as one more position would, with a value of zeros (gpt-oss).
struct Attention {
  const float* q = nullptr;  // [tokens, heads, head_dim], token stride = q_stride floats
  std::int64_t q_stride = 0;
  std::int64_t first = 0;
  std::int64_t tokens = 0;
  std::int64_t heads = 0;
  float scale = 0;  // usually head_dim^-0.5
  std::int64_t window = 0;
  const float* sinks = nullptr;  // [heads] scores, or null
  KvPages pages;
  float* out = nullptr;  // [tokens, heads, head_dim], rows adjacent
  // [1]; where given, it is read in place of `first`, which is then the most that it will be: a device that
  // cannot see the position divides the work for that one.
  const std::int32_t* position = nullptr;
  std::byte* quantised = nullptr;  // of out, or null
  // One token that no other of its sequence is beside in the pass, as in decoding: it may be summed
  // otherwise, where that is faster. The bits of others do not depend, on a processor, on which are computed
  // together.
  bool alone = false;
};

// For each row:
//   sigmoid    x · σ(gate)
//   gelu_tanh  GELU(x) · gate, GELU by its tanh
enum class GatingForm : std::uint8_t { sigmoid, gelu_tanh };
struct Gating {
  float* x = nullptr;           // [rows, columns], in place
  const float* gate = nullptr;  // [rows, columns], row stride = gate_stride floats
  std::int64_t gate_stride = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  GatingForm form = GatingForm::sigmoid;
};

// Each channel's sum over its last rows, then SiLU: y[t] = silu(Σ_i weight[i] · x[t − positions + 1 + i]).
// The rows before the first are the state's; zeros where nothing was before (Gu & Dao 2023, §3.4).
struct ShortConvolution {
  float* x = nullptr;             // [tokens, channels], in place
  const float* weight = nullptr;  // [channels, positions]; the last is the row's own
  float* state = nullptr;  // [positions − 1, channels]: the rows before, then those before the next row
  std::int64_t tokens = 0;
  std::int64_t channels = 0;
  std::int64_t positions = 0;  // 1 … max_convolution
};
constexpr std::int64_t max_convolution = 8;

// Recurrent layers may take so many tokens at once. Where a sequence is divided at multiples of it, the same
// tokens give the same bits.
constexpr std::int64_t recurrent_chunk = 64;

// The gated delta rule (Yang et al. 2025, eq. 10), and the gated norm of what it gives. Of each value head,
// with its state S [key_dim, value_dim] and its key head's q and k at length 1 (x / sqrt(Σ x² + 1e-6)):
//   S ← e^g S,  g = rate · softplus(a + step_bias)
//   S ← S + k (σ(b) (v − Sᵀ k))ᵀ
//   o = Sᵀ q / sqrt(key_dim)
//   out = o / sqrt(mean(o²) + eps) · norm · silu(z)
struct GatedDelta {
  const float* qkv = nullptr;  // [tokens, key_heads · key_dim, twice, and value_heads · value_dim]
  const float* z = nullptr;    // [tokens, value_heads, value_dim]
  // Those of value head h in column h + h / ab_group · ab_group of [tokens, …], token stride = ab_stride
  // floats: where both come from one matrix, those of some heads each take turns.
  const float* a = nullptr;
  const float* b = nullptr;
  std::int64_t ab_stride = 0;
  std::int64_t ab_group = 0;
  const float* rate = nullptr;       // [value_heads], below 0
  const float* step_bias = nullptr;  // [value_heads]
  const float* norm = nullptr;       // [value_dim]
  float eps = 0;                     // of the norm
  std::int64_t tokens = 0;
  std::int64_t key_heads = 0;
  std::int64_t value_heads = 0;  // a multiple of key_heads
  std::int64_t key_dim = 0;      // at most max_delta_dim, and so is value_dim
  std::int64_t value_dim = 0;
  std::int64_t sharing = 1;  // value head h reads key head h / sharing mod key_heads
  float* state = nullptr;    // [value_heads, key_dim, value_dim]: before, then behind these tokens
  float* out = nullptr;      // [tokens, value_heads, value_dim]
};
constexpr std::int64_t max_delta_dim = 256;

// The experts of each token: logits = x · weightᵀ + bias, p = softmax(logits), and of each row the `used`
// largest p, in descending order (ties: lower index first), as ids and weights; normalise divides each row's
// weights by their sum. Beside them the shared expert's weight, where it has a gate: sigmoid(x · gateᵀ).
struct Router {
  const float* x = nullptr;  // [tokens, d]
  std::int64_t tokens = 0;
  Weight weight;                // [experts, d]
  const float* bias = nullptr;  // [experts] or null
  Weight shared_gate;           // [1, d], or none
  std::int64_t used = 0;
  bool normalise = false;
  float scale = 1;                       // multiplies the weights at the end …
  const float* expert_scales = nullptr;  // [experts] … and each expert's its own; or null
  float* logits = nullptr;               // [tokens, experts]
  std::int32_t* ids = nullptr;           // [tokens, used]
  float* weights = nullptr;              // [tokens, used]
  float* shared_weights = nullptr;       // [tokens], with a gate only
  const std::byte* quantised = nullptr;  // of x, or null
};

// What an expert makes of its gate g and its up-projection u.
//   silu           g σ(g) · u
//   gelu_tanh      g σ(2z) · u, z = √(2/π) (g + 0.044715 g³): GELU by its tanh
//   clamped_silu   g σ(1.702 g) · (u + 1), of g at most 7 and u within ±7 (gpt-oss)
enum class Activation : std::uint8_t { silu, gelu_tanh, clamped_silu };
constexpr float clamped_silu_limit = 7;
constexpr float clamped_silu_alpha = 1.702F;

// One expert, or a dense feed-forward layer: down(activation(gate(x), up(x))), each with its bias.
struct Expert {
  Weight gate;  // [width, d]
  Weight up;    // [width, d]
  Weight down;  // [d, width]
  Activation activation = Activation::silu;
  const float* gate_bias = nullptr;  // [width] or null
  const float* up_bias = nullptr;    // [width] or null
  const float* down_bias = nullptr;  // [d] or null
};

// out[t] = Σ_j weights[t, j] · expert[ids[t, j]](x[t])  +  shared_weights[t] · shared(x[t]).
// A dense layer is one shared expert and no routed ones. Experts of one call may differ in type. A routed
// expert without data adds nothing, nor its bias: it is another device's, and the two sums are added.
// `then` is as in Linear; its out may be x, which has been read by then.
struct FeedForward {
  const float* x = nullptr;  // [tokens, d]
  std::int64_t tokens = 0;
  std::int64_t d = 0;
  std::span<const Expert> experts;  // may be empty; all of one shape
  // The same handles in the device's memory, at an address that stays, where the host's memory is out of the
  // kernels' reach; else null. It is what they read, so that a recorded pass sees the versions of its own
  // time.
  const Expert* table = nullptr;
  std::int64_t used = 0;                  // experts for each token
  const std::int32_t* ids = nullptr;      // [tokens, used]
  const float* weights = nullptr;         // [tokens, used]
  const Expert* shared = nullptr;         // or null
  const float* shared_weights = nullptr;  // [tokens]; null: 1
  float* out = nullptr;                   // [tokens, d], overwritten
  const std::byte* quantised = nullptr;   // of x, or null
  RmsNorm then = {};                      // its residual is out; or none
};

// What a device asks the host in the middle of a pass: a layer's experts may be the host's in part. It asks
// where a token of these has chosen one that has no data in the table, or always; goes on with its own; and
// waits for the answer only where it is added. A layer that needs nothing of the host costs no way there and
// back.
//
// host_…, asked, answered and late lie in memory that both reach (Device::allocate_host). Both count a
// layer's rounds from 1; the device's number lies in its own memory and is zero at first.
struct HostRound {
  std::uint32_t number;
  std::uint32_t asked;  // 1: in this round
};
struct HostQuestion {
  const float* x = nullptr;  // [tokens, d]
  std::int64_t tokens = 0;
  std::int64_t d = 0;
  std::int64_t used = 0;
  const std::int32_t* ids = nullptr;  // [tokens, used]
  const float* weights = nullptr;     // [tokens, used]
  const Expert* table = nullptr;      // in the device's memory; or null where it asks always
  bool always = false;
  HostRound* round = nullptr;
  float* host_x = nullptr;           // as x, written where it asks, and so are
  std::int32_t* host_ids = nullptr;  // those
  float* host_weights = nullptr;     // and those
  std::uint32_t* asked = nullptr;    // 2 · number, and 1 more where it asks: written last, in any case
};

// out += host_out where the device has asked and the answer's number is the round's. It is waited for, but
// no longer than host_patience_s: then `late` is told the name, and what is computed since is worth nothing.
constexpr int host_patience_s = 1;
struct HostAnswer {
  const HostRound* round = nullptr;
  const float* host_out = nullptr;  // [tokens, d]
  const std::uint32_t* answered = nullptr;
  std::uint32_t* late = nullptr;
  std::uint32_t name = 0;
  float* out = nullptr;  // [tokens, d]
  bool alone = false;    // out is the answer: there was nothing before
  std::int64_t tokens = 0;
  std::int64_t d = 0;
  RmsNorm then = {};  // as in FeedForward
};

// Weights that the processor has packed, as they lie in main memory (kernels/formats/processor_tiles.h),
// become what this device's preferred packing is: `count` matrices [rows, columns] of a type, `stride` bytes
// from each to the next on both sides.
struct Repack {
  const std::byte* source = nullptr;  // in the device's memory, at an address that 16 divides, as is …
  std::byte* target = nullptr;        // … this one
  Type type = Type::f32;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t stride = 0;  // a multiple of 16
  std::int64_t count = 1;
};

// x += y.   [count]
struct Add {
  float* x = nullptr;
  const float* y = nullptr;
  std::int64_t count = 0;
};

// x = cap · tanh(x / cap).   [count]
struct SoftCap {
  float* x = nullptr;
  std::int64_t count = 0;
  float cap = 1;
};

// What choosing the next token needs to know of its logits: the largest of them, in descending order (ties:
// lower index first), and what all of them weigh, d being a logit less the largest. Not-a-number counts as
// −∞. Where the largest is infinite, the sums are 0.
constexpr std::int64_t max_top_k = 128;
struct TopK {
  const float* logits = nullptr;               // [count]
  std::int64_t count = 0;                      // at least 1
  const float* inverse_temperature = nullptr;  // [1]: one over the temperature
  std::int64_t listed = 0;                     // 1 … count, at most max_top_k
  std::int32_t* ids = nullptr;                 // [listed]
  float* values = nullptr;                     // [listed]: their logits
  float* sums = nullptr;                       // [3]: Σ e^(inverse_temperature · d), Σ e^d, Σ d · e^d
};

struct OperationTable {
  void (*embed_rows)(const EmbedRows&, Stream&);
  void (*rms_norm)(const RmsNorm&, Stream&);
  void (*linear)(const Linear&, Stream&);
  void (*attention_inputs)(const AttentionInputs&, Stream&);
  void (*attention)(const Attention&, Stream&);
  void (*gating)(const Gating&, Stream&);
  void (*short_convolution)(const ShortConvolution&, Stream&);
  void (*gated_delta)(const GatedDelta&, Stream&);
  void (*router)(const Router&, Stream&);
  void (*feed_forward)(const FeedForward&, Stream&);
  void (*add)(const Add&, Stream&);
  void (*soft_cap)(const SoftCap&, Stream&);
  void (*top_k)(const TopK&, Stream&);
  // Of devices whose memory is not the host's, which may do so; else null.
  void (*ask_host)(const HostQuestion&, Stream&) = nullptr;
  void (*add_answer)(const HostAnswer&, Stream&) = nullptr;
  // Likewise of those that may be given the processor's weights.
  void (*repack)(const Repack&, Stream&) = nullptr;
};

}  // namespace fovea::kernels
