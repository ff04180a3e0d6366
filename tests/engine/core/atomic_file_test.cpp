#include "engine/core/atomic_file.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "tests/support/test.h"

namespace fs = std::filesystem;
using fovea::AtomicFile;
using fovea::open_locked;
using fovea::tests::content;

namespace {

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
}

}  // namespace

class AtomicFileTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void aFileAppearsWholeOrNotAtAll() {
    const fovea::tests::TemporaryFolder folder;
    const fs::path target = folder.path() / "x.npy";
    std::ofstream(target) << "old";
    {
      auto file = AtomicFile::create(target);
      FOVEA_VERIFY(file);
      FOVEA_VERIFY(file->write("new, unfinished"));
      QCOMPARE(content(target), std::string("old"));
    }
    QCOMPARE(content(target), std::string("old"));
    QCOMPARE(files_in(folder.path()), 1U);
    auto file = AtomicFile::create(target);
    FOVEA_VERIFY(file);
    FOVEA_VERIFY(file->write("new"));
    FOVEA_VERIFY(file->commit());
    QCOMPARE(content(target), std::string("new"));
    QCOMPARE(files_in(folder.path()), 1U);
  }

  // Where the file system knows files without names, nothing is left however the program ends.
  void nothingIsLeftOfAKilledProgram() {
    const fovea::tests::TemporaryFolder folder;
    const int nameless = ::open(folder.path().c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (nameless < 0) QSKIP("the file system has no files without names");
    ::close(nameless);
    const pid_t child = ::fork();
    if (child == 0) {
      auto file = AtomicFile::create(folder.path() / "x.npy");
      if (file && file->write("unfinished")) ::raise(SIGKILL);
      ::_exit(1);
    }
    int status = 0;
    QCOMPARE(::waitpid(child, &status, 0), child);
    QVERIFY(WIFSIGNALED(status));
    QCOMPARE(files_in(folder.path()), 0U);
  }

  void aLinkStaysALink() {
    const fovea::tests::TemporaryFolder folder;
    std::ofstream(folder.path() / "real") << "old";
    fs::create_symlink(folder.path() / "real", folder.path() / "link");
    auto file = AtomicFile::create(folder.path() / "link");
    FOVEA_VERIFY(file);
    FOVEA_VERIFY(file->write("new"));
    FOVEA_VERIFY(file->commit());
    QVERIFY(fs::is_symlink(folder.path() / "link"));
    QCOMPARE(content(folder.path() / "real"), std::string("new"));
  }

  void aFileKeepsItsPermissions() {
    const fovea::tests::TemporaryFolder folder;
    const fs::path target = folder.path() / "private";
    std::ofstream(target) << "old";
    for (const fs::perms permissions : {fs::perms::owner_read | fs::perms::owner_write, fs::perms(0664)}) {
      fs::permissions(target, permissions);
      auto file = AtomicFile::create(target);
      FOVEA_VERIFY(file);
      FOVEA_VERIFY(file->write("new"));
      FOVEA_VERIFY(file->commit());
      QCOMPARE(static_cast<int>(fs::status(target).permissions()), static_cast<int>(permissions));
    }
  }

  void aDeviceIsNotReplaced() {
    auto file = AtomicFile::create("/dev/null");
    FOVEA_VERIFY(file);
    FOVEA_VERIFY(file->write("x"));
    FOVEA_VERIFY(file->commit());
    QVERIFY(fs::is_character_file("/dev/null"));
  }

  void twoThreadsWriteTheSameFile() {
    const fovea::tests::TemporaryFolder folder;
    const fs::path target = folder.path() / "list";
    std::atomic<int> failures = 0;
    const auto write = [&](const char* text) {
      for (int i = 0; i < 200; ++i) {
        auto file = AtomicFile::create(target);
        if (!file || !file->write(text) || !file->commit()) ++failures;
      }
    };
    {
      const std::jthread first(write, "first"), second(write, "second");
    }
    QCOMPARE(failures.load(), 0);
    QVERIFY(content(target) == "first" || content(target) == "second");
    QCOMPARE(files_in(folder.path()), 1U);
  }

  void itIsCommittedOnce() {
    const fovea::tests::TemporaryFolder folder;
    auto file = AtomicFile::create(folder.path() / "x");
    FOVEA_VERIFY(file);
    FOVEA_VERIFY(file->write("new"));
    QCOMPARE(content(file->uncommitted()), std::string("new"));
    FOVEA_VERIFY(file->commit());
    QVERIFY(!file->write("more"));
    QVERIFY(!file->commit());
    QCOMPARE(content(folder.path() / "x"), std::string("new"));
  }

  void aLockHoldsItsName() {
    const fovea::tests::TemporaryFolder folder;
    const fs::path name = folder.path() / "part";
    {
      const auto first = open_locked(name, 0600);
      QVERIFY(first);
      QCOMPARE(open_locked(name, 0600).error(), EWOULDBLOCK);
      fs::rename(name, folder.path() / "whole");
      QVERIFY(open_locked(name, 0600));  // another file
    }
    QVERIFY(open_locked(name, 0600));
    fs::create_symlink(folder.path() / "whole", folder.path() / "link");
    QCOMPARE(open_locked(folder.path() / "link", 0600).error(), ELOOP);
    QCOMPARE(open_locked(folder.path() / "none/part", 0600).error(), ENOENT);
  }
};
FOVEA_TEST(AtomicFileTest)

#include "atomic_file_test.moc"
