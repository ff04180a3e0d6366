#include "engine/core/start_threads.h"

#include <atomic>
#include <pthread.h>

#include "tests/support/test.h"

namespace {

// New threads want more memory for their stack than there are addresses.
class NoMoreThreads {
 public:
  NoMoreThreads() {
    ::pthread_getattr_default_np(&before_);
    pthread_attr_t none = before_;
    ::pthread_attr_setstacksize(&none, std::size_t{1} << 50);
    ::pthread_setattr_default_np(&none);
  }
  NoMoreThreads(const NoMoreThreads&) = delete;
  ~NoMoreThreads() { ::pthread_setattr_default_np(&before_); }

 private:
  pthread_attr_t before_{};
};

}  // namespace

class StartThreadsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void asManyAsTheSystemStarts() {
    std::atomic<int> ran = 0;
    const auto work = [&ran] { ++ran; };
    QCOMPARE(fovea::start_threads(3, work).size(), 3U);
    QCOMPARE(ran.load(), 3);
    QVERIFY(fovea::start_threads(-1, work).empty());
    const NoMoreThreads refused;
    QVERIFY(fovea::start_threads(3, work).empty());
    QCOMPARE(ran.load(), 3);
  }
};
FOVEA_TEST(StartThreadsTest)

#include "start_threads_test.moc"
