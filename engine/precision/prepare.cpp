#include "engine/precision/prepare.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <new>
#include <optional>

#include "engine/precision/calibrate.h"
#include "engine/precision/errors.h"
#include "engine/precision/fingerprint.h"
#include "engine/precision/prepare_check.h"
#include "engine/precision/prepare_memory.h"
#include "engine/precision/prepare_version.h"
#include "kernels/cpu/thread_pool.h"

namespace fovea::precision {
namespace {

constexpr std::int64_t memory_limit_bytes = std::int64_t{2} << 30;
constexpr auto progress_interval = std::chrono::milliseconds(30);

class Preparation {
 public:
  Preparation(const PrepareParts& parts, checkpoint::StoreWriter& writer, std::span<const std::int64_t> sizes,
              const ProgressSink& progress, std::stop_token stop)
      : parts_(parts), writer_(writer), sizes_(sizes), progress_(progress), stop_(std::move(stop)) {
    for (const std::int64_t bytes : sizes) {
      total_ += bytes;
      largest_ = std::max(largest_, bytes);
    }
    remaining_ = std::make_unique<std::atomic<std::int32_t>[]>(parts.checkpoint.tensors().size());
    for (const Unit& unit : parts.units.units()) {
      for (const models::MatrixSource& matrix : unit.matrices()) ++remaining_[index(*matrix.tensor)];
    }
    if (parts_.calibration == nullptr) return;
    for (const Unit& unit : parts_.units.units())
      reference_ = std::max(reference_, version_layout({"file", std::nullopt}, unit, parts_.computes).bytes);
    if (&parts_.device == &parts_.computes) return;
    for (const std::int64_t bytes : version_sizes(parts_.units, parts_.tiers, parts_.computes))
      measured_ = std::max(measured_, bytes);
  }

  Result<void> run(int threads) {
    const std::int64_t each = largest_ + reference_ + measured_;
    const std::int64_t fit = std::max<std::int64_t>(1, memory_limit_bytes / each);
    const std::int64_t count = std::min({std::int64_t{threads}, fit, parts_.units.size()});
    using kernels::cpu::ThreadPool;
    ThreadPool pool(static_cast<int>(count), kernels::cpu::Waiting::sleeping, "prepare");
    std::vector<std::optional<Worker>> workers(static_cast<std::size_t>(pool.threads()));
    pool.for_chunks(parts_.units.size(), 1, [&](std::int64_t unit, std::int64_t, int thread) {
      if (!stop_.stop_requested() && !failed_)
        work(static_cast<UnitId>(unit), workers[static_cast<std::size_t>(thread)], thread == 0);
    });
    if (error_) return std::unexpected(*error_);
    if (stop_.stop_requested())
      return fail(phrases::stage_preparing(), errors::stopped_on_request().advise(phrases::prepare_on()));
    report({}, true);
    return {};
  }

 private:
  class Worker;

  std::size_t index(const checkpoint::TensorInfo& tensor) const {
    return static_cast<std::size_t>(&tensor - parts_.checkpoint.tensors().data());
  }

  // Pages of tensors whose units are all done need not stay in this process.
  void leave(const Unit& unit) {
    for (const models::MatrixSource& matrix : unit.matrices()) {
      if (--remaining_[index(*matrix.tensor)] == 0) parts_.checkpoint.drop(*matrix.tensor);
    }
  }

  void work(UnitId unit, std::optional<Worker>& worker, bool reports) {
    try {
      if (!worker) worker.emplace(*this);
      const auto done = worker->prepare(unit);
      if (!done) return give_up(done.error());
      leave(parts_.units[unit]);
      if (reports) report(parts_.units.name(unit), false);
    } catch (const std::bad_alloc&) {
      give_up(errors::no_memory().at(phrases::stage_preparing()).advise(phrases::use_fewer_threads()));
    }
  }

  void give_up(Error error) {
    const std::scoped_lock lock(mutex_);
    if (!error_) error_ = std::move(error);
    failed_ = true;
  }

  // On the calling thread only.
  void report(const std::string& item, bool last) {
    const auto now = std::chrono::steady_clock::now();
    if (!progress_ || (!last && now - reported_ < progress_interval)) return;
    reported_ = now;
    progress_(
        {Progress::Stage::preparing, last ? total_ : done_.load(), total_, Progress::Unit::bytes, item});
  }

