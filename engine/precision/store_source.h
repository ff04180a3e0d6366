// The store as the pipeline's source.
#pragma once

#include "engine/checkpoint/store.h"
#include "engine/precision/version_io.h"

namespace fovea::precision {

class StoreSource final : public VersionSource {
 public:
  explicit StoreSource(checkpoint::Store store) : store_(std::move(store)) {}
  const checkpoint::Store& store() const { return store_; }
  Result<void> read(UnitId unit, TierId tier, std::span<std::byte> memory,
                    const checkpoint::Pace& pace) override {
    return store_.read(unit, tier, memory, pace);
  }

 private:
  checkpoint::Store store_;
};

}  // namespace fovea::precision
