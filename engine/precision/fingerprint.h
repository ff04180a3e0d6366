// What a store is bound to: a model's fingerprint, and the identity that a store for it must have.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/store.h"
#include "engine/precision/tiers.h"
#include "engine/precision/units.h"
#include "kernels/api/device.h"

namespace fovea::precision {

// Raised with every change of what a quantiser makes of the same weights.
inline constexpr std::uint32_t quantizer_version = 5;

// Of the tensors' names, types and shapes and of samples of their data: at most 6 MiB are read, however large
// the model is. The same for every path, and for a file and its split parts.
std::uint64_t model_fingerprint(const checkpoint::Checkpoint& checkpoint);

// "cpu-tiles-16": versions that one device packed can be read by those of the same name.
std::string packing_name(const kernels::Device& device);
std::string scope_name(UnitScope scope);  // "experts", "linear_layers"

// The identity that a store of these units and tiers has when it is made now; data-free.
checkpoint::StoreIdentity store_identity(const checkpoint::Checkpoint& checkpoint, const UnitTable& units,
                                         const TierSet& tiers, const kernels::Device& device);

// Of what a store tells of its units, in hexadecimal: its identity, its calibration and how much each version
// hurts. Another one may lead to another plan.
std::string store_fingerprint(const checkpoint::Store& store);

// The file name of a model's store: "qwen3-30b-a3b-q4_k_m-1f2e3d4c-file-q2.store", with the model's name, the
// beginning of its fingerprint, and the tiers; of linear layers "…-file-q2-linear.store", for GPUs
// "…-file-q2-cuda2.store" with the version of their packing.
std::string store_name(const std::filesystem::path& model, const checkpoint::StoreIdentity& identity);

// The store in the folder from which such versions can be read: that of the name, else one that holds more
// tiers of the same model for the same device, a calibrated one if there is one, the smallest of them.
std::optional<std::filesystem::path> find_store(const std::filesystem::path& folder,
                                                const std::filesystem::path& model,
                                                const checkpoint::StoreIdentity& identity);

// Of these tiers the ones that a calibrated store in the folder holds, of the same model for the same device;
// of several stores the most.
std::vector<std::string> calibrated_tiers(const std::filesystem::path& folder,
                                          const checkpoint::StoreIdentity& identity);

// Bytes of each version, [units, tiers]: the sizes of a store's extents.
std::vector<std::int64_t> version_sizes(const UnitTable& units, const TierSet& tiers,
                                        const kernels::Device& device);

}  // namespace fovea::precision
