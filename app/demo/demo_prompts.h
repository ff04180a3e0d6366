// Four questions that the demo model answers well, each of another subject, so that other experts become busy
// with each. Chosen from 54 that were asked with three to eight seeds: docs/demo.md has the shares. Not among
// them are sums and riddles, which it gets wrong, and tales, which it likes to begin in the middle. English
// only, as the model.
#pragma once

#include <span>

namespace fovea::app {

struct DemoPrompt {
  const char* title;  // the subject; of the context DemoPrompts, for QCoreApplication::translate()
  const char* text;   // what is asked
};

std::span<const DemoPrompt> demo_prompts();

}  // namespace fovea::app
