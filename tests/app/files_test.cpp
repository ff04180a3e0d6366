#include "app/files/files.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <utility>

#include "app/files/folders.h"
#include "tests/support/privileges.h"
#include "tests/support/test.h"

namespace fs = std::filesystem;
using fovea::app::invalid_utf8;
using fovea::app::read_file;

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
    QVERIFY2(error.message().ends_with("Permission denied. Give yourself permission to read it"),
             error.message().c_str());
  }
};
FOVEA_TEST(FilesTest)

#include "files_test.moc"
