#include "app/files/files.h"

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

#include "app/files/atomic_file.h"
#include "tests/support/privileges.h"
#include "tests/support/test.h"

namespace fs = std::filesystem;
using fovea::app::AtomicFile;
using fovea::app::invalid_utf8;
using fovea::app::read_file;
using fovea::tests::content;

namespace {

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
}

}  // namespace

class FilesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Where the first wrong byte is; the cases are those of Unicode's table 3-7.
  void utf8_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<qlonglong>("at");
    QTest::newRow("ascii") << QByteArray("abc") << -1LL;
    QTest::newRow("all lengths") << QByteArray("é字😀") << -1LL;
    QTest::newRow("last code point") << QByteArray("\xF4\x8F\xBF\xBF") << -1LL;
    QTest::newRow("beyond it") << QByteArray("a\xF4\x90\x80\x80") << 1LL;
    QTest::newRow("lone continuation") << QByteArray("ab\x80") << 2LL;
    QTest::newRow("cut off") << QByteArray("a\xE2\x82") << 1LL;
    QTest::newRow("overlong") << QByteArray("\xC0\xAF") << 0LL;
    QTest::newRow("overlong in three") << QByteArray("\xE0\x9F\xBF") << 0LL;
    QTest::newRow("surrogate") << QByteArray("\xED\xA0\x80") << 0LL;
    QTest::newRow("no byte of UTF-8") << QByteArray("\xFF") << 0LL;
  }
  void utf8() {
    QFETCH(QByteArray, text);
    const std::size_t at = invalid_utf8(text.toStdString());
    QTEST(at == std::string::npos ? -1LL : static_cast<qlonglong>(at), "at");
  }

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

  void reading() {
    const fovea::tests::TemporaryFolder folder;
    const std::string bytes("a\0\r\n\xFF", 5);
    std::ofstream(folder.path() / "f", std::ios::binary) << bytes;
    QCOMPARE(read_file(folder.path() / "f", 5).value(), bytes);
    QCOMPARE(read_file(folder.path() / "f", 4).error().kind, fovea::ErrorKind::invalid);
    QCOMPARE(read_file(folder.path() / "none", 5).error().kind, fovea::ErrorKind::not_found);
    QCOMPARE(read_file(folder.path(), 5).error().kind, fovea::ErrorKind::io);
    QVERIFY(read_file(folder.path(), 5).error().message().ends_with("Name a file in it"));
  }

  void aFileThatMayNotBeRead() {
    const fovea::tests::TemporaryFolder folder;
    fs::permissions(folder.path(), fs::perms::others_exec, fs::perm_options::add);
    std::ofstream(folder.path() / "f") << "x";
    fs::permissions(folder.path() / "f", fs::perms::none);
    const fovea::tests::WithoutPrivileges nobody;
    const auto error = read_file(folder.path() / "f", 5).error();
    QCOMPARE(error.kind, fovea::ErrorKind::io);
    QVERIFY2(error.message().ends_with("Permission denied. Give yourself the right to read it"),
             error.message().c_str());
  }
};
FOVEA_TEST(FilesTest)

#include "files_test.moc"
