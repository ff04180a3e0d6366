#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <span>

#include "engine/api/prepare.h"
#include "engine/checkpoint/store.h"
#include "engine/core/result.h"
#include "engine/runtime/errors.h"
#include "engine/runtime/parts.h"

namespace fovea {
namespace {

struct AlignedDelete {
  void operator()(std::byte* memory) const {
    ::operator delete[](memory, std::align_val_t{checkpoint::extent_alignment});
  }
};
using AlignedBytes = std::unique_ptr<std::byte[], AlignedDelete>;

AlignedBytes make_aligned(std::int64_t bytes) {
  return AlignedBytes(static_cast<std::byte*>(
      ::operator new[](static_cast<std::size_t>(bytes), std::align_val_t{checkpoint::extent_alignment})));
}

Result<StoreCheck> verify(const std::filesystem::path& path, const ProgressSink& progress,
                          const std::stop_token& stop) {
  FOVEA_TRY(const auto store, checkpoint::Store::open(path));
  const auto tiers = std::ssize(store.identity().tiers);
  std::int64_t all = 0, longest = 0;
  for (std::int64_t i = 0; i < store.identity().units * tiers; ++i) {
    const std::int64_t bytes = store.extent(i / tiers, i % tiers).bytes;
    all += bytes;
    longest = std::max(longest, bytes);
  }
  const AlignedBytes memory = make_aligned(longest);
  StoreCheck check;
  for (std::int64_t tier = 0; tier < tiers; ++tier) {
    for (std::int64_t unit = 0; unit < store.identity().units; ++unit) {
      if (stop.stop_requested()) return fail(phrases::file_place(path), errors::check_was_stopped());
      const std::int64_t bytes = store.extent(unit, tier).bytes;
      FOVEA_CHECK(store.read(unit, tier, std::span(memory.get(), static_cast<std::size_t>(bytes))));
      ++check.versions;
      check.bytes += bytes;
      if (progress)
        progress(
            {Progress::Stage::checking, check.bytes, all, Progress::Unit::bytes, path.filename().string()});
    }
  }
  return check;
}

}  // namespace

Result<StoreCheck> verify_store(const std::filesystem::path& store, const ProgressSink& progress,
                                std::stop_token stop) {
  return exhaustion_as_error([&] { return verify(store, progress, stop); });
}

}  // namespace fovea
