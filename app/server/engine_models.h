// The models of the library and of the command line, loaded when somebody asks for them.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/server/served_models.h"
#include "engine/api/load_options.h"

namespace fovea::app {

struct EngineModelsSettings {
  std::vector<std::string> given = {};    // MODEL of the command line; the first is the default
  std::filesystem::path folder = {};      // the model library
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

  struct Parts;
  explicit EngineModels(std::unique_ptr<Parts> parts);

 private:
  std::unique_ptr<Parts> parts_;
};

}  // namespace fovea::app
