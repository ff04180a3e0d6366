// What a model would take on a device, before it is loaded: byte by byte, and what a larger or smaller budget
// would change. Reads no weights.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/api/error.h"
#include "engine/api/load_options.h"
#include "engine/api/precision.h"

namespace fovea {

// The machine that a plan is for, where it shall not be the one at hand as it is now. 0: as it is seen when
// the plan is made.
struct MachineFacts {
  // Of a card that is not here: the budget unless another one is given, 1 GiB of it kept free; the host
  // computes what is offloaded. Its stores are not looked for.
  std::int64_t device_memory_bytes = 0;
  // Of the card that is here, beside other programs; and of the first of two.
  std::int64_t device_free_bytes = 0, first_free_bytes = 0;
  // For what lies beside a card. With device_memory_bytes, which may be another machine's, 0: not looked at.
  std::int64_t main_memory_bytes = 0;
  // How fast the device's memory and, beside a card, main memory are read: for the predicted times.
  double device_gb_per_s = 0, main_memory_gb_per_s = 0;
  // The arithmetic of prefill, a multiply-add being two: of the device and, beside a card, of the processor.
  // 0: the time to the first token is not predicted.
  double device_gop_per_s = 0, processor_gop_per_s = 0;
};

// One side's part in decoding a token: what it is expected to read of weights, every expert of a layer alike,
// and how long that takes at least. Without the KV cache.
struct TokenPart {
  double dense_bytes = 0;   // of everything that is no expert
  double expert_bytes = 0;  // of the experts that a token chooses
  double gb_per_s = 0;      // of the memory; 0: not known
  double bytes() const { return dense_bytes + expert_bytes; }
  double ms() const { return gb_per_s > 0 ? bytes() / (1e6 * gb_per_s) : 0; }
};

// One side's part in reading a prompt.
struct PromptPart {
  double multiply_adds = 0;  // for each token, of the matrices without the output
  double bytes = 0;          // of weights that one pass of LoadOptions::chunk tokens reads
  double gop_per_s = 0;      // of the arithmetic; 0: not known
};
// Of the layers with this window.
struct AttentionPart {
  std::int64_t window = 0;   // 0: none
  double multiply_adds = 0;  // for each token, and each token that it sees
};
struct PromptCost {
  PromptPart device = {}, host = {};                 // host: beside a card
  std::vector<AttentionPart> attention = {};         // on the device
  PromptPart before = {};                            // of layers that the processor has as a whole …
  std::vector<AttentionPart> before_attention = {};  // … with their attention
  double output_multiply_adds = 0;                   // on the device, for the last token
  // Of the host's experts, which each pass may bring to the device instead; 0: none are brought. The link's
  // speed is not known before loading, and this is an assumption.
  double brought_bytes = 0, link_gb_per_s = 20;
};

// What a plan rests on. Where loading finds it otherwise, it says so.
struct PlanBasis {
  std::int64_t device_free_bytes =
      0;  // of a card, beside other programs; 0: the device's memory is the host's
  std::int64_t first_free_bytes = 0;        // of the first of two
  std::int64_t main_memory_free_bytes = 0;  // beside a card; 0: not looked at
  double main_memory_gb_per_s = 0;          // 0: nothing was decided by it
  // Of the store that tells how much each tier hurts each unit; empty: no policy, or no store yet: all units
  // are taken to be hurt alike.
  std::string store_fingerprint;
  bool harm_is_measured = false;  // as divergences, so that time can be weighed against it
};

// What of a plan is otherwise in another one of the same model.
struct PlanDifference {
  enum class What : std::uint8_t {
    budget,
    first_layers,
    device_bytes,
    host_bytes,
    units,
    store,
    device_free
  };
  What what = What::budget;
  std::int64_t before = 0,
               now = 0;  // bytes; layers; of units: how many begin at another tier, and how many there are
  // Of units: how many begin at which tier. Of a store: its fingerprint; empty: there was none.
  std::string before_name = {}, now_name = {};
};
// Without an end, to be put behind others.
Phrase phrase_of(const PlanDifference& difference);

inline constexpr std::uint8_t not_on_device = 255;

// Everything that loading decides before it reads a weight. Engine::load carries it out.
struct LoadPlan {
  std::string model;    // its name
  LoadOptions options;  // as they were asked for, with the sizes and the policy that were chosen
  Plan plan;
  PlanBasis basis;
  std::vector<std::int32_t> first_unit;  // [layers + 1]: where each layer's units begin
  // [units]: the tier that each begins with, an index into plan.parts.experts; or not_on_device.
  std::vector<std::uint8_t> unit_tiers;
  std::int64_t units_per_layer = 0;  // the most
  std::int64_t units_offloaded = 0;
  bool host_computes = false;                  // what is offloaded, beside a card; else it is read from disk
  std::int64_t cpu_moe_layers = 0;             // found or given
  TokenPart device_part = {}, host_part = {};  // host_part: beside a card
  double disk_bytes_per_token = 0;  // of units that are read from the disk, if memory keeps the likeliest
  PromptCost prompt = {};
  // From the plan that loading was given, where that did not hold any more.
  std::vector<PlanDifference> changed = {};

  PolicyKind policy() const { return options.precision.policy; }
  std::int64_t units() const { return std::ssize(unit_tiers); }
  // Until the first token behind a prompt, at least: the arithmetic, or what the passes read of weights, of
  // the side that takes longer. 0: not known.
  double first_token_seconds(std::int64_t prompt_tokens) const;
};

// Why carrying out the one is not carrying out the other; empty: it is.
std::vector<PlanDifference> differences(const LoadPlan& was, const LoadPlan& is);

// Says `plan.fits = false` and advises when the budget is too small; an error is one of the file, the store
// or the flags.
Result<LoadPlan> plan_model(const LoadOptions& options, const MachineFacts& machine = {});

// A published model without its file.
struct ShapeChoice {
  std::string name;                 // of shape_names()
  std::string dense_tier = "bf16";  // format of what is not an expert: "bf16", "q8" or "q4"
  std::int64_t dense_bytes = 0;     // what that takes, where it is known; 0: as dense_tier has it
};
Result<LoadPlan> plan_shape(const ShapeChoice& shape, const LoadOptions& options,
                            const MachineFacts& machine = {});
std::vector<std::string> shape_names();

// What its published sizes tell.
struct ShapeFacts {
  std::int64_t parameters = 0;
  std::int64_t parameters_active = 0;  // read for one token
  std::int64_t experts = 0;            // in each layer
  std::int64_t experts_used = 0;
  std::int64_t context = 0;     // tokens
  std::int64_t file_bytes = 0;  // about, of a GGUF file with such formats: "q4" counts as llama.cpp's Q4_K_M
};
Result<ShapeFacts> shape_facts(const ShapeChoice& shape, const std::string& expert_tier);

}  // namespace fovea
