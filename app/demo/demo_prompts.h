// Questions to begin with: short ones of different subjects, which the demo model answers sensibly
// (docs/demo.md).
#pragma once

#include <span>

namespace fovea::app {

struct DemoPrompt {
  const char* title;
  const char* text;
};

std::span<const DemoPrompt> demo_prompts();

}  // namespace fovea::app
