// What a store's calibration tells: by hand, for two layers of two experts.
#include "engine/precision/store_profile.h"

#include <array>
#include <cmath>

#include "engine/checkpoint/store.h"
#include "tests/support/test.h"

using namespace fovea;
using namespace fovea::precision;
using checkpoint::Extent;
using checkpoint::Store;
using checkpoint::StoreIdentity;
using checkpoint::StoreWriter;

namespace {

struct Errors {
  float output_error = 0, divergence = -1;
  std::uint32_t tokens = 0;
};

// Four units at the tiers file, q4 and q2; `errors` are of q4 and q2, q4's a third of q2's.
Result<Store> store_of(const std::filesystem::path& path, const std::string& scope,
                       const std::array<Errors, 4>& errors) {
  const StoreIdentity identity{.packing = "p", .scope = scope, .tiers = {"file", "q4", "q2"}, .units = 4};
  std::vector<std::int64_t> bytes;
  for (int unit = 0; unit < 4; ++unit) bytes.insert(bytes.end(), {12288, 8192, 4096});
  auto writer = StoreWriter::create(path, identity, bytes);
  if (!writer) return std::unexpected(writer.error());
  const std::vector<std::byte> content(12288, std::byte{7});
  for (std::int64_t unit = 0; unit < 4; ++unit) {
    const Errors& e = errors[static_cast<std::size_t>(unit)];
    for (std::int64_t tier = 0; tier < 3; ++tier) {
      Extent extent{.divergence = e.divergence, .calibration_tokens = e.tokens};
      const float share = tier == 0 ? 0.0F : tier == 1 ? 1.0F / 3 : 1.0F;
      extent.output_error = share * e.output_error;
      if (e.divergence >= 0) extent.divergence = share * e.divergence;
      const auto bytes_of = static_cast<std::size_t>(12288 - 4096 * tier);
      if (auto written = writer->write(unit, tier, std::span(content).first(bytes_of), extent); !written)
        return std::unexpected(written.error());
    }
  }
  if (auto finished = writer->finish(); !finished) return std::unexpected(finished.error());
  return Store::open(path);
}

bool close(float found, double wanted) {
  return std::abs(double(found) - wanted) <= 1e-5 * (1 + std::abs(wanted));
}

constexpr std::array<std::int32_t, 3> first_unit{0, 2, 4};
constexpr std::array<std::int64_t, 2> file_and_q2{0, 2};

}  // namespace

class StoreProfileTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void errorsCountWithTheirPower() {
    const fovea::tests::TemporaryFolder folder;
    const auto store = store_of(folder.path() / "s", "experts",
                                {{{0.5F, -1, 30}, {0.2F, -1, 9}, {0.4F, -1, 0}, {0.1F, -1, 20}}});
    FOVEA_VERIFY(store);
    const StoreProfile profile = store_profile(*store, first_unit, file_and_q2);
    QCOMPARE(profile.uses.size(), 4U);
    // 30.5, 9.5 and 0.5, 20.5 tokens.
    QVERIFY(close(profile.uses[0], 0.7625) && close(profile.uses[1], 0.2375));
    QVERIFY(close(profile.uses[2], 0.5 / 21) && close(profile.uses[3], 20.5 / 21));
    const std::array<double, 8> damage{0, 0.25, 0, 0.04, 0, 0.16, 0, 0.01};
    QCOMPARE(profile.damage.size(), damage.size());
    for (std::size_t i = 0; i < damage.size(); ++i) QVERIFY(close(profile.damage[i], damage[i]));
  }

  // Uses × damage is the divergence that was measured; one that is missing leaves all to the errors.
  void divergencesAreOfTheCalibrationsUse() {
    const fovea::tests::TemporaryFolder folder;
    std::array<Errors, 4> errors{{{0.5F, 0.03F, 30}, {0.2F, 0.02F, 9}, {0.4F, 0, 0}, {0.1F, 0.01F, 20}}};
    const auto store = store_of(folder.path() / "s", "experts", errors);
    FOVEA_VERIFY(store);
    const StoreProfile profile = store_profile(*store, first_unit, file_and_q2);
    for (std::size_t unit = 0; unit < 4; ++unit)
      QVERIFY(close(profile.uses[unit] * profile.damage[2 * unit + 1], double(errors[unit].divergence)));
    errors[1].divergence = -1;
    const auto partly = store_of(folder.path() / "t", "experts", errors);
    FOVEA_VERIFY(partly);
    QVERIFY(close(store_profile(*partly, first_unit, file_and_q2).damage[1], 0.25));
  }

  void withoutCalibrationThereAreNoUses() {
    const fovea::tests::TemporaryFolder folder;
    const std::array<Errors, 4> errors{{{0.5F}, {0.2F}, {0.4F}, {0.1F}}};
    const auto store = store_of(folder.path() / "s", "experts", errors);
    FOVEA_VERIFY(store);
    QVERIFY(store_profile(*store, first_unit, file_and_q2).uses.empty());
    QVERIFY(close(store_profile(*store, first_unit, file_and_q2).damage[1], 0.25));
  }

  void linearLayersServeEveryToken() {
    const fovea::tests::TemporaryFolder folder;
    const auto store = store_of(folder.path() / "s", "linear_layers",
                                {{{0.5F, 0.3F, 30}, {0.2F, 0.2F, 9}, {0.4F, 0, 9}, {0.1F, 0.1F, 20}}});
    FOVEA_VERIFY(store);
    const StoreProfile profile = store_profile(*store, first_unit, file_and_q2);
    QVERIFY(profile.uses.empty());
    QVERIFY(close(profile.damage[1], 0.3) && close(profile.damage[5], 0));
  }
};
FOVEA_TEST(StoreProfileTest)

#include "store_profile_test.moc"
