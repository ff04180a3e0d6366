// A loaded engine that several threads ask.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "app/server/served_models.h"
#include "app/server/shared_snapshots.h"
#include "engine/api/engine.h"

namespace fovea::app {

class ServedEngine : public ServedModel {
 public:
  ServedEngine(std::string name, std::unique_ptr<Engine> engine);

  const std::string& name() const override { return name_; }
  const ModelInfo& info() const override { return info_; }
  const LoadPlan& plan() const override { return plan_; }
  const TextModel& text() const override { return *text_; }
  std::int64_t context() const override { return plan_.options.context; }
  SamplingSettings sampling() const override { return sampling_; }
  Result<std::vector<GenerateResult>> generate(const GenerateRequest& request,
                                               std::span<const std::uint64_t> seeds, const ChoiceSink& sink,
                                               std::stop_token stop) override;
  Result<std::vector<TokenId>> prompt(const GenerateRequest& request) override;
  Result<std::vector<std::vector<float>>> embed(std::span<const std::vector<TokenId>> texts,
                                                std::stop_token stop) override;
  bool read_snapshot(Snapshot& snapshot, std::uint64_t& seen) override;
  std::span<const ExpertLayer> expert_layers() const override { return expert_layers_; }
  std::int64_t questions() const override { return questions_; }

  // Between two answers: finishes the swaps that one began. True: some are still under way.
  bool rest();

  void count_question() { ++questions_; }  // one that was asked past generate()

  // Of who loaded it, and closes it: until then.
  Engine& engine() { return *engine_; }
  // Lets go of the engine, once the answers of generate() have ended, which are told to; they and all later
  // ones are errors. What else is known of the model stays.
  void close();

 private:
  const std::string name_;
  std::unique_ptr<Engine> engine_;  // gone with close(), which waits for its users
  const ModelInfo info_;
  const LoadPlan plan_;
  const std::shared_ptr<const TextModel> text_;
  const SamplingSettings sampling_;
  const std::vector<ExpertLayer> expert_layers_;

  std::stop_source closing_;
  std::mutex users_mutex_;
  std::condition_variable unused_;
  int users_ = 0;  // guarded by users_mutex_: calls that use the engine

  // Counts its caller among the users, unless the engine is being closed.
  class Use;
  template <typename Ask, typename IsCut>
  auto while_open(const std::stop_token& stop, Ask ask, IsCut is_cut) -> decltype(ask(std::stop_token()));

  SharedSnapshots snapshots_;
  std::atomic<std::int64_t> questions_ = 0;
};

}  // namespace fovea::app
