// How fast a model of a shape would be, without its file: weights made from a seed, and synthetic routing.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/api/evaluate.h"
#include "engine/api/precision.h"

namespace fovea {

struct ShapeBenchSettings {
  // A name of shape_names(), or a JSON file with the numbers of one: layers, hidden, heads, kv_heads,
  // head_dim, vocabulary, context, experts, experts_used, expert_width, qk_norm.
  std::string shape = {};
  std::string tier = "q4";  // of the experts: bf16, q8, q4, q4e, q3, q2
  // With a budget: experts are at both tiers and move, which alone is measured then. Empty: one tier.
  std::string low_tier = {};
  PolicyKind policy = PolicyKind::dynaexq;  // that moves them: dynaexq or fovea
  std::int64_t budget_bytes = 0;  // of everything on the device, kept as `static`'s with one tier; 0: none
  double traffic_gb_per_s = 0;    // limit of the swap traffic; 0: as PrecisionRequest's
  OffloadSettings offload = {};   // beside a GPU, with one tier: what the processor computes
  std::string dense_tier = "q8";  // of everything else but the routers, which are BF16
  std::string device = {};        // as LoadOptions's
  KvType kv = KvType::f16;
  int threads = 0;
  std::int64_t chunk = 0;
  std::vector<std::int64_t> contexts = {512, 8192, 32768};  // tokens before the answer; ascending
  std::vector<std::int64_t> prompts = {512};                // tokens of the prompts that are read
  std::int64_t generated_tokens = 64;
  int repetitions = 3;
  std::uint64_t seed = 1;  // of weights and routing
};

// What a token's time goes to: it takes so much less without the part's operations.
struct StepPart {
  std::string name = {};
  double ms = 0;
  std::int64_t bytes = 0;      // that the part reads of weights or cache
  double bandwidth_share = 0;  // that it reaches of the measured bandwidth; 0: it reads little, or not known
};

// One length. Decoding: of the context before the answer; prefill: of the prompt.
struct LengthResult {
  std::int64_t length = 0;
  SpeedResult speed = {};
  Percentiles token_ms = {};  // between two tokens of an answer
  // Decoding: the same without graphs, each operation given to the device by itself. Zeros: it captures none.
  Percentiles pieces_ms = {};
  // Decoding: experts, attention, linear layers, and the rest (norms, rotary, router, cache, and what no
  // operation is: launches and copies).
  std::vector<StepPart> parts = {};
  std::string limited_by = {};  // the part that takes most beyond what its bytes need; empty: not known
};

// Decoding behind the first of the contexts, in turns: while nothing moves; while the policy decides and
// nothing moves; in a storm, where every pass asks for two experts to change tiers, as often as the pipeline
// and the limit of its traffic let it; as the policy decides; and in a flood, where as many as the pipeline
// takes at once change tiers.
struct MovingResult {
  std::int64_t context = 0;
  LengthResult quiet = {}, idle = {}, storm = {}, live = {};
  double idle_cost = 0;                        // share of the tokens per second that deciding takes
  double storm_p99_over_median = 0;            // of the times between tokens
  std::int64_t promotions = 0, demotions = 0;  // in the storm
  double read_gb_per_s = 0;                    // by the pipeline, in the storm; versions come from memory
  double flood_gb_per_s = 0;                   // likewise, in the flood: what the pipeline reaches
  double hit_rate = 0;  // as the policy decides: share of the experts' uses that the high tier served
  std::int64_t high_per_layer = 0;
  double mean_bits_per_weight = 0;
  std::int64_t budget_bytes = 0, accounted_bytes = 0;
};

struct ShapeBenchResult {
  std::string model = {};
  Phrase routing = {};  // where the routers' choices come from
  std::int64_t experts = 0, experts_used = 0, layers = 0;
  int threads = 0;
  MemoryUse memory = {};
  std::int64_t bytes_per_token = 0;  // of weights
  // With an offload: of them, what the processor reads, and its memory's bandwidth, measured.
  std::int64_t host_bytes_per_token = 0;
  double host_gb_per_s = 0;
  // With a budget and one tier: it, and what is accounted to it.
  std::int64_t budget_bytes = 0, accounted_bytes = 0;
  double bandwidth_gb_per_s = 0;  // as BenchResult's
  bool bandwidth_is_measured = false;
  double peak_gop_per_s = 0;
  double link_gb_per_s = 0;  // of copies from pinned memory to the device's
  std::vector<LengthResult> decode = {};
  std::vector<LengthResult> prefill = {};
  std::optional<MovingResult> moving = {};
};

// ErrorKind::unsupported for a shape whose kind of layers Fovea does not run.
Result<ShapeBenchResult> bench_shape(const ShapeBenchSettings& settings, const ProgressSink& progress = {},
                                     std::stop_token stop = {});

}  // namespace fovea
