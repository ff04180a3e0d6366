#include "engine/selftest/selftest.h"

#include <cstdlib>
#include <system_error>
#include <utility>

#include "engine/core/result.h"
#include "engine/runtime/parts.h"
#include "engine/runtime/processor.h"
#include "engine/selftest/errors.h"
#include "kernels/api/gpus.h"

namespace fovea {
namespace {

constexpr std::size_t max_faults = 5;  // told of each part

// A folder that goes away with everything in it.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> create() {
    std::error_code error;
    std::string path = (std::filesystem::temp_directory_path(error) / "fovea-selftest-XXXXXX").string();
    if (error || !mkdtemp(path.data()))
      return fail(phrases::file_place(std::filesystem::path(path)), errors::selftest_no_folder());
    return TemporaryFolder(std::move(path));
  }
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace

std::int64_t SelfTestResult::checks() const {
  std::int64_t sum = 0;
  for (const SelfTestPart& part : parts) sum += part.checks;
  return sum;
}

std::int64_t SelfTestResult::failed() const {
  std::int64_t sum = 0;
  for (const SelfTestPart& part : parts) sum += part.failed;
  return sum;
}

void selftest::count(SelfTestPart& part, Phrase fault) {
  ++part.checks;
  if (fault.empty()) return;
  ++part.failed;
  if (part.faults.size() < max_faults) part.faults.push_back(std::move(fault));
}

std::unexpected<Error> selftest::stopped() {
  return fail(phrases::stage_self_test(), errors::stopped_on_request());
}

Result<SelfTestResult> selftest::run(const kernels::Device& device, const SelfTestSettings& settings,
                                     const ProgressSink& progress, std::stop_token stop,
                                     const kernels::Device* second) {
  return exhaustion_as_error([&]() -> Result<SelfTestResult> {
    FOVEA_TRY(const TemporaryFolder folder, TemporaryFolder::create());
    const Bench bench{.device = device,
                      .second = second,
                      .threads = settings.threads > 0 ? settings.threads : runtime::physical_cores(),
                      .seed = settings.seed,
                      .quick = settings.quick,
                      .folder = folder.path(),
                      .progress = progress,
                      .stop = std::move(stop)};
    SelfTestResult result{.device = device.name(), .instruction_set = device.instruction_set(), .parts = {}};
    FOVEA_TRY(result.parts, test_operations(bench));
    if (settings.quick) return result;
    FOVEA_TRY(auto model, test_whole_model(bench));
    result.parts.push_back(std::move(model));
    FOVEA_TRY(auto graphs, test_decode_graphs(bench));
    result.parts.push_back(std::move(graphs));
    FOVEA_TRY(auto storm, test_swap_storm(bench));
    result.parts.push_back(std::move(storm));
    if (device.memory_is_host()) return result;
    FOVEA_TRY(auto places, test_places(bench));
    result.parts.push_back(std::move(places));
    FOVEA_TRY(auto divided, test_two_cards(bench));
    result.parts.push_back(std::move(divided));
    return result;
  });
}

Result<SelfTestResult> run_selftest(const SelfTestSettings& settings, const ProgressSink& progress,
                                    std::stop_token stop) {
  FOVEA_TRY(const kernels::Device* device, runtime::chosen_device(settings.device));
  const kernels::Device* second = nullptr;
  for (const kernels::ModuleDevice& other : kernels::gpus().devices)
    if (!device->memory_is_host() && other.device && other.device != device) second = other.device;
  return selftest::run(*device, settings, progress, std::move(stop), second);
}

}  // namespace fovea
