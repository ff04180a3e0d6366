// Which units live in the slower place: llama.cpp's flags and their meanings, for whole units.
//
//   --n-cpu-moe N, --cpu-moe   the experts of the first N layers, of all layers; "auto" finds the fewest, or
//                              on a GPU with a profile the coldest experts of each layer, whichever costs the
//                              processor less; where the slower place is the disk, all or none: memory keeps
//                              what is needed
//   --override-tensor P=PLACE  tensors whose GGUF name the expression P is found in; the first one that fits
//                              decides; CPU is the slower place, any other the device
//   -ngl N                     only the last N layers are on the device, the output counted as the last one
//
// On a GPU the slower place is the host: the processor computes these units, as the file has them. There, of
// a model without experts, a layer's feed-forward goes as one; attention, routers, shared experts, the
// embedding and the output stay on the device, but with -ngl, and with patterns that name all of the first
// layers: they leave whole layers to the processor where these can be parted (Surroundings::layers). Where
// the device has no slower place beside it (no GPU), these units live on disk alone, and only experts can.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/api/precision.h"
#include "engine/core/result.h"
#include "engine/precision/units.h"

namespace fovea::precision {

struct OffloadChoice {
  std::vector<bool> absent;         // [units]: not on the device
  std::vector<bool> named;          // [units]: where they are, since a pattern says so
  std::int64_t cpu_moe_layers = 0;  // with "auto", the number that was found …
  std::int64_t cold_experts = 0;    // … or so many of each layer
  std::vector<Phrase> notes;        // what the user should know: one sentence each
};

// Whether the plan fits the budget with these units away.
using FitsWithout = std::function<bool(const std::vector<bool>& absent)>;

// Who serves the units that are not on the device.
enum class SlowerPlace : std::uint8_t { disk, host };

struct HostCost;  // token_cost.h

// What "auto" takes: the experts of the first layers, or as many of each layer, where it is all the same
// which are away to begin with.
enum class Taken : std::uint8_t { first_layers, of_each_layer };

// ErrorKind::invalid names the pattern or number that is wrong, ErrorKind::unsupported is for linear layers
// on disk. With cpu_moe_layers −1 the smallest N is sought for which `fits`; when no N does, all layers'
// experts are away. With `cost`, of experts on the host, also the fewest of each layer that its chances call
// cold: what costs less is chosen. Patterns may name attention of the first `whole_layers`.
Result<OffloadChoice> choose_offloaded(const UnitTable& units, const OffloadSettings& settings,
                                       const FitsWithout& fits, SlowerPlace place = SlowerPlace::disk,
                                       const HostCost* cost = nullptr, Taken taken = Taken::first_layers,
                                       std::int64_t whole_layers = 0);

// How many of the first layers, [layers] with experts or without, the patterns send to the slower place with
// their attention and all. ErrorKind as above.
Result<std::int64_t> layers_named_whole(const std::vector<std::string>& override_tensors,
                                        const std::vector<bool>& has_experts);
// The patterns that send attention of a layer from `first` on there, which stays where it is.
Result<std::vector<std::string>> patterns_of_attention(const std::vector<std::string>& override_tensors,
                                                       std::int64_t first, std::int64_t layers);

// What the model is loaded without when these units are the host's: [layers], or empty: nothing.
std::vector<models::HostShare> host_shares(const UnitTable& units, const std::vector<bool>& absent);

// The GGUF names of a unit's tensors ("blk.3.ffn_gate_exps.weight"), in the order of its parts.
std::vector<std::string> tensor_names(const UnitTable& units, UnitId id);

}  // namespace fovea::precision
