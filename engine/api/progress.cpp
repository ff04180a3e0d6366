#include "engine/api/progress.h"

#include "engine/api/errors.h"

namespace fovea {

Phrase phrase_of(Progress::Stage stage) {
  using enum Progress::Stage;
  switch (stage) {
    case loading:
      return phrases::stage_loading();
    case prefill:
      return phrases::stage_prefill();
    case preparing:
      return phrases::stage_preparing();
    case calibrating:
      return phrases::stage_calibrating();
    case measuring:
      return phrases::stage_measuring();
    case writing:
      return phrases::stage_writing();
    case checking:
      return phrases::stage_checking();
    case building:
      return phrases::stage_building();
    case downloading:
      return phrases::stage_downloading();
    case self_test:
      return phrases::stage_self_test();
    case bench:
      return phrases::stage_bench();
    case perplexity:
      return phrases::stage_perplexity();
    case trace:
      return phrases::stage_trace();
    case replay:
      return phrases::stage_replay();
    case evaluating:
      return phrases::stage_evaluating();
  }
  return {};
}

Phrase phrase_of(Progress::Unit unit) {
  using enum Progress::Unit;
  switch (unit) {
    case bytes:
      return phrases::unit_bytes();
    case tokens:
      return phrases::unit_tokens();
    case versions:
      return phrases::unit_versions();
    case milliseconds:
      return phrases::unit_milliseconds();
    case prompts:
      return phrases::unit_prompts();
    case cases:
      return phrases::unit_cases();
    case promotions:
      return phrases::unit_promotions();
    case rounds:
      return phrases::unit_rounds();
    case lengths:
      return phrases::unit_lengths();
    case passes:
      return phrases::unit_passes();
    case documents:
      return phrases::unit_documents();
  }
  return {};
}

}  // namespace fovea
