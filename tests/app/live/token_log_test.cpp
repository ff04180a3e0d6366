#include "app/live/token_log.h"

#include "tests/support/test.h"

using fovea::TokenRecord;
using fovea::app::TokenLog;

namespace {

// Tokens of two bytes each, chosen by one pass after the other.
std::vector<TokenRecord> tokens(int count, fovea::TokenId first = 100, std::int64_t pass = 1) {
  std::vector<TokenRecord> all;
  for (int i = 0; i < count; ++i) {
    TokenRecord record{.token = first + i, .text_end = 2 * (i + 1), .pass_end = pass + i};
    record.likeliest[0] = {.token = first + i, .logprob = -0.5F};
    record.likeliest[1] = {.token = 7, .logprob = -1.5F};
    record.uses.assign(4, {.expert = 3, .tier = 1, .share = 128});
    all.push_back(std::move(record));
  }
  return all;
}

}  // namespace

class TokenLogTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void tokensStandBehindEachOther() {
    TokenLog log;
    log.add(1, 10, tokens(3));
    const auto more = tokens(1, 200);  // the same call's next, whose text ends are the call's own
    std::vector<TokenRecord> next = more;
    next[0].text_end = 9;
    log.add(1, 10, next);
    QCOMPARE(log.size(), 4U);
    const TokenLog::Kept* last = log.find(1, 3);
    QVERIFY(last);
    QCOMPARE(last->begin, 16);
    QCOMPARE(last->end, 19);
    QCOMPARE(log.find(1, 0)->begin, 10);
    QVERIFY(!log.find(1, 4));
    QVERIFY(!log.find(2, 0));
    // It is continued: the engine counts anew behind what stands there.
    log.add(1, 19, tokens(1, 300));
    QCOMPARE(log.find(1, 4)->begin, 19);
    QCOMPARE(log.find(1, 4)->end, 21);
  }

  // However long a session is; the oldest are forgotten, and the others keep their numbers.
  void itIsBoundedAndForgets() {
    TokenLog log(100);
    for (int answer = 1; answer <= 30; ++answer) log.add(answer, 0, tokens(10));
    QCOMPARE(log.size(), 100U);
    QVERIFY(!log.find(20));
    QVERIFY(log.find(21) && log.find(30, 9));
    log.add(30, 0, tokens(5));
    QCOMPARE(log.size(), 100U);
    QVERIFY(!log.find(21, 4));
    QCOMPARE(log.find(21)->first, 5);
    QCOMPARE(log.find(21, 5)->record.token, 105);
    // One answer alone may be longer than all that is kept.
    log.add(31, 0, tokens(250));
    QCOMPARE(log.size(), 100U);
    QCOMPARE(log.find(31)->first, 150);
    QCOMPARE(std::ssize(log.find(31)->kept), 100);
    QVERIFY(!log.find(30));
  }

  void aBranchBeginsAsTheAnswerDid() {
    TokenLog log;
    log.add(1, 0, tokens(5));
    QVERIFY(!log.branch(1, 3, 55, 1, 2));  // the model did not think of it
    QVERIFY(!log.branch(1, 9, 7, 1, 2));
    QVERIFY(!log.find(2));
    QVERIFY(log.branch(1, 3, 7, 5, 2));
    QCOMPARE(std::ssize(log.find(2)->kept), 4);
    QCOMPARE(log.find(2, 2)->record.token, 102);
    QCOMPARE(log.find(2, 3)->record.token, 7);
    QCOMPARE(log.find(2, 3)->record.logprob, -1.5F);
    QCOMPARE(log.find(2, 3)->begin, 6);
    QCOMPARE(log.find(2, 3)->end, 11);
    log.add(2, 11, tokens(1));
    QCOMPARE(log.find(2, 4)->begin, 11);
    QCOMPARE(std::ssize(log.find(1)->kept), 5);
  }

  // While the log is full, a branch makes the tokens forget from which it is copied.
  void aBranchInAFullLog() {
    TokenLog log(10);
    log.add(1, 0, tokens(10));
    QVERIFY(log.branch(1, 6, 7, 1, 2));
    QCOMPARE(log.size(), 10U);
    QCOMPARE(log.find(2, 0)->record.token, 100);
    QCOMPARE(log.find(2, 6)->record.token, 7);
    QCOMPARE(log.find(1)->first, 7);
  }

  void whatWasWrittenAtAMoment() {
    TokenLog log;
    log.begin_model();
    log.add(1, 0, tokens(5, 100, 41));
    log.add(2, 0, tokens(5, 100, 60));
    using Places = std::vector<TokenLog::Place>;
    QCOMPARE(log.written(42, 44), (Places{{1, 2}, {1, 3}}));
    QCOMPARE(log.written(44, 61), (Places{{1, 4}, {2, 0}, {2, 1}}));
    QCOMPARE(log.written(44, 44), Places());
    log.begin_model();  // another model's tokens are counted anew
    QCOMPARE(log.written(0, 100), Places());
  }
};
FOVEA_TEST(TokenLogTest)

#include "token_log_test.moc"
