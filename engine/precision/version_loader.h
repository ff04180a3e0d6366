// Versions read while somebody waits for them, several at a time: the first filling of the arena, and what a
// pass needs from the disk, with a thread pool that stays.
//
// Called by the engine's thread alone. The threads share the list of loads and, in the first filling, what is
// done so far, which a mutex guards there; each writes into blocks and parts of the transient buffer that
// nobody else has.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "engine/api/progress.h"
#include "engine/core/result.h"
#include "engine/precision/version_io.h"
#include "engine/precision/version_table.h"
#include "kernels/api/device.h"
#include "kernels/cpu/thread_pool.h"

namespace fovea::precision {

class VersionLoader {
 public:
  // All must outlive the loader. `staged`: versions go through parts of a transient buffer, which the calls
  // are given; else they are read into their blocks.
  VersionLoader(const kernels::Device& device, VersionSource& source, const VersionTable& versions,
                std::int32_t reads_at_once, bool staged);

  // Until all are read, the first fails, or somebody stops it. No more threads than parts of the buffer.
  Result<void> load_all(std::span<const VersionLoad> loads, int threads, std::span<std::byte* const> staging,
                        const ProgressSink& progress, const std::stop_token& stop);
  // Until each has been tried. What became of each.
  std::vector<Result<void>> load_each(std::span<const VersionLoad> loads,
                                      std::span<std::byte* const> staging);

 private:
  Result<void> load(const VersionLoad& load, std::byte* staging, kernels::Stream* stream);
  std::unique_ptr<kernels::Stream> make_stream() const;

  const kernels::Device& device_;
  VersionSource& source_;
  const VersionTable& versions_;
  const std::int32_t reads_at_once_;
  std::vector<std::unique_ptr<kernels::Stream>> streams_;  // [reads_at_once] of the pool, where staged
  std::optional<kernels::cpu::ThreadPool> pool_;           // from the first load_each on
};

}  // namespace fovea::precision
