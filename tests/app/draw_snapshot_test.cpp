// What chat --stats draws.
#include "app/terminal/draw_snapshot.h"

#include "app/terminal/screen.h"
#include "tests/support/test.h"

using fovea::app::draw_snapshot;
using fovea::app::status_line;

namespace {

// 4 layers of 6 units: the first two of each layer are high, one of layer 1 is on its way up.
fovea::Snapshot sample() {
  fovea::Snapshot s;
  s.layers = 4;
  s.units_per_layer = 6;
  s.units.resize(24);
  for (std::size_t unit = 0; unit < s.units.size(); ++unit) s.units[unit].tier = unit % 6 < 2 ? 0 : 1;
  s.units[9].target = 0;
  s.tiers = {{.name = "q4", .bits_per_weight = 4.25, .units = 8, .hits = 30},
             {.name = "q2", .bits_per_weight = 2.25, .units = 16, .hits = 70}};
  s.swaps.promotions = 5;
  s.swaps.demotions = 4;
  s.mean_bits_per_weight = 2.92;
  s.arena_bytes = 3'000'000;
  s.arena_used_bytes = 2'500'000;
  return s;
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

class DrawSnapshotTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void theStatusLineTellsTheNumbers() {
    const std::string line = status_line(sample());
    for (const char* part : {"8 at 4 bits (30 % of uses)", "16 at 2 bits (70 % of uses)", "2.92 bits",
                             "2.38 MiB of 2.86 MiB", "↑5 ↓4"})
      QVERIFY2(line.find(part) != std::string::npos, line.c_str());
    QVERIFY(line.find("stalls") == std::string::npos);
    QVERIFY(line.find("processor") == std::string::npos);
    fovea::Snapshot beside = sample();
    beside.host_units = 6;
    beside.host_hits = 100;
    for (const char* part : {"8 at 4 bits (15 % of uses)", "6 on the processor (50 % of uses)"})
      QVERIFY2(status_line(beside).find(part) != std::string::npos, status_line(beside).c_str());
    fovea::Snapshot stalled = sample();
    stalled.swaps.stalls = 3;
    stalled.swaps.io_errors = 2;
    QVERIFY(status_line(stalled).find("3 stalls") != std::string::npos);
    QVERIFY(status_line(stalled).find("2 failed swaps") != std::string::npos);
  }

  // Of the status line no part is cut: the next one would not fit.
  void theStatusShowsWholeParts() {
    const std::string whole = status_line(sample());
    for (int columns = 26; columns <= 120; ++columns) {  // where the first one fits
      const std::string first = draw_snapshot(sample(), columns, 10)[0];
      const std::string shown = first.substr(4, first.size() - 8);  // between the escape sequences
      QVERIFY2(whole.starts_with(shown), shown.c_str());
      const std::string rest = whole.substr(shown.size());
      QVERIFY2(rest.empty() || rest.starts_with("  "), shown.c_str());
    }
  }

  void aLineIsBrokenBetweenWords() {
    using fovea::app::wrapped;
    const std::string text = "4.25 bits per weight, 30 promotions, 1.0 MB read\n";
    QCOMPARE(wrapped(text, 20), std::string("4.25 bits per\nweight, 30\npromotions, 1.0 MB\nread\n"));
    QCOMPARE(wrapped(text, 13), std::string("4.25 bits per\nweight, 30\npromotions,\n1.0 MB read\n"));
    QCOMPARE(wrapped(text, 5), std::string("4.25\nbits\nper\nweight,\n30\npromotions,\n1.0\nMB\nread\n"));
    QCOMPARE(wrapped(text, 0), text);
    QCOMPARE(wrapped(text, 200), text);
    QCOMPARE(wrapped("↑5 ↓4  read", 5), std::string("↑5 ↓4\nread"));
    QCOMPARE(wrapped("", 10), std::string());
  }

  void everyUnitHasItsHalfOfACharacter() {
    const auto lines = draw_snapshot(sample(), 100, 10);
    QCOMPARE(lines.size(), std::size_t{3});  // two layers in a row
    for (std::size_t row = 1; row < lines.size(); ++row) QCOMPARE(count(lines[row], "▀"), 6);
    QCOMPARE(count(lines[1], ";5;231"), 1);  // the unit in flight, in the lower half
    QCOMPARE(count(lines[2], "231"), 0);
    QVERIFY(count(lines[2], "38;5;102;48;5;102m") == 1 && count(lines[2], "38;5;24;48;5;24m") == 1);
  }

  // The same number of bits, whether it is a store's high tier or its low one.
  void bitsHaveOneColour() {
    fovea::Snapshot s = sample();
    s.tiers[0].bits_per_weight = 8.5;
    s.tiers[1].bits_per_weight = 4.25;
    const auto lines = draw_snapshot(s, 100, 10);
    QVERIFY(count(lines[2], "38;5;221;48;5;221m") == 1 && count(lines[2], "38;5;102;48;5;102m") == 1);
  }

  void theProcessorsUnitsLookDifferent() {
    fovea::Snapshot s = sample();
    s.units[0].tier = fovea::no_tier;
    s.units[1].tier = fovea::host_tier;
    const std::string row = draw_snapshot(s, 100, 10)[1];
    QVERIFY(count(row, "38;5;236;") == 1 && count(row, "38;5;132;") == 1);
  }

  // Of a model whose experts stay as the file has them the strength is the use.
  void oneTierIsDrawnByUse() {
    fovea::Snapshot s;
    s.layers = 1;
    s.units_per_layer = 3;
    s.units = {{.hotness = 0.4F, .tier = 0}, {.hotness = 0.1F, .tier = 0}, {.hotness = 0, .tier = 0}};
    s.skew = {0.8F};
    s.tiers = {{.name = "file", .bits_per_weight = 5, .units = 3, .hits = 10}};
    s.mean_bits_per_weight = 5;
    const auto lines = draw_snapshot(s, 100, 10);
    for (const char* part :
         {"3 at 5 bits (100 % of uses)  5.00 bits", "the hottest tenth has 80 % of the use"})
      QVERIFY2(count(lines[0], part) == 1, lines[0].c_str());
    QCOMPARE(count(lines[0], "↑"), 0);
    // 143 is 5 bits: 3, 3 and 1 of the cube; half as strong 2, 2 and 1.
    for (const char* colour : {"38;5;143;", "38;5;101;", "38;5;234;"}) QCOMPARE(count(lines[1], colour), 1);
  }

  void whatDoesNotFitIsPutTogether() {
    const auto lines = draw_snapshot(sample(), 7, 2);  // one row of three characters
    QCOMPARE(lines.size(), std::size_t{2});
    QCOMPARE(count(lines[1], "▀"), 3);
    QVERIFY(count(draw_snapshot(fovea::Snapshot{}, 40, 5)[0], "bits") == 1);
  }
};

FOVEA_TEST(DrawSnapshotTest)
#include "draw_snapshot_test.moc"
