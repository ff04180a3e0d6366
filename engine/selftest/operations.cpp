// Each operation of the device's table, over the cases that its tests and its benchmark use.
#include <algorithm>
#include <string>
#include <utility>

#include "engine/core/device_words.h"
#include "engine/core/errors.h"
#include "engine/core/result.h"
#include "engine/models/no_stream.h"
#include "engine/selftest/errors.h"
#include "engine/selftest/selftest.h"
#include "kernels/cases/case.h"
#include "kernels/reference/device.h"

namespace fovea::selftest {

using namespace kernels::cases;

Result<std::vector<SelfTestPart>> test_operations(const Bench& bench) {
  const kernels::Device& reference = kernels::reference::device();
  const auto truth = reference.make_stream({.threads = 1});
  const auto stream = bench.device.make_stream({.threads = bench.threads});
  // Matrices of BF16 by a library too, where the device knows of any.
  const bool asks_library = !bench.device.bf16_products().empty();
  const auto with_library =
      bench.device.make_stream({.threads = bench.threads, .multiplies_bf16 = asks_library});
  if (!stream || !with_library) return models::no_stream(bench.device);
  const Cases all = sweep_cases(bench.seed);
  std::vector<SelfTestPart> parts;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (bench.stop.stop_requested()) return stopped();
    const Case& one = *all[i];
    if (!one.applies(bench.device)) continue;
    const std::string operation = one.name.substr(0, one.name.find(' '));
    if (bench.progress) {
      bench.progress({.stage = Progress::Stage::self_test,
                      .done = static_cast<std::int64_t>(i),
                      .total = static_cast<std::int64_t>(all.size()),
                      .unit = Progress::Unit::cases,
                      .item = operation});
    }
    auto part = std::ranges::find(parts, operation, &SelfTestPart::name);
    if (bench.quick && part != parts.end()) continue;
    if (part == parts.end()) part = parts.insert(part, {.name = operation, .faults = {}});
    std::string damage;
    const std::vector<float> expected = run_once(one, reference, *truth, false, damage);
    const std::vector<double> tolerance = one.tolerance(expected);
    for (const auto& [packed, library] : {std::pair(false, false), {true, false}, {false, true}}) {
      if (library && !(asks_library && operation == "linear")) continue;
      kernels::Stream& chosen = library ? *with_library : *stream;
      const std::vector<float> outputs = run_once(one, bench.device, chosen, packed, damage);
      if (const kernels::Failure failure = chosen.failure(); !failure.empty())
        return fail(phrases::selftest_case_place(bench.device.name(), one.name),
                    errors::device_failed(phrase_of(failure)));
      part->worst = std::max(part->worst, worst_share(outputs, expected, tolerance));
      const Said wrong{!damage.empty() ? damage : difference(outputs, expected, tolerance)};
      count(*part, wrong.words.empty() ? Phrase()
                   : library           ? phrases::selftest_case_by_library(one.name, wrong)
                   : packed            ? phrases::selftest_case_packed(one.name, wrong)
                                       : phrases::selftest_case(one.name, wrong));
    }
  }
  return parts;
}

}  // namespace fovea::selftest
