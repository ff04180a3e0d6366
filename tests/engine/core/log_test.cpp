#include "engine/core/log.h"

#include <fstream>
#include <sstream>
#include <thread>

#include "tests/support/test.h"

using fovea::ErrorKind;
using fovea::tests::content;

class LogTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void cleanup() { fovea::log::stop(); }

  void linesOfTheLevelReachTheFile() {
    const fovea::tests::TemporaryFolder folder;
    const auto file = folder.path() / "log.txt";
    fovea::log::info("runtime", "before start");
    FOVEA_VERIFY(fovea::log::start({.file = file, .file_level = fovea::log::Level::info}));
    QVERIFY(!fovea::log::enabled(fovea::log::Level::debug));
    fovea::log::debug("runtime", "not wanted");
    fovea::log::info("runtime", "tokens: ", 12, ", seconds: ", 0.5, ", whole: ", true, ' ',
                     std::string("{}"));
    fovea::log::stop();
    fovea::log::error("runtime", "after stop");
    const std::string text = content(file);
    QVERIFY2(text.find("[runtime] tokens: 12, seconds: 0.5, whole: true {}\n") != std::string::npos,
             text.c_str());
    for (const char* absent : {"before start", "not wanted", "after stop"})
      QVERIFY2(text.find(absent) == std::string::npos, text.c_str());
  }

  void filesRotate() {
    const fovea::tests::TemporaryFolder folder;
    const auto file = folder.path() / "log.txt";
    FOVEA_VERIFY(fovea::log::start({.file = file, .file_bytes = 1024, .files = 3}));
    for (int line = 0; line < 100; ++line) fovea::log::info("core", std::string(100, 'x'));
    fovea::log::stop();
    QVERIFY(std::filesystem::exists(folder.path() / "log.1.txt"));
    QVERIFY(std::filesystem::exists(folder.path() / "log.2.txt"));
    QVERIFY(!std::filesystem::exists(folder.path() / "log.3.txt"));
    QVERIFY(std::filesystem::file_size(file) <= 1024);
  }

  void threadsMayWriteWhileItStops() {
    const fovea::tests::TemporaryFolder folder;
    FOVEA_VERIFY(fovea::log::start({.file = folder.path() / "log.txt"}));
    std::vector<std::jthread> writers;
    for (int writer = 0; writer < 4; ++writer) {
      writers.emplace_back([writer] {
        for (int line = 0; line < 200; ++line) fovea::log::info("core", "writer ", writer, " line ", line);
      });
    }
    fovea::log::stop();
    writers.clear();
    QVERIFY(std::filesystem::exists(folder.path() / "log.txt"));
  }

  void aFolderThatIsNotThereIsAnError() {
    const fovea::tests::TemporaryFolder folder;
    std::ofstream(folder.path() / "plain") << "a file";
    const auto result = fovea::log::start({.file = folder.path() / "plain" / "log.txt"});
    QVERIFY(!result);
    QCOMPARE(result.error().kind, ErrorKind::io);
  }
};
FOVEA_TEST(LogTest)

#include "log_test.moc"
