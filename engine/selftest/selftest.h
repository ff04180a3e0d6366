// The parts of `fovea selftest`, on any device.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>

#include "engine/api/progress.h"
#include "engine/api/selftest.h"
#include "kernels/api/device.h"

namespace fovea::selftest {

struct Bench {
  const kernels::Device& device;
  const kernels::Device* second = nullptr;  // another card beside it, or null
  int threads = 1;
  unsigned seed = 1;
  bool quick = false;
  std::filesystem::path folder;  // empty, for models and stores
  const ProgressSink& progress;
  std::stop_token stop;
};

// One part for each operation.
Result<std::vector<SelfTestPart>> test_operations(const Bench& bench);
Result<SelfTestPart> test_whole_model(const Bench& bench);
Result<SelfTestPart> test_decode_graphs(const Bench& bench);
Result<SelfTestPart> test_swap_storm(const Bench& bench);
// Of a card alone: experts change places with the processor's, and a model is divided over two.
Result<SelfTestPart> test_places(const Bench& bench);
Result<SelfTestPart> test_two_cards(const Bench& bench);
// All of them, in a folder of their own that is removed afterwards.
Result<SelfTestResult> run(const kernels::Device& device, const SelfTestSettings& settings,
                           const ProgressSink& progress = {}, std::stop_token stop = {},
                           const kernels::Device* second = nullptr);

// Counts a check; `fault` says what is wrong, empty: nothing.
void count(SelfTestPart& part, Phrase fault);
std::unexpected<Error> stopped();

}  // namespace fovea::selftest
