// What the demo model's file holds: metadata, and tensors that are made from the source and the recipe when
// it is their turn.
#pragma once

#include <functional>
#include <vector>

#include "app/demo/recipe.h"
#include "engine/checkpoint/checkpoint.h"

namespace fovea::app {

struct DemoTensor {
  checkpoint::TensorInfo info;
  std::function<std::vector<std::byte>()> make;
};

struct DemoContents {
  checkpoint::Metadata metadata;
  std::vector<DemoTensor> tensors;  // in the file's order
};

// Everything that the tensors will read is checked here. Source and recipe must outlive what is returned.
// `layers`: only so many, the first ones; 0: all.
Result<DemoContents> demo_contents(const checkpoint::Checkpoint& source, const Recipe& recipe,
                                   std::int64_t layers = 0);

}  // namespace fovea::app
