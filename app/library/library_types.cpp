#include "app/library/library_types.h"

#include <algorithm>

namespace fovea::app {

std::string quantization_of(const ModelInfo& info) {
  constexpr double worth_telling = 0.1;  // of all bytes
  std::vector<std::pair<std::int64_t, std::string>> types;
  std::int64_t all = 0;
  for (const auto& [type, bytes] : info.bytes_by_type) {
    types.emplace_back(bytes, type);
    all += bytes;
  }
  std::ranges::sort(types, std::greater<>());
  if (types.empty()) return {};
  std::string text = types.front().second;
  if (types.size() > 1 && static_cast<double>(types[1].first) > worth_telling * static_cast<double>(all))
    text += ", " + types[1].second;
  return text;
}

}  // namespace fovea::app