  // What one thread needs.
  class Worker {
   public:
    explicit Worker(Preparation& all)
        : all_(all),
          maker_(all.parts_.checkpoint),
          version_(all.parts_.computes, all.largest_),
          measured_(all.parts_.computes, all.measured_),
          check_(all.parts_, all.reference_) {}

    Result<void> prepare(UnitId id) {
      const PrepareParts& parts = all_.parts_;
      const Unit& unit = parts.units[id];
      Guidance guidance;
      if (parts.calibration != nullptr) guidance.importance = parts.calibration->importance(id);
      bool begun = false;
      for (std::size_t tier = 0; tier < parts.tiers.size(); ++tier) {
        if (all_.stop_.stop_requested()) return {};
        const std::int64_t bytes = all_.sizes_[static_cast<std::size_t>(id) * parts.tiers.size() + tier];
        const std::span<std::byte> memory = version_.first(bytes);
        const auto t = static_cast<std::int64_t>(tier);
        if (!all_.writer_.has(id, t) || !all_.writer_.read(id, t, memory)) {
          const bool measured = parts.calibration != nullptr && parts.calibration->has_inputs(id);
          if (measured && !begun) {
            FOVEA_CHECK(check_.begin(id));
            guidance.metrics = check_.metrics();
            begun = true;
          }
          checkpoint::Extent errors;
          std::vector<VersionMaker::Target> targets{{parts.device, memory}};
          if (measured && all_.measured_ > 0)
            targets.push_back(
                {parts.computes,
                 measured_.first(version_layout(parts.tiers[tier], unit, parts.computes).bytes)});
          FOVEA_TRY(errors.weight_error, maker_.make(parts.tiers[tier], unit, guidance, targets));
          errors.output_error = errors.weight_error;
          if (measured) {
            errors.output_error = check_.error(parts.tiers[tier], targets.back().version.data());
            errors.calibration_tokens =
                static_cast<std::uint32_t>(std::min<std::int64_t>(parts.calibration->tokens(id), 0xFFFFFFFF));
          }
          FOVEA_CHECK(all_.writer_.write(id, t, memory, errors));
        }
        all_.done_ += bytes;
      }
      return {};
    }

   private:
    Preparation& all_;
    VersionMaker maker_;
    DeviceMemory version_, measured_;
    OutputCheck check_;
  };

  const PrepareParts& parts_;
  checkpoint::StoreWriter& writer_;
  const std::span<const std::int64_t> sizes_;  // [units, tiers]
  const ProgressSink& progress_;
  const std::stop_token stop_;
  std::int64_t total_ = 0;
  std::int64_t largest_ = 0;    // version
  std::int64_t reference_ = 0;  // bytes of the largest unit as the file has it; 0: not needed
  std::int64_t measured_ = 0;   // of the largest version packed for what measures it; 0: it is the store's
  std::unique_ptr<std::atomic<std::int32_t>[]> remaining_;  // [tensors], matrices of units
  std::atomic<std::int64_t> done_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;
  std::optional<Error> error_;  // by mutex_ until the threads have ended
  std::chrono::steady_clock::time_point reported_{};
};

}  // namespace

checkpoint::StoreIdentity identity_of(const PrepareParts& parts) {
  checkpoint::StoreIdentity identity =
      store_identity(parts.checkpoint, parts.units, parts.tiers, parts.device);
  if (parts.calibration != nullptr) identity.calibration = parts.calibration->fingerprint();
  return identity;
}

Result<checkpoint::StoreWriter> write_versions(const PrepareParts& parts, const std::filesystem::path& path,
                                               int threads, const ProgressSink& progress,
                                               std::stop_token stop) {
  if (parts.units.size() == 0)
    return fail(phrases::file_place(parts.checkpoint.path()),
                errors::no_units_of_scope(scope_name(parts.units.scope())));
  FOVEA_CHECK(check_tiers(parts.units, parts.tiers));
  const std::vector<std::int64_t> sizes = version_sizes(parts.units, parts.tiers, parts.device);
  FOVEA_TRY(checkpoint::StoreWriter writer, checkpoint::StoreWriter::create(path, identity_of(parts), sizes));
  FOVEA_CHECK(Preparation(parts, writer, sizes, progress, std::move(stop)).run(std::max(threads, 1)));
  return writer;
}

}  // namespace fovea::precision
