#include "app/commands/loading.h"

#include <chrono>

#include "app/commands/errors.h"
#include "app/library/data_folder.h"
#include "app/library/model_library.h"
#include "app/library/stores.h"
#include "engine/core/log.h"
#include "engine/core/result.h"

namespace fovea::app {

Result<std::filesystem::path> find_model(const std::string& argument) {
  FOVEA_TRY(auto path, resolve_model(argument, models_folder()));
  log::info("app", "MODEL ", argument, " is ", path.string());
  return path;
}

Result<LoadOptions> load_options(const std::string& model, const LoadOptions& flags) {
  LoadOptions options = flags;
  FOVEA_TRY(options.model, find_model(model));
  FOVEA_TRY(options.precision, precision_request(flags.precision, names_gpu(options)));
  if (options.precision.policy == PolicyKind::none && options.precision.budget_bytes > 0 &&
      !names_gpu(options))
    return fail(phrases::option_place("--budget"), errors::budget_without_policy());
  options.precision.stores_folder = stores_folder();
  return options;
}

Error as_seen_in_terminal(Error error) {
  if (error.kind == ErrorKind::device) error.advice = phrases::only_restart_helps();
  return error;
}

Result<LoadedEngine> load_engine(const LoadOptions& options, Console& console, std::stop_token stop) {
  const auto start = std::chrono::steady_clock::now();
  FOVEA_TRY(auto engine, Engine::load(options, console.progress(), std::move(stop)));
  console.clear_progress();
  for (const Phrase& note : engine->plan().plan.notes) console.note(english(note));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return LoadedEngine{std::move(engine), seconds};
}

}  // namespace fovea::app
