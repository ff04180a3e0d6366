// A policy turns observations into target tiers. It never touches memory: the same observations give the same
// targets, live or replayed from a trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engine/api/precision.h"
#include "engine/api/snapshot.h"
#include "engine/core/result.h"

namespace fovea::precision {

constexpr std::size_t index(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

// One expert's part in one pass.
struct ExpertUse {
  std::int32_t unit = 0;
  std::int32_t tokens = 0;  // of the pass that chose it
  float gate_sum = 0;       // Σ of the router's weights for it over those tokens
};

// What one pass showed of one sequence: a prefill chunk or one decoded token. A pass of several sequences is
// as many observations, with no proposal between them.
struct Observation {
  std::uint64_t sequence = 0;  // whose tokens: equal in the observations of one request
  std::int64_t tokens = 0;     // in the pass
  bool prefill = false;        // of a prompt, or of more than one token
  // Of the output's distribution in nats, of each token whose logits were wanted; empty: none were, or the
  // policy has no use for it.
  std::span<const float> entropies = {};
  std::span<const ExpertUse> uses = {};  // by unit, ascending; units that were not chosen are not listed
  // [layers] tokens that each layer's router saw; empty: all of them in every layer. The last layer sees only
  // the tokens whose logits are wanted.
  std::span<const std::int32_t> routed = {};
};

// What a policy may know of the shape of its world.
struct PolicyWorld {
  std::vector<std::int32_t>
      first_unit;  // [layers + 1]: units of layer l are [first_unit[l], first_unit[l + 1])
  std::vector<double> bits_per_weight;   // [tiers], high to low
  std::vector<std::int64_t> unit_bytes;  // [units, tiers]: bytes of each version
  // [units, tiers]: how much a tier hurts a use; empty: not measured.
  std::vector<float> damage;
  bool damage_is_divergence =
      false;  // in nats of the model's output; else the unit's relative error, squared
  // [units, tiers]: what a use's time is worth, in the damage's measure; empty: nothing. It takes part in
  // what is decided and not in what is told of quality.
  std::vector<float> time_cost = {};
  // [tiers]: how many units of each tier may be published, without the pools' spare blocks. A promotion and
  // the demotion behind it use a spare block each until both are published.
  std::vector<std::int64_t> capacity;
  std::int64_t spare_blocks = 1;  // of each tier
  // Where any mix of as many bytes has room, so that the tiers' numbers may follow the work; 0: the
  // capacities stay.
  std::int64_t any_mix_bytes = 0;
  std::int64_t high_per_layer = 0;    // n_hot …
  std::int64_t layers_with_more = 0;  // … and of so many layers one more
  std::vector<float> uses;            // [units]: g expected from a profile; empty when there is none
  // [units, tiers] of the weights' distribution from the file's (weight_divergences); empty: not measured.
  std::vector<float> weight_divergence = {};
  // [units]: computed by the host beside the device. They have no tier and no block, and no policy moves
  // them, though it may observe them. Empty: none.
  std::vector<bool> on_host = {};
  // The last tier is the host, which computes what has no block: with the file's weights, so that nothing is
  // lost there but time.
  bool host_place = false;
  // Nothing but places changes, and what moves is copied from one memory to the other.
  bool only_places() const { return host_place && tiers() == 2; }

  std::int64_t units() const { return first_unit.empty() ? 0 : first_unit.back(); }
  std::int64_t layers() const { return first_unit.empty() ? 0 : std::ssize(first_unit) - 1; }
  std::int64_t tiers() const { return std::ssize(bits_per_weight); }
  std::int64_t lowest_tier() const { return tiers() - (host_place ? 2 : 1); }  // of the device
  bool is_on_host(std::int64_t unit) const {
    return !on_host.empty() && on_host[static_cast<std::size_t>(unit)];
  }
  std::int64_t units_on_device() const;
};
// ErrorKind::internal names the vector whose length is wrong.
Result<void> check(const PolicyWorld& world);

struct Decision {
  std::int32_t unit = 0;
  std::uint8_t target = 0;  // tier
  SwapReason reason = SwapReason::hotter;
  float score = 0;  // and what follows: see DecisionState
  float margin = 0;
  std::int32_t other = -1;  // unit
  // Only to be brought, so that the same decision without this is published at once. Taken where a swap can
  // begin at once; what draining finds brought is given up.
  bool ahead = false;
};

class Policy {
 public:
  virtual ~Policy() = default;
  virtual std::string_view name() const = 0;
  // The tiers to begin with, [units]; within the capacities. The host's units have none, whatever is said.
  virtual std::vector<std::uint8_t> initial() const = 0;
  virtual void observe(const Observation& observation) = 0;
  // Whether it looks at the output's entropy, which takes the engine some time over each token's logits …
  virtual bool wants_entropy() const { return false; }
  // … and of how many of a prompt's last tokens, whose logits nobody else needs.
  virtual std::int64_t prompt_tokens_watched() const { return 0; }
  // A prompt begins, and an answer behind it. True: what it proposes now is published before the prompt is
  // read.
  virtual bool begin_prompt() { return false; }
  // Share of a prompt's time that its swaps may wait for, between two of its passes and before the first
  // token: there is nothing to read meanwhile. An answer's tokens never wait.
  virtual double prompt_wait_share() const { return 0; }
  // How many tokens of a prompt its next pass shall have, `most` at the most: few where what was proposed
  // last changes much, since that is published with the pass's end.
  virtual std::int64_t prompt_pass_tokens(std::int64_t most) const { return most; }
  // Appends what should change now, most urgent first, given the tiers that are published or in flight
  // [units], and how many swaps are in flight. Called after each observation; usually appends nothing. A
  // demotion that makes room for a promotion stands right behind it. What is not carried out is proposed
  // again while it is still wanted.
  virtual void propose(std::span<const std::uint8_t> tiers, std::int32_t in_flight,
                       std::vector<Decision>& decisions) = 0;
  virtual std::span<const float> hotness() const = 0;  // [units], brought up to date by the call: O(units)

  // What it expects the coming tokens to use, [units], for recall() when the same work goes on another time;
  // empty: it expects nothing.
  virtual std::span<const float> profile() const { return {}; }
  virtual Foresight foresight() const { return {}; }
  // Of the calibration, in what is expected of the coming tokens; below 0: nothing is, or there was none.
  virtual double calibration_part() const { return -1; }
  // Expects that from now on. What it takes is proposed at once, in as many calls of propose() as there is
  // room for between them, without a pass.
  virtual void recall(std::span<const float>) {}
  virtual bool is_recalling() const { return false; }  // a call of propose() may have more to say
};

}  // namespace fovea::precision
