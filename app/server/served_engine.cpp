#include "app/server/served_engine.h"

#include <algorithm>
#include <utility>

#include "app/library/sampling_defaults.h"
#include "app/server/errors.h"
#include "engine/core/result.h"

namespace fovea::app {

class ServedEngine::Use {
 public:
  explicit Use(ServedEngine& of) : of_(of) {
    const std::scoped_lock lock(of_.users_mutex_);
    is_open_ = !of_.closing_.stop_requested();
    if (is_open_) ++of_.users_;
  }
  ~Use() {
    if (!is_open_) return;
    const std::scoped_lock lock(of_.users_mutex_);
    if (--of_.users_ == 0) of_.unused_.notify_all();
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  bool is_open() const { return is_open_; }

 private:
  ServedEngine& of_;
  bool is_open_ = false;
};

ServedEngine::ServedEngine(std::string name, std::unique_ptr<Engine> engine)
    : name_(std::move(name)),
      engine_(std::move(engine)),
      info_(engine_->info()),
      plan_(engine_->plan()),
      text_(engine_->text()),
      sampling_(sampling_defaults(info_).sampling),
      expert_layers_(engine_->expert_layers()) {}

// What `ask` gets of the engine, with a stop of the client's or of close(); the latter is an error of its
// own.
template <typename Ask, typename IsCut>
auto ServedEngine::while_open(const std::stop_token& stop, Ask ask, IsCut is_cut)
    -> decltype(ask(std::stop_token())) {
  const auto closed = [this] {
    return fail(phrases::server_request_place(), errors::server_model_closed(name_));
  };
  const Use use(*this);
  if (!use.is_open()) return closed();
  std::stop_source either;
  const auto end = [&either] { either.request_stop(); };
  const std::stop_callback by_client(stop, end), by_us(closing_.get_token(), end);
  auto result = ask(either.get_token());
  const bool cut = result ? is_cut(*result) : result.error().kind == ErrorKind::cancelled;
  if (cut && !stop.stop_requested()) return closed();
  return result;
}

Result<std::vector<GenerateResult>> ServedEngine::generate(const GenerateRequest& request,
                                                           std::span<const std::uint64_t> seeds,
                                                           const ChoiceSink& sink, std::stop_token stop) {
  ++questions_;
  return while_open(
      stop,
      [&](const std::stop_token& either) { return engine_->generate_choices(request, seeds, sink, either); },
      [](const std::vector<GenerateResult>& choices) {
        return std::ranges::any_of(
            choices, [](const GenerateResult& each) { return each.finish == FinishReason::cancelled; });
      });
}

Result<std::vector<TokenId>> ServedEngine::prompt(const GenerateRequest& request) {
  return while_open(
      {}, [&](const std::stop_token&) { return engine_->prompt(request); },
      [](const std::vector<TokenId>&) { return false; });
}

Result<std::vector<std::vector<float>>> ServedEngine::embed(std::span<const std::vector<TokenId>> texts,
                                                            std::stop_token stop) {
  return while_open(
      stop, [&](const std::stop_token& either) { return engine_->embed(texts, either); },
      [](const std::vector<std::vector<float>>&) { return false; });
}

bool ServedEngine::rest() {
  const Use use(*this);
  if (!use.is_open()) return false;
  const EngineLoad load = engine_->load();
  return load.answering + load.waiting == 0 && engine_->rest();
}

bool ServedEngine::read_snapshot(Snapshot& snapshot, std::uint64_t& seen) {
  const Use use(*this);
  return snapshots_.read(use.is_open() ? engine_.get() : nullptr, snapshot, seen);
}

void ServedEngine::close() {
  closing_.request_stop();
  {
    std::unique_lock lock(users_mutex_);
    unused_.wait(lock, [this] { return users_ == 0; });
  }
  engine_.reset();
}

}  // namespace fovea::app
