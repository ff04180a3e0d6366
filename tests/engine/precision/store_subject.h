// A small model whose units become a store, for the tests of what stands in it and of what calibration
// measures.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/precision/calibrate.h"
#include "engine/precision/prepare.h"
#include "engine/precision/prepare_memory.h"
#include "kernels/formats/formats.h"
#include "tests/support/test.h"

namespace fovea::tests {

// 5 experts of several types in one layer, and a shared one.
inline std::filesystem::path small_model() {
  return golden("models/blocks.gguf");
}

struct StoreSubject {
  const kernels::Device& device;
  checkpoint::Checkpoint checkpoint;
  models::WeightPlan plan;
  precision::UnitTable units;
  precision::TierSet tiers;

  precision::PrepareParts parts(const precision::Calibration* calibration = nullptr) const {
    return {checkpoint, units, tiers, device, device, calibration};
  }
};

inline Result<StoreSubject> store_subject(const kernels::Device& device, precision::UnitScope scope) {
  FOVEA_TRY(checkpoint::Checkpoint checkpoint, checkpoint::Checkpoint::open(small_model()));
  FOVEA_TRY(const auto config, models::read_config(checkpoint));
  FOVEA_TRY(auto plan, models::plan_weights(checkpoint, config));
  precision::UnitTable units(plan, scope);
  const std::vector<std::string> names{"file", "q4"};
  FOVEA_TRY(auto tiers, precision::parse_tiers(names, units));
  return StoreSubject{device, std::move(checkpoint), std::move(plan), std::move(units), std::move(tiers)};
}

inline Result<checkpoint::Store> make_store(const StoreSubject& s, const std::filesystem::path& path,
                                            int threads = 2,
                                            const precision::Calibration* calibration = nullptr) {
  FOVEA_TRY(checkpoint::StoreWriter writer,
            precision::write_versions(s.parts(calibration), path, threads, {}, {}));
  FOVEA_CHECK(writer.finish());
  return checkpoint::Store::open(path, precision::identity_of(s.parts(calibration)));
}

// A version as the store has it.
struct StoredVersion {
  StoredVersion(const checkpoint::Store& store, const StoreSubject& s, precision::UnitId unit,
                std::int64_t tier)
      : memory(s.device, store.extent(unit, tier).bytes),
        bytes(memory.first(store.extent(unit, tier).bytes)) {
    read = store.read(unit, tier, bytes).has_value();
  }
  precision::DeviceMemory memory;
  std::span<std::byte> bytes;
  bool read = false;
};

inline std::vector<float> matrix_values(const StoreSubject& s, const models::MatrixSource& matrix) {
  std::vector<float> out(static_cast<std::size_t>(matrix.parameters()));
  kernels::formats::dequantize(matrix.tensor->type,
                               s.checkpoint.bytes(*matrix.tensor).data() + matrix.offset(),
                               matrix.parameters(), out.data());
  return out;
}

// Rows of a test for each kind of unit.
inline void add_scopes() {
  QTest::addColumn<bool>("experts");
  QTest::newRow("experts") << true;
  QTest::newRow("linear layers") << false;
}

}  // namespace fovea::tests
