#include "app/demo/demo_prompts.h"

#include <array>

namespace fovea::app {

std::span<const DemoPrompt> demo_prompts() {
  static constexpr std::array prompts{
      DemoPrompt{"A tale", "Tell me a short tale about a fox."},
      DemoPrompt{"A function", "Write a Python function that counts words."},
  };
  return prompts;
}

}  // namespace fovea::app
