// A loaded engine that several threads ask.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "app/server/served_models.h"
#include "engine/api/engine.h"

namespace fovea::app {

class ServedEngine : public ServedModel {
 public:
  ServedEngine(std::string name, std::unique_ptr<Engine> engine);

  const std::string& name() const override { return name_; }
  const ModelInfo& info() const override { return engine_->info(); }
  const LoadPlan& plan() const override { return engine_->plan(); }
  const TextModel& text() const override { return *text_; }
  std::int64_t context() const override { return engine_->settings().context; }
  SamplingSettings sampling() const override { return sampling_; }
  Result<std::vector<GenerateResult>> generate(const GenerateRequest& request,
                                               std::span<const std::uint64_t> seeds, const ChoiceSink& sink,
                                               std::stop_token stop) override;
  Result<std::vector<std::vector<float>>> embed(std::span<const std::vector<TokenId>> texts,
                                                std::stop_token stop) override;
  bool read_snapshot(Snapshot& snapshot, std::uint64_t& seen) override;

  // Between two answers: finishes the swaps that one began. True: some are still under way.
  bool rest();

 private:
  const std::string name_;
  const std::unique_ptr<Engine> engine_;
  const std::shared_ptr<const TextModel> text_;
  const SamplingSettings sampling_;

  std::mutex snapshot_mutex_;
  Snapshot snapshot_;                  // guarded by snapshot_mutex_
  std::uint64_t snapshot_number_ = 0;  // guarded by snapshot_mutex_
};

}  // namespace fovea::app
