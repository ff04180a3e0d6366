// The chat in the terminal when the device has failed: one sentence, and the end.
#include <iostream>
#include <sstream>

#include "app/commands/chat_session.h"
#include "app/commands/loading.h"
#include "engine/runtime/load.h"
#include "engine/runtime/processor.h"
#include "tests/support/environment.h"
#include "tests/support/test.h"

#include "../../engine/models/apart_device.h"

using namespace fovea;

namespace {

// What the session is asked, instead of the terminal's lines.
class TypedLines {
 public:
  explicit TypedLines(const char* lines) : stream_(lines), before_(std::cin.rdbuf(stream_.rdbuf())) {}
  ~TypedLines() { std::cin.rdbuf(before_); }
  TypedLines(const TypedLines&) = delete;
  TypedLines& operator=(const TypedLines&) = delete;

 private:
  std::istringstream stream_;
  std::streambuf* before_;
};

}  // namespace

class LostDeviceTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { QVERIFY2(!model_.empty(), "the demo model is not there; ./scripts/demo builds it"); }

  void theChatEnds() {
    const tests::ApartDevice device(**runtime::chosen_device({}));
    LoadOptions load;
    load.model = model_;
    load.context = 256;
    load.threads = 2;
    auto engine = runtime::load(load, {}, {}, {}, &device);
    FOVEA_VERIFY(engine);
    app::Console console;
    app::Interrupts interrupts;
    app::ChatFlags flags;
    flags.max_tokens = 2;
    {
      TypedLines lines("Hello\n");
      app::ChatSession session(flags, **engine, console, interrupts);
      FOVEA_VERIFY(session.run());  // the lines have ended
    }
    device.fail("the card has fallen off the bus");
    TypedLines lines("Hello again\nAnd again\n");
    app::ChatSession session(flags, **engine, console, interrupts);
    const auto ended = session.run();
    QVERIFY(!ended);  // main makes exit code 1 of it
    QCOMPARE(ended.error().kind, ErrorKind::device);
    const std::string message = ended.error().message();
    QVERIFY2(message.contains("the card has fallen off the bus"), message.c_str());
    QVERIFY2(message.ends_with("Start the program again: only that brings the device back"), message.c_str());
  }

 private:
  const std::filesystem::path model_ = tests::demo_model();  // before the data folder is another
  tests::DataFolder folder_;
};

FOVEA_TEST(LostDeviceTest)
#include "lost_device_test.moc"
