#include "app/demo/demo_prompts.h"

#include <QtGlobal>

namespace fovea::app {

std::span<const DemoPrompt> demo_prompts() {
  static constexpr DemoPrompt prompts[] = {
      {QT_TRANSLATE_NOOP("fovea::app::DemoPrompts", "A poem"), "Write a poem about the sea."},
      {QT_TRANSLATE_NOOP("fovea::app::DemoPrompts", "Python"),
       "Write a Python function that checks whether a number is even."},
      {QT_TRANSLATE_NOOP("fovea::app::DemoPrompts", "Health"), "What are the benefits of regular exercise?"},
      {QT_TRANSLATE_NOOP("fovea::app::DemoPrompts", "A country"), "What is the capital of Italy?"},
  };
  return prompts;
}

}  // namespace fovea::app
