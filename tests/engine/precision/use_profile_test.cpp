#include "engine/precision/use_profile.h"

#include <cmath>
#include <numeric>

#include "tests/support/test.h"

using fovea::precision::decode_use_profile;
using fovea::precision::encode_use_profile;

namespace {

const std::vector<std::int32_t> first_unit{0, 4, 4, 6};  // a layer of four, one of none, one of two

}  // namespace

class UseProfileTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void comesBackAsShares() {
    const std::vector<float> uses{2, 1, 1, 0, 0.25F, 0.75F};
    const std::string bytes = encode_use_profile(uses, first_unit, "a model");
    QCOMPARE(bytes.size(), std::size_t{26});
    const std::vector<float> back = decode_use_profile(bytes, first_unit, "a model");
    const std::vector<float> shares{0.5F, 0.25F, 0.25F, 0, 0.25F, 0.75F};
    QCOMPARE(back.size(), shares.size());
    for (std::size_t unit = 0; unit < shares.size(); ++unit)
      QVERIFY2(std::abs(back[unit] - shares[unit]) < 1.0F / 255, qPrintable(QString::number(back[unit])));
    QVERIFY(std::abs(std::reduce(back.begin(), back.begin() + 4) - 1) < 1e-6F);
  }

  void aLayerWithoutUse() {
    const std::vector<float> back =
        decode_use_profile(encode_use_profile(std::vector<float>(6, 0.0F), first_unit, "m"), first_unit, "m");
    QCOMPARE(back, (std::vector<float>{0.25F, 0.25F, 0.25F, 0.25F, 0.5F, 0.5F}));
  }

  void whatIsNotItsOwnIsRefused() {
    const std::string bytes = encode_use_profile(std::vector<float>{1, 2, 3, 4, 5, 6}, first_unit, "m");
    QVERIFY(!decode_use_profile(bytes, first_unit, "m").empty());
    QVERIFY(decode_use_profile(bytes, first_unit, "another").empty());
    QVERIFY(decode_use_profile(bytes, std::vector<std::int32_t>{0, 3, 6}, "m").empty());
    QVERIFY(decode_use_profile(bytes, {}, "m").empty());
    for (std::size_t size = 0; size < bytes.size(); ++size)
      QVERIFY(decode_use_profile(bytes.substr(0, size), first_unit, "m").empty());
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
      QVERIFY2(decode_use_profile(damaged, first_unit, "m").empty(), qPrintable(QString::number(at)));
    }
  }
};
FOVEA_TEST(UseProfileTest)

#include "use_profile_test.moc"
