#include <limits>

#include "engine/api/engine.h"
#include "engine/core/result.h"
#include "engine/runtime/answer.h"
#include "engine/runtime/scheduler.h"

namespace fovea {

Result<GenerateResult> Engine::generate(const GenerateRequest& request, const TextSink& sink,
                                        const ProgressSink& progress, std::stop_token stop,
                                        const RecordSink& records) {
  return exhaustion_as_error([&]() -> Result<GenerateResult> {
    FOVEA_TRY(const auto answer, runtime::Answer::create(*parts_, request, std::move(stop), bool(records)));
    runtime::Computation* const all[] = {answer.get()};
    parts_->scheduler->run(all, [&](std::size_t, const runtime::AnswerNews& news) {
      if (progress && news.progress) progress(*news.progress);
      for (const runtime::AnswerNews::Piece& piece : news.pieces)
        if (sink) sink(piece.text, piece.so_far);
      if (!news.records.empty()) records(news.records);
    });
    return std::move(*answer).result();
  });
}

Result<std::vector<TokenId>> Engine::prompt(const GenerateRequest& request) const {
  return exhaustion_as_error([&]() -> Result<std::vector<TokenId>> {
    constexpr std::int64_t any_length = std::numeric_limits<std::int64_t>::max();
    FOVEA_TRY(auto question, runtime::Answer::question(*parts_, request, any_length));
    return std::move(question.prompt.tokens);
  });
}

Result<std::vector<GenerateResult>> Engine::generate_choices(const GenerateRequest& request,
                                                             std::span<const std::uint64_t> seeds,
                                                             const ChoiceSink& sink, std::stop_token stop) {
  return exhaustion_as_error([&]() -> Result<std::vector<GenerateResult>> {
    std::vector<GenerateRequest> requests(seeds.size(), request);  // which the answers refer to
    std::vector<std::unique_ptr<runtime::Answer>> answers;
    std::vector<runtime::Computation*> all;
    for (std::size_t i = 0; i < seeds.size(); ++i) {
      requests[i].sampling.seed = seeds[i];
      FOVEA_TRY(answers.emplace_back(), runtime::Answer::create(*parts_, requests[i], stop));
      all.push_back(answers.back().get());
    }
    const auto tell = [&](std::size_t choice, const runtime::AnswerNews& news) {
      if (!sink) return;
      for (const runtime::AnswerNews::Piece& piece : news.pieces)
        sink(choice, {.text = piece.text, .so_far = piece.so_far, .choices = piece.choices});
    };
    parts_->scheduler->run(all, tell, request.reuse_cache);
    std::vector<GenerateResult> results;
    for (const auto& answer : answers) {
      FOVEA_TRY(results.emplace_back(), std::move(*answer).result());
    }
    return results;
  });
}

EngineLoad Engine::load() const {
  const runtime::Scheduler::Load load = parts_->scheduler->load();
  return {.answering = load.answering, .waiting = load.waiting};
}

}  // namespace fovea
