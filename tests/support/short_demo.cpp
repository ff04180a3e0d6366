// Builds the demo model's first layers for the tests, once for each recipe.
#include <cstdio>

#include "app/demo/demo_model.h"
#include "tests/support/paths.h"

namespace fs = std::filesystem;

int main() {
  constexpr std::int64_t layers = 4;
  const fs::path source = fovea::tests::demo_dense_model();
  if (source.empty()) {
    std::puts("the demo model is not there; ./scripts/demo builds it");
    return 0;  // the tests that need it say so
  }
  const fs::path folder = fs::path(FOVEA_BINARY_DIR) / "tests/demo", target = folder / "demo.gguf";
  const fs::path made_of = folder / fovea::app::demo_recipe_id;
  if (fs::exists(made_of) && fs::exists(target)) return 0;
  fs::remove_all(folder);
  fs::create_directories(folder);
  if (const auto built = fovea::app::build_demo_model(source, target, layers); !built) {
    std::puts(built.error().message().c_str());
    return 1;
  }
  fs::create_directory(made_of);
  return 0;
}
