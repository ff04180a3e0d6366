// Models for tests of the server: they say what a test wrote, and remember what they were asked.
#pragma once

#include <QtGlobal>
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "app/server/errors.h"
#include "app/server/served_models.h"
#include "engine/api/errors.h"
#include "tests/support/paths.h"

namespace fovea::tests {

class FakeModel : public app::ServedModel {
 public:
  explicit FakeModel(std::string name) : name_(std::move(name)) {
    auto text = TextModel::open(golden("chat"));
    if (!text) qFatal("%s", text.error().message().c_str());
    text_ = *text;
    info_.architecture = "llama";
    info_.format = "GGUF v3";
    info_.context = 512;
    info_.parameters = 135'000'000;
    info_.bytes_by_type = {{"Q4_K", 100}, {"F32", 3}};
    info_.has_chat_template = true;
    info_.can_switch_thinking = true;
  }

  // What is generated: in pieces, as a test wants them.
  std::vector<std::string> pieces = {"Hello", " there"};
  GenerateResult result = {};
  std::optional<Error> error = {};
  // Instead of all that; called without a lock.
  std::function<Result<GenerateResult>(const GenerateRequest&, const TextSink&, const std::stop_token&)>
      answer = {};

  std::vector<GenerateRequest> asked() const {
    const std::scoped_lock lock(mutex_);
    return asked_;
  }
  std::atomic<int> running = 0, cancelled = 0;

  const std::string& name() const override { return name_; }
  const ModelInfo& info() const override { return info_; }
  ModelInfo& info() { return info_; }
  const LoadPlan& plan() const override { return plan_; }
  const TextModel& text() const override { return *text_; }
  std::int64_t context() const override { return 512; }
  SamplingSettings sampling() const override { return {.temperature = 0.25F}; }
  bool read_snapshot(Snapshot& snapshot, std::uint64_t& seen) override {
    if (seen == 1) return false;
    seen = 1;
    snapshot.tokens = 77;
    return true;
  }

  Result<GenerateResult> generate(const GenerateRequest& request, const TextSink& sink,
                                  std::stop_token stop) override {
    {
      const std::scoped_lock lock(mutex_);
      asked_.push_back(request);
    }
    ++running;
    auto done = answer ? answer(request, sink, stop) : say(sink);
    --running;
    if (stop.stop_requested()) ++cancelled;
    return done;
  }

  // Until the client is gone.
  static Result<GenerateResult> wait_for_stop(const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    stopped.wait(lock, stop, [] { return false; });
    GenerateResult result;
    result.finish = FinishReason::cancelled;
    return result;
  }

 private:
  Result<GenerateResult> say(const TextSink& sink) const {
    if (error) return std::unexpected(*error);
    GenerateResult said = result;
    for (const std::string& piece : pieces) {
      sink(piece, said.timings);
      said.text += piece;
    }
    return said;
  }

  const std::string name_;
  std::shared_ptr<const TextModel> text_;
  ModelInfo info_;
  LoadPlan plan_;
  mutable std::mutex mutex_;
  std::vector<GenerateRequest> asked_;  // guarded by mutex_
};

class FakeModels : public app::ServedModels {
 public:
  std::shared_ptr<FakeModel> model = std::make_shared<FakeModel>("tiny");
  std::optional<Error> error = {};  // of acquire()
  std::vector<std::pair<std::string, std::int64_t>> kept;

  std::vector<app::ServedEntry> list() override {
    return {{.name = "tiny", .path = {}, .file_bytes = 1000, .modified = 1'700'000'000, .is_loaded = true}};
  }
  Result<std::shared_ptr<app::ServedModel>> acquire(const std::string& name,
                                                    const std::stop_token&) override {
    if (error) return std::unexpected(*error);
    if (name.empty() || name == "tiny") return model;
    return std::unexpected(errors::server_no_model(name, std::vector<std::string>{"tiny"}));
  }
  Result<ModelInfo> inspect(const std::string& name) override {
    if (name == "tiny") return std::as_const(*model).info();
    return std::unexpected(errors::server_no_model(name, std::vector<std::string>{"tiny"}));
  }
  Result<LoadPlan> plan(const std::string&) override { return LoadPlan{}; }
  std::shared_ptr<app::ServedModel> loaded() override { return model; }
  void keep(const std::string& name, std::chrono::seconds time) override {
    kept.emplace_back(name, time.count());
  }
};

}  // namespace fovea::tests
