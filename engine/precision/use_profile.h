// What a conversation uses of each unit, as bytes that its history can keep and that another day may damage.
//
//   "FUP1"  u64 checksum of the model's name and its units of each layer  u64 checksum of what follows
//   [units] u8: the unit's share of its layer, in 255ths of the largest one
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::precision {

// `uses` [units]: any measure of use, 0 or more. `first_unit` [layers + 1].
std::string encode_use_profile(std::span<const float> uses, std::span<const std::int32_t> first_unit,
                               std::string_view model);
// [units], a layer's sum is 1; a layer that used nothing uses all alike. Empty: another model's, or damaged.
std::vector<float> decode_use_profile(std::string_view bytes, std::span<const std::int32_t> first_unit,
                                      std::string_view model);

}  // namespace fovea::precision
