#include "ui/live/data/map_frame.h"

#include "tests/support/test.h"

using namespace fovea::ui;

class MapFrameTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void codesKeepTheOrder() {
    QCOMPARE(hotness_code(0), std::uint8_t{0});
    QCOMPARE(hotness_of(0), 0.0F);
    QCOMPARE(hotness_code(-1), std::uint8_t{0});
    QCOMPARE(hotness_code(1e-30F), std::uint8_t{1});
    QCOMPARE(hotness_code(1e30F), std::uint8_t{255});
    for (int code = 1; code < 256; ++code)
      QCOMPARE(int{hotness_code(hotness_of(static_cast<std::uint8_t>(code)))}, code);
  }
};

FOVEA_TEST(MapFrameTest)
#include "map_frame_test.moc"
