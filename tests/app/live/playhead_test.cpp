#include "app/live/playhead.h"

#include "app/live/followed.h"
#include "tests/support/test.h"
#include "tests/ui/live/made_source.h"

using namespace fovea;
using namespace fovea::app;

namespace {

// A moment every second; unit 3 is used once in each.
void add(Playhead& playhead, int moments) {
  Snapshot s = tests::small_snapshot();
  s.units[3].uses = 0;
  for (int i = 0; i < moments; ++i) {
    ++s.tokens;
    ++s.units[3].uses;
    playhead.add(s, i);
  }
}

}  // namespace

class PlayheadTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void holdsACopyWhileTheSessionGoesOn() {
    Playhead playhead;
    playhead.freeze();
    QVERIFY(!playhead.held());  // there is nothing to hold
    add(playhead, 10);
    QCOMPARE(playhead.index(), 9);
    playhead.freeze();
    playhead.go_to(4);
    Snapshot s = tests::small_snapshot();
    s.tokens = 1000;
    playhead.add(s, 10);
    QVERIFY(playhead.held() && !playhead.replays());
    QCOMPARE(playhead.frame().uses[3], 5U);
    QCOMPARE(playhead.frame_before(3)->uses[3], 2U);
    QCOMPARE(playhead.frame_before(60)->uses[3], 1U);  // as far back as there is something
    QCOMPARE(playhead.ring().end(), 10);
    QCOMPARE(playhead.live().end(), 11);
    playhead.back_to_live();
    QCOMPARE(playhead.index(), 10);
  }

  void playsToTheEnd() {
    Playhead playhead;
    add(playhead, 10);
    playhead.freeze();
    playhead.set_playing(true);  // at the end already: from the start
    QCOMPARE(playhead.index(), 0);
    QVERIFY(!playhead.frame_before(60));
    std::vector<std::uint32_t> passed;
    const auto note = [&] { passed.push_back(playhead.frame().uses[3]); };
    playhead.play_on(0.5, note);
    QVERIFY(passed.empty());
    playhead.play_on(2, note);
    QCOMPARE(passed, (std::vector<std::uint32_t>{2, 3}));
    QVERIFY(playhead.plays());
    playhead.play_on(100, note);
    QCOMPARE(passed.size(), std::size_t{9});
    QVERIFY(!playhead.plays() && playhead.held());
  }

  // Another model is opened while one plays.
  void nothingPlaysOnceItIsLive() {
    Playhead playhead;
    add(playhead, 3);
    const auto recording = playhead.copy();
    playhead.replay(recording);
    QVERIFY(playhead.plays() && playhead.replays());
    playhead.back_to_live();
    playhead.set_playing(true);
    QVERIFY(!playhead.plays());
  }

  // Read from the ring or moment by moment, a line is the same; the oldest gives way and its letter is free
  // again.
  void followsExperts() {
    Playhead playhead;
    add(playhead, 200);
    Followed followed;
    followed.toggle(3, playhead.ring(), 150);
    const auto& lines = followed.lines();
    QCOMPARE(lines.experts[0].points.front().seconds, 30.0);
    QCOMPARE(lines.experts[0].points.back().seconds, 150.0);
    followed.add(151, playhead.frame());
    QCOMPARE(lines.experts[0].points.front().seconds, 31.0);
    QCOMPARE(lines.until, 151.0);
    for (const std::int64_t unit : {0, 1, 2, 4, 5}) followed.toggle(unit, playhead.ring(), 150);
    QCOMPARE(lines.experts.size(), Followed::max_followed);
    QCOMPARE(lines.experts.front().unit, 0);
    QCOMPARE(lines.experts.back().letter, 0);
    followed.toggle(0, playhead.ring(), 150);
    QCOMPARE(lines.experts.size(), Followed::max_followed - 1);
  }
};

FOVEA_TEST(PlayheadTest)
#include "playhead_test.moc"
