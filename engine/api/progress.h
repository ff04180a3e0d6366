// How far a long operation is. Plain data.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "engine/api/sentence.h"

namespace fovea {

struct Progress {
  enum class Stage : std::uint8_t {
    loading,      // a model or its weights
    prefill,      // of a prompt
    preparing,    // a store's versions
    calibrating,  // what a model does with a text, and how fast it is here
    measuring,    // what each of a store's versions does to the output
    writing,      // what is prepared, to the disk
    checking,     // a file
    building,     // the demo model
    downloading,
    self_test,
    bench,
    perplexity,
    trace,
    replay,
    evaluating,  // tasks
  };
  enum class Unit : std::uint8_t {
    bytes,
    tokens,
    versions,
    milliseconds,
    prompts,
    cases,
    promotions,
    rounds,
    lengths,
    passes,
    documents,
  };

  Stage stage = Stage::loading;
  std::int64_t done = 0;
  std::int64_t total = 0;  // 0: not known
  Unit unit = Unit::bytes;
  std::string item;  // the tensor, the file; may be empty
};

Phrase phrase_of(Progress::Stage stage);
Phrase phrase_of(Progress::Unit unit);

using ProgressSink = std::function<void(const Progress&)>;

}  // namespace fovea
