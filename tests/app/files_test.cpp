#include "app/files/files.h"

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <set>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "app/files/atomic_file.h"
#include "app/files/folders.h"
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

  void entriesAreInOrder() {
    const fovea::tests::TemporaryFolder folder;
    for (const char* name : {"b", "a", ".hidden", "c"}) std::ofstream(folder.path() / name) << name;
    const std::vector<fs::path> expected{folder.path() / ".hidden", folder.path() / "a", folder.path() / "b",
                                         folder.path() / "c"};
    QVERIFY(fovea::app::entries_of(folder.path()) == expected);
    QVERIFY(fovea::app::entries_of(folder.path() / "none").empty());
    QVERIFY(fovea::app::entries_of(folder.path() / "a").empty());
  }

  void theDiskOfAPathThatIsNotMadeYet() {
    const fovea::tests::TemporaryFolder folder;
    std::ofstream(folder.path() / "file") << "x";
    QVERIFY(fovea::app::existing_folder(folder.path() / "not/made/yet") == folder.path());
    QVERIFY(fovea::app::existing_folder(folder.path() / "file") == folder.path());
    QVERIFY(fovea::app::existing_folder("not-made-yet/either") == fs::path("."));
    QVERIFY(fovea::app::existing_folder("/not-made-yet") == fs::path("/"));
    const auto bytes = fovea::app::free_disk_bytes(folder.path() / "not/made/yet");
    QVERIFY(bytes && *bytes > 0);
    QVERIFY(std::cmp_less(*bytes, fs::space(folder.path()).capacity));
  }

  void whatIsSetAsideReplacesNothing() {
    const fovea::tests::TemporaryFolder folder;
    const fs::path file = folder.path() / "history.db";
    std::set<fs::path> names;
    for (int i = 0; i < 3; ++i) {
      const fs::path name = fovea::app::name_aside(file, "damaged");
      QVERIFY(name.parent_path() == folder.path());
      QVERIFY2(name.filename().string().starts_with("history.damaged-2"), name.c_str());
      QVERIFY(name.extension() == ".db");
      QVERIFY(names.insert(name).second);
      std::ofstream(name) << "x";
    }
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
