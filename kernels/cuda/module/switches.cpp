#include "kernels/cuda/module/switches.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

namespace fovea::kernels::cuda {
namespace {

constexpr std::array words = {std::pair("pdl", &Switches::pdl), std::pair("graph", &Switches::graph),
                              std::pair("prefetch", &Switches::prefetch)};

bool turn_off(Switches& switches, std::string_view word) {
  for (const auto& [name, member] : words) {
    if (word != name) continue;
    switches.*member = false;
    return true;
  }
  return false;
}

}  // namespace

Switches Switches::parse(std::string_view text) {
  Switches switches;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view word = text.substr(0, end);
    if (!turn_off(switches, word))
      switches.obstacle = {.kind = Obstacle::Kind::unknown_switch, .names = {std::string(word)}};
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return switches;
}

const Switches& Switches::get() {
  static const Switches found = [] {
    const char* const value = std::getenv("FOVEA_CUDA_OFF");
    return parse(value ? value : "");
  }();
  return found;
}

std::string Switches::off() const {
  std::string text;
  for (const auto& [name, member] : words)
    if (!(this->*member)) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

}  // namespace fovea::kernels::cuda
