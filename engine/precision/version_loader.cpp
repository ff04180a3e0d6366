#include "engine/precision/version_loader.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>

#include "engine/models/no_stream.h"
#include "engine/precision/errors.h"

namespace fovea::precision {

using kernels::cpu::ThreadPool;
using kernels::cpu::Waiting;

VersionLoader::VersionLoader(const kernels::Device& device, VersionSource& source,
                             const VersionTable& versions, std::int32_t reads_at_once, bool staged)
    : device_(device), source_(source), versions_(versions), reads_at_once_(reads_at_once) {
  for (std::int32_t i = 0; staged && i < reads_at_once; ++i) streams_.push_back(make_stream());
}

std::unique_ptr<kernels::Stream> VersionLoader::make_stream() const {
  return device_.make_stream({.threads = 1, .background = true});
}

Result<void> VersionLoader::load(const VersionLoad& load, std::byte* staging, kernels::Stream* stream) {
  const bool held = source_.holds_all();
  if ((staging || held) && !stream) return models::no_stream(device_);
  const std::int64_t bytes = versions_.bytes_of(load.unit, load.tier);
  VersionSource::Upload upload{
      .unit = load.unit, .tier = load.tier, .from = staging, .block = load.block.memory, .bytes = bytes};
  if (held) {
    FOVEA_TRY(const HeldVersion version, source_.hold(load.unit, load.tier, {}));
    upload.from = version.get();
    source_.upload(upload, device_, *stream);
  } else {
    std::byte* const memory = staging ? staging : load.block.memory;
    FOVEA_CHECK(source_.read(load.unit, load.tier, {memory, static_cast<std::size_t>(bytes)}, {}));
    if (!staging) return {};
    source_.upload(upload, device_, *stream);
  }
  stream->synchronize();
  if (const kernels::Failure failure = stream->failure(); !failure.empty())
    return device_failed(device_.name(), failure);
  return {};
}

Result<void> VersionLoader::load_all(std::span<const VersionLoad> loads, int threads,
                                     std::span<std::byte* const> staging, const ProgressSink& progress,
                                     const std::stop_token& stop) {
  std::mutex mutex;
  std::optional<Error> error;  // under the mutex
  std::atomic<bool> give_up = false;
  std::atomic<std::int64_t> done = 0, done_bytes = 0;
  Progress report{
      .stage = Progress::Stage::loading, .done = 0, .total = 0, .unit = Progress::Unit::bytes, .item = {}};
  for (const VersionLoad& load : loads) report.total += versions_.bytes_of(load.unit, load.tier);
  const auto tell = [&] {
    report.done = done_bytes;
    if (progress) progress(report);
  };
  const std::size_t most = source_.holds_all() ? 1 : staging.empty() ? 1024 : staging.size();
  const std::size_t count = std::min({static_cast<std::size_t>(std::max(threads, 1)), loads.size(), most});
  ThreadPool pool(static_cast<int>(count), Waiting::sleeping, "loader");
  std::vector<std::unique_ptr<kernels::Stream>> streams(static_cast<std::size_t>(pool.threads()));
  pool.for_chunks(std::ssize(loads), 1, [&](std::int64_t index, std::int64_t, int thread) {
    if (give_up || stop.stop_requested()) return;
    const VersionLoad& each = loads[static_cast<std::size_t>(index)];
    std::byte* const part = staging.empty() ? nullptr : staging[static_cast<std::size_t>(thread)];
    auto& stream = streams[static_cast<std::size_t>(thread)];
    if ((part || source_.holds_all()) && !stream) stream = make_stream();
    if (const auto status = load(each, part, stream.get()); !status) {
      const std::scoped_lock lock(mutex);
      if (!error) error = status.error();
      give_up = true;
      return;
    }
    ++done;
    done_bytes += versions_.bytes_of(each.unit, each.tier);
    if (thread == 0) tell();
  });
  tell();  // the end, also of what was stopped or failed
  if (error) return std::unexpected(*std::move(error));
  if (done < std::ssize(loads)) return fail(phrases::stage_loading(), errors::stopped_on_request());
  return {};
}

std::vector<Result<void>> VersionLoader::load_each(std::span<const VersionLoad> loads,
                                                   std::span<std::byte* const> staging) {
  std::vector<Result<void>> outcomes(loads.size());
  const bool staged = !staging.empty();
  const auto workers =
      staged ? std::min(reads_at_once_, static_cast<std::int32_t>(staging.size())) : reads_at_once_;
  if (!pool_) pool_.emplace(reads_at_once_, Waiting::sleeping, "disk loader");
  const auto load_one = [&](std::int64_t index, std::int64_t, int thread) {
    const auto t = static_cast<std::size_t>(thread);
    outcomes[static_cast<std::size_t>(index)] =
        load(loads[static_cast<std::size_t>(index)], staged ? staging[t] : nullptr,
             staged ? streams_[t].get() : nullptr);
  };
  pool_->for_chunks(std::ssize(loads), 1, load_one, workers);
  return outcomes;
}

}  // namespace fovea::precision
