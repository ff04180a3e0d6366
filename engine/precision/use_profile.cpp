#include "engine/precision/use_profile.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/checkpoint/checksum.h"

namespace fovea::precision {
namespace {

constexpr std::string_view magic = "FUP1";
constexpr std::size_t front_bytes = 4 + 8 + 8;
constexpr float steps = 255;

void put_u64(std::string& out, std::uint64_t value) {
  for (int byte = 0; byte < 8; ++byte) out += static_cast<char>(value >> (8 * byte));
}

std::string front_of(std::string_view shares, std::span<const std::int32_t> first_unit,
                     std::string_view model) {
  std::string front(magic);
  const std::uint64_t name = checkpoint::checksum64(std::as_bytes(std::span(model)));
  put_u64(front, checkpoint::checksum64(std::as_bytes(first_unit), name));
  put_u64(front, checkpoint::checksum64(std::as_bytes(std::span(shares))));
  return front;
}

}  // namespace

std::string encode_use_profile(std::span<const float> uses, std::span<const std::int32_t> first_unit,
                               std::string_view model) {
  std::string shares;
  for (std::size_t layer = 0; layer + 1 < first_unit.size(); ++layer) {
    const auto units = uses.subspan(static_cast<std::size_t>(first_unit[layer]),
                                    static_cast<std::size_t>(first_unit[layer + 1] - first_unit[layer]));
    const float largest = units.empty() ? 0 : *std::ranges::max_element(units);
    for (const float use : units)
      shares += static_cast<char>(largest > 0 ? std::lround(steps * use / largest) : 0);
  }
  return front_of(shares, first_unit, model) + shares;
}

std::vector<float> decode_use_profile(std::string_view bytes, std::span<const std::int32_t> first_unit,
                                      std::string_view model) {
  if (first_unit.empty() || bytes.size() != front_bytes + static_cast<std::size_t>(first_unit.back()))
    return {};
  const std::string_view shares = bytes.substr(front_bytes);
  if (!bytes.starts_with(front_of(shares, first_unit, model))) return {};
  std::vector<float> uses;
  for (const char share : shares) uses.push_back(static_cast<float>(static_cast<unsigned char>(share)));
  for (std::size_t layer = 0; layer + 1 < first_unit.size(); ++layer) {
    const auto begin = uses.begin() + first_unit[layer], end = uses.begin() + first_unit[layer + 1];
    const float sum = std::reduce(begin, end);
    std::transform(begin, end, begin,
                   [&](float use) { return sum > 0 ? use / sum : 1 / static_cast<float>(end - begin); });
  }
  return uses;
}

}  // namespace fovea::precision
