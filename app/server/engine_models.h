// The models of the library and of the command line, loaded when somebody asks for them.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/server/served_models.h"
#include "engine/api/load_options.h"

namespace fovea::app {

class ServedEngine;

struct EngineModelsSettings {
  std::vector<std::string> given = {};  // MODEL of the command line; the first is the default
  std::filesystem::path folder = {};    // the model library
  // Names and places of others, behind those of the library; none where it is empty. Any thread.
  std::function<std::vector<std::pair<std::string, std::filesystem::path>>()> others = {};
  std::chrono::seconds idle_unload{600};  // 0: never
  std::int64_t device_bytes = 0;          // as if the device had so many; 0: what it has
  // What the flags mean for a model, as fovea chat has it.
  std::function<Result<LoadOptions>(const std::string& model)> options;
};

class EngineModels : public ServedModels {
 public:
  // ErrorKind::not_found where one of the given is not there.
  static Result<std::unique_ptr<EngineModels>> open(EngineModelsSettings settings);
  ~EngineModels() override;

  std::vector<std::string> given() const;  // names of those of the command line

  std::vector<ServedEntry> list() override;
  Result<std::shared_ptr<ServedModel>> acquire(const std::string& name, const std::stop_token& stop) override;
  Result<ModelInfo> inspect(const std::string& name) override;
  Result<LoadPlan> plan(const std::string& name) override;
  std::shared_ptr<ServedModel> loaded() override;
  void keep(const std::string& name, std::chrono::seconds time) override;

  // The window's model, which somebody else loads and closes: the one that is served by default, counted with
  // what it holds, and unloaded for no client. It is exchanged in three steps. Where it leaves, clients'
  // loads end and wait until the next one is there, …
  void begin_exchange();
  // … models that nobody asks give up their memory, as far as the next one needs it, …
  void make_room(const LoadOptions& next);
  // … and it is served. Null: there is none.
  void end_exchange(const std::filesystem::path& path, std::shared_ptr<ServedEngine> model);

  struct Parts;
  explicit EngineModels(std::unique_ptr<Parts> parts);

 private:
  std::unique_ptr<Parts> parts_;
};

}  // namespace fovea::app
