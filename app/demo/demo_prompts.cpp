#include "app/demo/demo_prompts.h"

namespace fovea::app {

std::span<const DemoPrompt> demo_prompts() {
  static constexpr DemoPrompt prompts[] = {
      {"A poem", "Write a poem about the sea."},
      {"Python", "Write a Python function that checks whether a number is even."},
      {"Health", "What are the benefits of regular exercise?"},
      {"A country", "What is the capital of Italy?"},
      {"Nature", "What is photosynthesis?"},
      {"Advice", "Give me three tips for learning a language."},
  };
  return prompts;
}

}  // namespace fovea::app
