// What the panel tells of questions: numbers that were counted, and the quality along the way.
#include <cmath>

#include "app/live/live_session.h"
#include "app/live/measures/quality_line.h"
#include "tests/support/test.h"
#include "ui/language/language.h"
#include "ui/live/story_view.h"

Q_DECLARE_METATYPE(fovea::ui::Chapter)

using namespace fovea;
using namespace fovea::app;
using namespace fovea::ui;

namespace {

// Of one layer of experts, at two tiers.
Snapshot snapshot(const std::vector<std::uint8_t>& tiers, std::int64_t stalls = 0) {
  Snapshot made;
  made.layers = 1;
  made.units_per_layer = std::ssize(tiers);
  made.tiers = {{.name = "q4", .bits_per_weight = 4.5}, {.name = "q2", .bits_per_weight = 2.1}};
  for (const std::uint8_t tier : tiers) made.units.push_back({.hotness = 1, .tier = tier});
  made.skew = {0};
  made.swaps.stalls = stalls;
  return made;
}

// `tokens` so far, of which each lost so much, and would have lost so much under the calibration's mix.
Snapshot judged(std::int64_t tokens, double loss, double calibrated) {
  Snapshot made = snapshot({0, 1});
  const auto t = static_cast<double>(tokens);
  made.tokens = tokens;
  made.quality = {.in_nats = true,
                  .has_calibration = true,
                  .tokens = tokens,
                  .loss = t * loss,
                  .all_low = t * 0.5,
                  .calibrated = t * calibrated};
  return made;
}

bool close(double a, double b) {
  return std::abs(a - b) < 1e-9;
}

}  // namespace

class StoryTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void countsWhatChangedSinceTheQuestion() {
    LiveSession session;
    session.set_model({.name = QStringLiteral("a"), .policy = PolicyKind::fovea, .experts = 4});
    session.begin_chapter(QStringLiteral("the first"));  // told from the first moment that there is
    QVERIFY(session.story().empty());
    session.add_snapshot(snapshot({0, 0, 1, 1}), 1);
    session.begin_chapter(QStringLiteral("a tale"));
    session.add_snapshot(snapshot({1, 0, 0, 1}), 2);  // two changed places …
    session.add_snapshot(snapshot({1, 0, 0, 1}), 3);
    session.begin_chapter(QStringLiteral("a function"));
    session.add_snapshot(snapshot({0, 0, 0, 1}, 3),
                         4);  // … one came back, and something was read from the disk
    const std::vector<Chapter> story = session.story();
    QCOMPARE(story.size(), 3U);
    QCOMPARE(story[2].question, std::string("the first"));
    QCOMPARE(story[0].question, std::string("a function"));
    QCOMPARE(story[0].woke, 1);
    QCOMPARE(story[0].rested, 0);
    QCOMPARE(story[0].waits, 3);
    QVERIFY(chapter_sentence(story[0]).contains(QStringLiteral("waited for the disk")));
    session.clear_model();
    QVERIFY(session.story().empty());
  }

  // Also if nobody looked at it in between.
  void aChapterEndsWithItsNumbers() {
    Story story;
    const auto frame = [](std::vector<std::uint8_t> tiers) {
      return MapFrame{
          .layers = 1, .units_per_layer = 3, .tier = std::move(tiers), .target = {}, .hot = {}, .uses = {}};
    };
    story.begin("one", frame({0, 1, 1}), {});
    story.begin("two", frame({1, 0, 1}), {});
    story.go_on(frame({1, 0, 0}), {});
    QCOMPARE(story.chapters().size(), 2U);
    QCOMPARE(story.chapters()[1].woke, 1);
    QCOMPARE(story.chapters()[1].rested, 1);
    QCOMPARE(story.chapters()[0].woke, 1);
    QCOMPARE(story.chapters()[0].rested, 0);
    for (int i = 0; i < 30; ++i) story.begin(std::to_string(i), frame({0, 0, 0}), {});
    QCOMPARE(story.chapters().size(), 20U);
    QCOMPARE(story.chapters()[0].question, std::string("29"));
  }

  void saysIt() {
    QVERIFY(chapter_sentence({.question = "a tale", .woke = 41, .rested = 40})
                .contains(QStringLiteral("no token of the answer waited")));
    QVERIFY(chapter_sentence({.question = "a tale"}).contains(QStringLiteral("no expert changed")));
    QVERIFY(chapter_sentence({.question = "a tale"}, true).contains(QStringLiteral("yet")));
  }

  void saysItWholly_data() {
    QTest::addColumn<Chapter>("chapter");
    QTest::addColumn<QString>("english");
    QTest::addColumn<QString>("german");
    QTest::newRow("both ways")
        << Chapter{.question = "A tale.", .woke = 41, .rested = 40}
        << QStringLiteral(
               "For “A tale”, 41 experts rose to more bits, 40 fell to fewer to make room; no token of the "
               "answer waited.")
        << QStringLiteral(
               "Für „A tale“ bekamen 41 Experten mehr Bit, 40 bekamen weniger, um Platz zu machen; kein "
               "Token "
               "der Antwort hat gewartet.");
    QTest::newRow("one each, and waits")
        << Chapter{.question = "Who?!", .woke = 1, .rested = 1, .waits = 2}
        << QStringLiteral(
               "For “Who”, 1 expert rose to more bits, 1 fell to fewer to make room; 2 uses of experts "
               "waited "
               "for the disk.")
        << QStringLiteral(
               "Für „Who“ bekam 1 Experte mehr Bit, 1 bekam weniger, um Platz zu machen; 2 Nutzungen von "
               "Experten warteten auf das Laufwerk.");
    QTest::newRow("for nobody's sake")
        << Chapter{.question = "a", .rested = 1}
        << QStringLiteral(
               "For “a”, 1 expert fell to fewer bits; no token of the answer "
               "waited.")
        << QStringLiteral(
               "Für „a“ bekam 1 Experte weniger Bit; kein Token der Antwort hat "
               "gewartet.");
    QTest::newRow("waits alone")
        << Chapter{.question = "a", .waits = 1}
        << QStringLiteral(
               "For “a”, no expert changed its precision; 1 use of an expert waited "
               "for the disk.")
        << QStringLiteral(
               "Für „a“ hat kein Experte seine Genauigkeit geändert; 1 Nutzung eines "
               "Experten wartete auf das Laufwerk.");
  }
  void saysItWholly() {
    QFETCH(Chapter, chapter);
    use_language(QStringLiteral("en"));
    QTEST(chapter_sentence(chapter), "english");
    use_language(QStringLiteral("de"));
    QTEST(chapter_sentence(chapter), "german");
  }
  void cleanup() {
    use_language(QStringLiteral("en"));
    QLocale::setDefault(QLocale::c());
  }

  // Each stretch is judged by itself, and as the gauge judges the whole.
  void theLineFollowsTheTokens() {
    SnapshotRing ring;
    ring.add(judged(0, 0, 0), 0);
    for (int step = 1; step <= 20; ++step) {
      Snapshot next = judged(step * 10, 0, 0);
      // After a hundred tokens the policy loses more, and the fixed mix less.
      const double early = std::min(step, 10) * 10, late = std::max(step - 10, 0) * 10;
      next.quality.loss = 0.01 * early + 0.1 * late;
      next.quality.calibrated = 0.2 * early + 0.05 * late;
      ring.add(next, step);
    }
    // One before the first moment that is held, one at its start, one in the middle, one that has no token
    // yet.
    const std::deque<Chapter> asked{{.question = "none yet", .token = 200},
                                    {.question = "middle", .token = 100},
                                    {.question = "start", .token = 0},
                                    {.question = "gone", .token = -5}};
    const QualityLine line = quality_line(PolicyKind::fovea, ring, ring.end() - 1, asked);
    QVERIFY(line.in_nats);
    QCOMPARE(line.questions.size(), 2U);
    QCOMPARE(line.questions[0].words, std::string("start"));
    QCOMPARE(line.questions[0].point, 0U);
    QCOMPARE(line.questions[1].words, std::string("middle"));
    QCOMPARE(line.questions[1].point, 10U);
    QCOMPARE(line.points.size(), 20U);
    QVERIFY(close(line.points.front().kept, std::exp(-0.01)) &&
            close(*line.points.front().fixed, std::exp(-0.2)));
    QVERIFY(close(line.points.back().kept, std::exp(-0.1)) &&
            close(*line.points.back().fixed, std::exp(-0.05)));
    QVERIFY(close(line.points.back().low, std::exp(-0.5)));
    // Back in time it is shorter; a policy that moves nothing has none.
    QCOMPARE(quality_line(PolicyKind::fovea, ring, ring.first() + 5, {}).points.size(), 5U);
    QVERIFY(quality_line(PolicyKind::none, ring, ring.end() - 1, {}).points.empty());
    QVERIFY(quality_line(PolicyKind::fovea, SnapshotRing(), 0, {}).points.empty());
  }

  void theSessionsOwnMixIsShownOnceItIsChosen() {
    SnapshotRing ring;
    ring.add(judged(2100, 0.01, 0.2), 0);
    Snapshot chosen = judged(2200, 0.01, 0.2);
    chosen.quality.tokens_since = 100;
    chosen.quality.low_since = 50;
    chosen.quality.start_since = 3;
    ring.add(chosen, 1);
    Snapshot later = judged(2300, 0.01, 0.2);
    later.quality.tokens_since = 200;
    later.quality.low_since = 100;
    later.quality.start_since = 7;
    ring.add(later, 2);
    const QualityLine line = quality_line(PolicyKind::fovea, ring, ring.end() - 1, {});
    QCOMPARE(line.points.size(), 2U);
    QVERIFY(close(*line.points[0].fixed, std::exp(-0.2)));
    QVERIFY(close(*line.points[1].fixed, std::exp(-0.04)));
  }
};

FOVEA_TEST(StoryTest)

#include "story_test.moc"
