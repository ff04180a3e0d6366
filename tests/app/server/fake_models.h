// Models for tests of the server: they say what a test wrote, and remember what they were asked.
#pragma once

#include <QtGlobal>
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <span>
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
    info_.hidden = 3;
    info_.parameters = 135'000'000;
    info_.bytes_by_type = {{"Q4_K", 100}, {"F32", 3}};
    info_.has_chat_template = true;
    info_.can_switch_thinking = true;
  }

  // What is generated: in pieces, as a test wants them.
  std::vector<std::string> pieces = {"Hello", " there"};
  std::vector<std::vector<TokenChoice>> tokens = {};  // told with each of these
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
  LoadPlan& plan() { return plan_; }
  const TextModel& text() const override { return *text_; }
  std::int64_t context() const override { return 512; }
  SamplingSettings sampling() const override { return {.temperature = 0.25F}; }
  bool read_snapshot(Snapshot& snapshot, std::uint64_t& seen) override {
    if (seen == 1) return false;
    seen = 1;
    snapshot = shown;
    snapshot.tokens = 77;
    return true;
  }
  Snapshot shown = {};  // what its experts do
  std::span<const ExpertLayer> expert_layers() const override { return layers; }
  std::vector<ExpertLayer> layers = {};
  std::int64_t questions() const override { return std::ssize(asked()); }

  Result<std::vector<GenerateResult>> generate(const GenerateRequest& request,
                                               std::span<const std::uint64_t> seeds, const ChoiceSink& sink,
                                               std::stop_token stop) override {
    GenerateRequest one = request;
    for (const std::uint64_t seed : seeds) {
      one.sampling.seed = seed;
      const std::scoped_lock lock(mutex_);
      asked_.push_back(one);
    }
    ++running;
    auto done = answer ? answer_each(one, seeds, sink, stop) : say(seeds.size(), sink);
    --running;
    if (stop.stop_requested()) ++cancelled;
    return done;
  }
  // As the template has it, for want of an engine.
  Result<std::vector<TokenId>> prompt(const GenerateRequest& request) override {
    if (error) return std::unexpected(*error);
    const std::scoped_lock lock(mutex_);
    read_.push_back(request);
    nlohmann::ordered_json messages = nlohmann::ordered_json::array();
    for (const Message& message : request.messages)
      messages.push_back({{"role", message.role}, {"content", message.content}});
    const auto rendered = text_->render(messages.dump(), true);
    if (!rendered) return std::unexpected(rendered.error());
    return text_->encode(*rendered, {.add_special = false, .parse_special = true});
  }
  // Requests whose prompts were asked for.
  std::vector<GenerateRequest> read() const {
    const std::scoped_lock lock(mutex_);
    return read_;
  }
  // Of a text of n tokens [3, 4, n].
  Result<std::vector<std::vector<float>>> embed(std::span<const std::vector<TokenId>> texts,
                                                std::stop_token stop) override {
    if (error) return std::unexpected(*error);
    if (stop.stop_requested()) return std::unexpected(errors::stopped_on_request());
    const std::scoped_lock lock(mutex_);
    std::vector<std::vector<float>> means;
    for (const std::vector<TokenId>& text : texts) {
      embedded_.push_back(text);
      means.push_back({3, 4, static_cast<float>(text.size())});
    }
    return means;
  }
  std::vector<std::vector<TokenId>> embedded() const {
    const std::scoped_lock lock(mutex_);
    return embedded_;
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
  // Piece by piece, each by all.
  Result<std::vector<GenerateResult>> say(std::size_t choices, const ChoiceSink& sink) const {
    if (error) return std::unexpected(*error);
    std::vector<GenerateResult> said(choices, result);
    for (std::size_t i = 0; i < pieces.size(); ++i)
      for (std::size_t choice = 0; choice < choices; ++choice) {
        sink(choice, {.text = pieces[i],
                      .so_far = result.timings,
                      .choices = i < tokens.size() ? tokens[i] : std::span<const TokenChoice>()});
        said[choice].text += pieces[i];
      }
    return said;
  }
  Result<std::vector<GenerateResult>> answer_each(GenerateRequest request,
                                                  std::span<const std::uint64_t> seeds,
                                                  const ChoiceSink& sink, const std::stop_token& stop) const {
    std::vector<GenerateResult> results;
    for (std::size_t i = 0; i < seeds.size(); ++i) {
      request.sampling.seed = seeds[i];
      auto said = answer(
          request,
          [&](std::string_view text, const Timings& so_far) {
            sink(i, {.text = text, .so_far = so_far, .choices = {}});
          },
          stop);
      if (!said) return std::unexpected(said.error());
      results.push_back(*std::move(said));
    }
    return results;
  }

  const std::string name_;
  std::shared_ptr<const TextModel> text_;
  ModelInfo info_;
  LoadPlan plan_;
  mutable std::mutex mutex_;
  std::vector<GenerateRequest> asked_, read_;   // guarded by mutex_
  std::vector<std::vector<TokenId>> embedded_;  // guarded by mutex_
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
