// Whether a device computes right on this machine: `fovea selftest`.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/api/error.h"
#include "engine/api/progress.h"

namespace fovea {

struct SelfTestSettings {
  std::string device = {};  // as LoadOptions's
  int threads = 0;          // 0: the physical cores
  unsigned seed = 1;        // of the operations' inputs
  bool quick = false;       // one case of each operation, and nothing else: what a watching tool slows down
};

struct SelfTestPart {
  std::string name;            // "linear", "whole model", "swap storm"
  std::int64_t checks = 0;     // made
  std::int64_t failed = 0;     // of those
  std::vector<Phrase> faults;  // of the first failed ones: where, what was expected, what came
  double worst = 0;  // of an operation: the largest error ÷ what is allowed; beyond 1 a check has failed
};

struct SelfTestResult {
  std::string device;           // "cpu", "cuda:0"
  std::string instruction_set;  // in use; a GPU's architecture
  std::vector<SelfTestPart> parts;

  std::int64_t checks() const;
  std::int64_t failed() const;
};

// Runs on the device, in this order:
//   - each operation, in the file's packing and in the device's own, against plain loops in double precision,
//     within the error that the values' norms allow;
//   - two whole models of random weights, in prompts of 1, 7 and 19 tokens, against the logits that
//     transformers computes of them: 1e-4 where the weights are floats, 3 % of the largest where the experts
//     are Q4_0;
//   - a swap storm: experts change tier after each pass for some hundred passes; when all are back, the
//     logits must be the first ones bit for bit.
// A part with faults is a result. An error is a device that is not there or that fails as a whole.
Result<SelfTestResult> run_selftest(const SelfTestSettings& settings, const ProgressSink& progress = {},
                                    std::stop_token stop = {});

}  // namespace fovea
