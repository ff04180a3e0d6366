#include "engine/chat/stop_strings.h"

#include <random>

#include "tests/support/test.h"

using fovea::chat::StopStrings;
using Strings = std::vector<std::string>;

namespace {

// What a user should see: everything before the stop string that is complete first.
std::string expected_answer(const std::string& text, const Strings& stops) {
  for (std::size_t end = 1; end <= text.size(); ++end) {
    std::size_t longest = 0;
    for (const std::string& stop : stops) {
      if (text.substr(0, end).ends_with(stop)) longest = std::max(longest, stop.size());
    }
    if (longest > 0) return text.substr(0, end - longest);
  }
  return text;
}

}  // namespace

class StopStringsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void onlyWhatMayBeginAStopStringIsHeldBack() {
    StopStrings stops({"\nUser:", "END"});
    QCOMPARE(stops.push("Hello\n"), std::string("Hello"));
    QCOMPARE(stops.push("Us"), std::string());
    QCOMPARE(stops.push("ing an E"), std::string("\nUsing an "));
    QCOMPARE(stops.push("N"), std::string());
    QCOMPARE(stops.push("E"), std::string("EN"));
    QVERIFY(!stops.found());
    QCOMPARE(stops.push("ND of it"), std::string());
    QVERIFY(stops.found());
    QCOMPARE(stops.push("more"), std::string());
    QCOMPARE(stops.finish(), std::string());
  }

  void whatIsHeldBackIsReleasedAtTheEnd() {
    StopStrings stops({"</s>"});
    QCOMPARE(stops.push("a </"), std::string("a "));
    QCOMPARE(stops.finish(), std::string("</"));
    QVERIFY(!stops.found());
  }

  void theFirstCompleteOneEndsTheAnswer() {
    StopStrings stops({"later", "soon"});
    QCOMPARE(stops.push("as soon or later"), std::string("as "));
    QVERIFY(stops.found());
  }

  // Few letters, short stop strings and random cuts: many near misses across the cuts.
  void anyCutsGiveTheSameAnswer() {
    for (int round = 0; round < fovea::tests::rounds(3000); ++round) {
      const unsigned seed = fovea::tests::seed() * 100'000 + static_cast<unsigned>(round);
      std::mt19937 random(seed);
      const auto word = [&random](std::size_t length) {
        std::string text(length, 'a');
        for (char& letter : text) letter = static_cast<char>('a' + random() % 2);
        return text;
      };
      Strings stops;
      for (std::size_t count = random() % 3; count > 0; --count) stops.push_back(word(1 + random() % 6));
      const std::string text = word(random() % 24);

      StopStrings matcher(stops);
      std::string answer;
      for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = 1 + random() % 4;
        answer += matcher.push(std::string_view(text).substr(at, length));
        at += length;
        // Nothing more than the longest stop string less one letter is ever held back.
        if (!matcher.found()) QVERIFY(answer.size() + 5 >= std::min(at, text.size()));
      }
      answer += matcher.finish();
      const std::string wanted = expected_answer(text, stops);
      QVERIFY2(
          answer == wanted,
          qPrintable(
              QString("seed %1: \"%2\" instead of \"%3\"").arg(seed).arg(answer.c_str(), wanted.c_str())));
      QCOMPARE(matcher.found(), wanted.size() < text.size());
    }
  }
};
FOVEA_TEST(StopStringsTest)

#include "stop_strings_test.moc"
