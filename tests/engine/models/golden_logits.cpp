#include "golden_logits.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/paths.h"

#include "runner.h"

namespace fovea::tests {

double allowed(const Case& c, const kernels::Device& device) {
  if (!c.quantised || device.name() == "reference") return tolerance;
  double largest = 0;
  for (const float value : c.expected) largest = std::max(largest, std::abs(static_cast<double>(value)));
  return 0.03 * largest;
}

namespace {

// Of a folder's cases.json.
std::vector<Case> read_cases(const std::filesystem::path& folder) {
  std::vector<Case> read;
  std::ifstream file(folder / "cases.json");
  for (const auto& entry : nlohmann::json::parse(file)) {
    read.push_back({entry["name"], folder / entry["model"].get<std::string>(),
                    entry["tokens"].get<std::vector<TokenId>>(),
                    read_npy(folder / entry["expected"].get<std::string>()), entry["quantised"],
                    entry.value("rows", std::vector<std::size_t>())});
  }
  return read;
}

}  // namespace

const std::vector<Case>& cases() {
  static const std::vector<Case> list = [] {
    std::vector<Case> read = read_cases(golden("models"));
    // Packed as GPTQ, AWQ and AutoRound do it.
    std::ifstream packed(golden("quantized/cases.json"));
    for (const auto& entry : nlohmann::json::parse(packed)) {
      const std::string name = entry["name"];
      read.push_back({name, golden("quantized") / name, entry["tokens"].get<std::vector<TokenId>>(),
                      read_npy(golden("quantized") / (name + ".npy")), true});
    }
    return read;
  }();
  return list;
}

const std::vector<Case>& family_cases() {
  static const std::vector<Case> list = read_cases(golden("families"));
  return list;
}

const Case& case_named(std::string_view name) {
  return *std::ranges::find(cases(), name, &Case::name);
}

}  // namespace fovea::tests
