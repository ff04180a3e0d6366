// What the server needs of models: the loaded one that a request names, and what there is to name.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/api/error.h"
#include "engine/api/model_info.h"
#include "engine/api/plan.h"
#include "engine/api/request.h"
#include "engine/api/snapshot.h"
#include "engine/api/text.h"
#include "engine/api/trace.h"

namespace fovea::app {

// A model that is loaded for as long as somebody holds it. Any thread may call it.
class ServedModel {
 public:
  virtual ~ServedModel() = default;
  virtual const std::string& name() const = 0;
  virtual const ModelInfo& info() const = 0;
  virtual const LoadPlan& plan() const = 0;
  virtual const TextModel& text() const = 0;
  virtual std::int64_t context() const = 0;       // tokens
  virtual SamplingSettings sampling() const = 0;  // as it likes to be sampled
  // Blocks until the answers are there, one for each seed. Errors and cancellation as
  // Engine::generate_choices.
  virtual Result<std::vector<GenerateResult>> generate(const GenerateRequest& request,
                                                       std::span<const std::uint64_t> seeds,
                                                       const ChoiceSink& sink, std::stop_token stop) = 0;
  // As Engine::prompt.
  virtual Result<std::vector<TokenId>> prompt(const GenerateRequest& request) = 0;
  // Blocks as well. As Engine::embed.
  virtual Result<std::vector<std::vector<float>>> embed(std::span<const std::vector<TokenId>> texts,
                                                        std::stop_token stop) = 0;
  // The last one, where it is another than `seen`, which becomes its number. Several may look at once.
  virtual bool read_snapshot(Snapshot& snapshot, std::uint64_t& seen) = 0;
  virtual std::span<const ExpertLayer> expert_layers() const = 0;
  virtual std::int64_t questions() const = 0;  // that it was asked
};

struct ServedEntry {
  std::string name;
  std::filesystem::path path;
  std::int64_t file_bytes = 0;
  std::int64_t modified = 0;  // seconds since 1970
  bool is_loaded = false;
};

class ServedModels {
 public:
  virtual ~ServedModels() = default;
  virtual std::vector<ServedEntry> list() = 0;
  // Loads it where it is not. Empty: the one that is served by default. ErrorKind::not_found names those
  // there are; ErrorKind::memory has the planner's numbers.
  virtual Result<std::shared_ptr<ServedModel>> acquire(const std::string& name,
                                                       const std::stop_token& stop) = 0;
  // Only if it is loaded, or by its file alone: nothing is loaded.
  virtual Result<ModelInfo> inspect(const std::string& name) = 0;
  virtual Result<LoadPlan> plan(const std::string& name) = 0;
  virtual std::shared_ptr<ServedModel> loaded() = 0;  // the one used last; null: none
  // Until when it stays loaded without being asked; nothing: as the server was started with.
  virtual void keep(const std::string& name, std::chrono::seconds time) = 0;
};

}  // namespace fovea::app
