#include "app/commands/loading.h"

#include <chrono>

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

Result<LoadRequest> load_request(const std::string& model, const LoadFlags& flags) {
  LoadRequest request;
  FOVEA_TRY(request.model, find_model(model));
  request.context = flags.context;
  request.kv = flags.kv;
  request.device = flags.device;
  request.threads = flags.threads;
  request.chunk = flags.chunk;
  return request;
}

Result<LoadRequest> load_request(const std::string& model, const LoadFlags& flags,
                                 const PrecisionFlags& precision) {
  FOVEA_TRY(LoadRequest request, load_request(model, flags));
  FOVEA_TRY(request.precision, precision_request(precision, names_gpu(flags)));
  if (request.precision.policy == PolicyKind::none && request.precision.budget_bytes > 0 && !names_gpu(flags))
    return fail(ErrorKind::invalid, "--budget", "without a policy nothing keeps to it on the processor",
                "Leave out --policy none");
  request.precision.stores_folder = stores_folder();
  return request;
}

Error as_seen_in_terminal(Error error) {
  if (error.kind == ErrorKind::device)
    error.advice = "Start the program again: only that brings the device back";
  return error;
}

Result<LoadedEngine> load_engine(const LoadRequest& request, Console& console, std::stop_token stop) {
  const auto start = std::chrono::steady_clock::now();
  FOVEA_TRY(auto engine, Engine::load(request, console.progress(), std::move(stop)));
  console.clear_progress();
  if (const Plan* plan = engine->plan()) {
    for (const Phrase& note : plan->notes) console.note(english(note));
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return LoadedEngine{std::move(engine), seconds};
}

}  // namespace fovea::app
