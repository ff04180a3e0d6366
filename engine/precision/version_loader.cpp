#include "engine/precision/version_loader.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "engine/core/thread.h"
#include "engine/models/no_stream.h"
#include "engine/precision/errors.h"

namespace fovea::precision {

VersionLoader::VersionLoader(const kernels::Device& device, VersionSource& source,
                             const VersionTable& versions, std::int32_t reads_at_once, bool staged)
    : device_(device),
      source_(source),
      versions_(versions),
      reads_at_once_(reads_at_once),
      pool_(reads_at_once) {
  for (std::int32_t i = 0; staged && i < reads_at_once; ++i) streams_.push_back(make_stream());
}

std::unique_ptr<kernels::Stream> VersionLoader::make_stream() const {
  return device_.make_stream({.threads = 1, .background = true});
}

Result<void> VersionLoader::load(const VersionLoad& load, std::byte* staging, kernels::Stream* stream) {
  if (staging && !stream) return models::no_stream(device_);
  const std::int64_t bytes = versions_.bytes_of(load.unit, load.tier);
  std::byte* const memory = staging ? staging : load.block.memory;
  FOVEA_CHECK(source_.read(load.unit, load.tier, {memory, static_cast<std::size_t>(bytes)}, {}));
  if (!staging) return {};
  device_.copy(load.block.memory, staging, bytes, *stream);
  stream->synchronize();
  if (std::string failure = stream->failure(); !failure.empty())
    return fail(phrases::name_place(device_.name()), errors::device_failed(Said{std::move(failure)}));
  return {};
}

Result<void> VersionLoader::load_all(std::span<const VersionLoad> loads, int threads,
                                     std::span<std::byte* const> staging, const ProgressSink& progress,
                                     const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable changed;
  std::int64_t done_bytes = 0;  // these four under the mutex
  std::int64_t done = 0;
  int working = 0;
  std::optional<Error> error;
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> give_up = false;
  const auto work = [&](std::byte* part) {
    const auto stream = part ? make_stream() : nullptr;
    while (!give_up.load(std::memory_order_relaxed) && !stop.stop_requested()) {
      const std::size_t index = next.fetch_add(1, std::memory_order_relaxed);
      if (index >= loads.size()) break;
      const auto status = load(loads[index], part, stream.get());
      const std::scoped_lock lock(mutex);
      if (status) {
        ++done;
        done_bytes += versions_.bytes_of(loads[index].unit, loads[index].tier);
      } else {
        if (!error) error = status.error();
        give_up.store(true, std::memory_order_relaxed);
      }
      changed.notify_one();
    }
    const std::scoped_lock lock(mutex);
    --working;
    changed.notify_one();
  };
  Progress report{
      .stage = Progress::Stage::loading, .done = 0, .total = 0, .unit = Progress::Unit::bytes, .item = {}};
  for (const VersionLoad& load : loads) report.total += versions_.bytes_of(load.unit, load.tier);
  const std::size_t count = std::min({static_cast<std::size_t>(std::max(threads, 1)), loads.size(),
                                      staging.empty() ? std::size_t{1024} : staging.size()});
  {
    std::vector<std::jthread> workers;
    std::unique_lock lock(mutex);
    for (std::size_t i = 0; i < count; ++i) {
      ++working;
      workers.emplace_back([&work, part = staging.empty() ? nullptr : staging[i]] {
        name_this_thread("version loader");
        work(part);
      });
    }
    // The end is told, too, when it comes while somebody is told of a part.
    for (bool ended = working == 0; !ended;) {
      changed.wait(lock, [&] { return working == 0 || done_bytes != report.done; });
      ended = working == 0;
      report.done = done_bytes;
      if (!progress) continue;
      lock.unlock();
      progress(report);
      lock.lock();
    }
  }
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
  pool_.run(std::ssize(loads), workers, [&](std::int64_t index, std::int32_t worker) {
    const auto w = static_cast<std::size_t>(worker);
    outcomes[static_cast<std::size_t>(index)] =
        load(loads[static_cast<std::size_t>(index)], staged ? staging[w] : nullptr,
             staged ? streams_[w].get() : nullptr);
  });
  return outcomes;
}

}  // namespace fovea::precision
