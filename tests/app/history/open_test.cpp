// Files that are damaged, old, new, somebody else's, full or in use.
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include "app/history/database.h"
#include "app/history/errors.h"
#include "app/history/history.h"
#include "app/history/schema.h"
#include "tests/support/test.h"

using namespace fovea;
using namespace fovea::app::history;
using fovea::tests::content;

namespace {

void put(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

// A history with `turns` turns, closed.
void make_history(const std::filesystem::path& file, int turns, const Options& options = {}) {
  auto history = History::open(file, options);
  if (!history) qFatal("%s", history.error().message().c_str());
  for (int i = 0; i < turns; ++i) {
    const auto turn = history->add_turn({0, {}, 0, "question " + std::to_string(i), {}, {}});
    (void)history->append_answer(turn->answer.id, std::string(3000, static_cast<char>('a' + i % 26)));
    (void)history->finish_answer(turn->answer.id, {});
  }
}

// As the programs wrote it that knew no folders. It is closed.
void make_schema_2(const std::filesystem::path& file, int conversations) {
  auto database = Database::open(file, Access::read_write);
  if (!database || !migrate(*database, migrations().first(2))) qFatal("no schema 2");
  for (int i = 1; i <= conversations; ++i) {
    const std::string n = std::to_string(i);
    const auto written = database->script(
        "INSERT INTO conversations(id, uid, title, created_at, updated_at) VALUES(" + n + ", 'u" + n +
        "', 'question " + n + "', 1, " + n + ");" +
        "INSERT INTO messages(id, conversation_id, role, state, created_at, updated_at, text) VALUES(" + n +
        ", " + n + ", 1, 0, 1, 1, '" + std::string(3000, 'x') + "');" +
        "UPDATE conversations SET leaf_id=" + n + " WHERE id=" + n);
    if (!written) qFatal("%s", written.error().message().c_str());
  }
}

std::size_t files_named(const std::filesystem::path& folder, const std::string& part) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.find(part) != std::string::npos && name.ends_with(".db")) ++count;
  }
  return count;
}

constexpr const char* kNext = "ALTER TABLE conversations ADD COLUMN colour TEXT NOT NULL DEFAULT 'blue'";
constexpr const char* kBroken = "ALTER TABLE conversations ADD COLUMN x TEXT; SELECT no_such_function()";

// What a later version of the program might do to a file of this one's.
std::vector<Migration> with_next(const char* sql, bool old_ones_may_read = true) {
  std::vector<Migration> steps(migrations().begin(), migrations().end());
  const int next = steps.back().version + 1;
  steps.push_back({next, sql, old_ones_may_read ? 1 : next});
  return steps;
}

}  // namespace

class OpenTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void nothing_is_left_to_chance();
  void no_database_is_set_aside_data();
  void no_database_is_set_aside();
  void saves_what_can_be_read();
  void another_programs_database_is_left_alone();
  void a_large_file_is_checked_when_suspect();
  void migrates_with_a_backup();
  void the_first_versions_file_goes_on();
  void the_schema_before_has_no_folders();
  void a_damaged_file_of_the_schema_before_is_saved();
  void a_failed_migration_changes_nothing();
  void a_newer_schema_is_read_only();
  void a_much_newer_schema_is_refused();
  void an_old_program_in_the_way_is_named();
  void a_full_disk_is_an_error_and_no_damage();
  void no_permission_is_an_error();
  void index_is_rebuilt_for_other_rules();
};

// What a kill and a power cut are survived by, as SQLite itself tells it.
void OpenTest::nothing_is_left_to_chance() {
  tests::TemporaryFolder folder;
  const auto file = folder.path() / "history.db";
  make_history(file, 1);
  auto database = Database::open(file, Access::read_write);
  FOVEA_VERIFY(database);
  QCOMPARE(*database->number("PRAGMA synchronous"), std::int64_t{2});  // FULL
  QCOMPARE(*database->number("PRAGMA foreign_keys"), std::int64_t{1});
  QCOMPARE(*database->number("SELECT count(*) FROM pragma_journal_mode WHERE journal_mode = 'wal'"),
           std::int64_t{1});
  QVERIFY(
      !database->run("INSERT INTO messages(conversation_id, role, state, created_at, updated_at, text) "
                     "VALUES(77, 1, 0, 1, 1, 'of no conversation')"));
}

void OpenTest::no_database_is_set_aside_data() {
  QTest::addColumn<QByteArray>("bytes");
  QTest::newRow("text") << QByteArray("this is no database\n").repeated(500);
  QTest::newRow("zeros") << QByteArray(8192, '\0');
  QTest::newRow("header only") << QByteArray("SQLite format 3\0", 16) + QByteArray(4080, '\xFF');
  QTest::newRow("short") << QByteArray("SQLite");
}

void OpenTest::no_database_is_set_aside() {
  QFETCH(QByteArray, bytes);
  tests::TemporaryFolder folder;
  const auto file = folder.path() / "history.db";
  put(file, bytes.toStdString());
  auto history = History::open(file);
  FOVEA_VERIFY(history);
  const Opening& opening = history->opening();
  QCOMPARE(content(opening.set_aside), bytes.toStdString());
  QCOMPARE(opening.notices.size(), std::size_t{2});
  QVERIFY(opening.notices[0].is(phrases::history_set_aside.code));
  QCOMPARE(std::get<std::filesystem::path>(*opening.notices[0].find("file")), opening.set_aside);
  QVERIFY(opening.notices[1].is(phrases::history_nothing_saved.code));
  FOVEA_VERIFY(history->add_turn({0, {}, 0, "it goes on", {}, {}}));
}

void OpenTest::saves_what_can_be_read() {
  tests::TemporaryFolder folder;
  const auto file = folder.path() / "history.db";
  {
    auto history = History::open(file);  // the folder's row is among the first pages
    FOVEA_VERIFY(history);
    const auto made = history->create_folder("Work");
    FOVEA_VERIFY(made);
    FOVEA_VERIFY(history->set_folder_defaults(made->id, "precise", "/m.gguf"));
    FOVEA_VERIFY(history->create({"question of a folder", {}, {}, made->id}));
  }
  make_history(file, 40);
  std::string bytes = content(file);
  // Pages in the middle are lost; the first ones hold the schema.
  for (std::size_t at = bytes.size() / 2; at < bytes.size() / 2 + 5 * 4096; ++at) bytes[at] = '\x5A';
  put(file, bytes);
  auto history = History::open(file);
  FOVEA_VERIFY(history);
  QVERIFY(!history->opening().set_aside.empty());
  QCOMPARE(content(history->opening().set_aside), bytes);
  const auto page = history->conversations(100);
  FOVEA_VERIFY(page);
  QVERIFY(!page->conversations.empty());
  for (const Conversation& c : page->conversations) {
    QVERIFY(c.title.starts_with("question "));
    QCOMPARE(history->branch(c.id)->messages.size(), std::size_t{2});
  }
  QCOMPARE(history->folders()->size(), std::size_t{1});
  QCOMPARE(history->folders()->front().preset, std::string("precise"));
  QCOMPARE(history->in_folders()->size(), std::size_t{1});
  QCOMPARE(history->in_folders()->front().folder, history->folders()->front().id);
  FOVEA_VERIFY(History::check(file));
}

void OpenTest::another_programs_database_is_left_alone() {
  tests::TemporaryFolder folder;
  const auto file = folder.path() / "history.db";
  {
    auto database = Database::open(file, Access::read_write);
    FOVEA_VERIFY(database);
    FOVEA_VERIFY(database->script("CREATE TABLE theirs(a)"));
  }
  const auto history = History::open(file);
  QVERIFY(!history);
  QVERIFY(history.error().is(errors::history_foreign.code));
  auto database = Database::open(file, Access::read_only);
  QCOMPARE(*database->number("SELECT count(*) FROM theirs"), std::int64_t{0});
}

void OpenTest::a_large_file_is_checked_when_suspect() {
  tests::TemporaryFolder folder;
  const auto file = folder.path() / "history.db";
  make_history(file, 40);
  std::string bytes = content(file);
  for (std::size_t at = bytes.size() - 3 * 4096; at < bytes.size() - 4096; ++at) bytes[at] = '\x5A';
  put(file, bytes);
  const Options large{.now = {}, .migrations = {}, .quick_check_limit_bytes = 0};
  {
    auto history = History::open(file, large);  // at once, unchecked
    FOVEA_VERIFY(history);
    QVERIFY(!history->opening().checked && history->opening().set_aside.empty());
    QVERIFY(!History::check(file));
  }
  auto history = History::open(file, large);
  FOVEA_VERIFY(history);
  QVERIFY(!history->opening().set_aside.empty());
}

void OpenTest::migrates_with_a_backup() {
  tests::TemporaryFolder folder;
  const auto file = folder.path() / "history.db";
  make_history(file, 3);
  const auto steps = with_next(kNext);
  auto history = History::open(file, {.now = {}, .migrations = steps});
  FOVEA_VERIFY(history);
  QCOMPARE(history->conversations(9)->conversations.size(), std::size_t{3});
  QVERIFY(!history->opening().backup.empty());
  auto backup = Database::open(history->opening().backup, Access::read_only);
  FOVEA_VERIFY(backup);
  QCOMPARE(*schema_version(*backup), migrations().back().version);
  QCOMPARE(*backup->number("SELECT count(*) FROM messages"), std::int64_t{6});
  auto now = Database::open(file, Access::read_only);
  QCOMPARE(*schema_version(*now), steps.back().version);
  QCOMPARE(*now->number("SELECT count(*) FROM conversations WHERE colour='blue'"), std::int64_t{3});
}

void OpenTest::the_first_versions_file_goes_on() {
  tests::TemporaryFolder folder;
  const auto file = folder.path() / "history.db";
  const std::vector<Migration> first{migrations().front()};
  {
    auto database = Database::open(file, Access::read_write);
    FOVEA_VERIFY(database);
    FOVEA_VERIFY(migrate(*database, first));
    for (const char* const row :
         {"INSERT INTO conversations(id, uid, title, created_at, updated_at) VALUES(1, 'a', 'first', 1, 1)",
          "INSERT INTO messages(id, conversation_id, role, state, created_at, updated_at) "
          "VALUES(1, 1, 2, 0, 1, 1)",
          "UPDATE conversations SET leaf_id=1 WHERE id=1"})
      FOVEA_VERIFY(database->script(row));
  }
  auto history = History::open(file);
  FOVEA_VERIFY(history);
  const auto page = history->conversations(9);
  QCOMPARE(page->conversations.size(), std::size_t{1});
  QCOMPARE(*history->use_profile(page->conversations[0].id), std::string());
  const Branch branch = *history->branch(page->conversations[0].id);
  FOVEA_VERIFY(
      history->finish_answer(branch.messages.back().id, {.timings = {}, .note = {}, .use_profile = "p"}));
  QCOMPARE(*history->use_profile(page->conversations[0].id), std::string("p"));
}

void OpenTest::the_schema_before_has_no_folders() {
  tests::TemporaryFolder folder;
  const auto file = folder.path() / "history.db";
  make_schema_2(file, 3);
  auto history = History::open(file);
  FOVEA_VERIFY(history);
  QVERIFY(!history->opening().backup.empty());
  QVERIFY(history->folders()->empty());
  const auto page = history->conversations(9);
  FOVEA_VERIFY(page);
  QCOMPARE(page->conversations.size(), std::size_t{3});
  QCOMPARE(page->conversations[0].folder, Id{0});
  const auto made = history->create_folder("Work");
  FOVEA_VERIFY(made);
  FOVEA_VERIFY(history->move_to_folder(page->conversations[0].id, made->id));
  QCOMPARE(history->conversations(9)->conversations.size(), std::size_t{2});
  QCOMPARE(history->in_folders()->size(), std::size_t{1});
  FOVEA_VERIFY(History::check(file));
}

// It is read as it is: nobody migrates a damaged file.
void OpenTest::a_damaged_file_of_the_schema_before_is_saved() {
  tests::TemporaryFolder folder;
  const auto file = folder.path() / "history.db";
  make_schema_2(file, 40);
  std::string bytes = content(file);
  for (std::size_t at = bytes.size() / 2; at < bytes.size() / 2 + 5 * 4096; ++at) bytes[at] = '\x5A';
  put(file, bytes);
  auto history = History::open(file);
  FOVEA_VERIFY(history);
  QVERIFY(!history->opening().set_aside.empty());
  QVERIFY(!history->conversations(100)->conversations.empty());
}

void OpenTest::a_failed_migration_changes_nothing() {
  tests::TemporaryFolder folder;
  const auto file = folder.path() / "history.db";
  make_history(file, 3);
  const auto steps = with_next(kBroken);
  QVERIFY(!History::open(file, {.now = {}, .migrations = steps}));
  auto history = History::open(file);
  FOVEA_VERIFY(history);
  QVERIFY(!history->opening().read_only);
  QCOMPARE(history->conversations(9)->conversations.size(), std::size_t{3});
}

void OpenTest::a_newer_schema_is_read_only() {
  tests::TemporaryFolder folder;
  const auto file = folder.path() / "history.db";
  const auto steps = with_next(kNext);
  make_history(file, 3, {.now = {}, .migrations = steps});
  auto history = History::open(file);
  FOVEA_VERIFY(history);
  QVERIFY(history->opening().read_only);
  QVERIFY(history->opening().notices[0].is(phrases::history_newer.code));
  const auto page = history->conversations(9);
  QCOMPARE(page->conversations.size(), std::size_t{3});
  QCOMPARE(history->search("question", 9)->hits.size(), std::size_t{3});
  const auto branch = history->branch(page->conversations[0].id);
  QCOMPARE(branch->messages.size(), std::size_t{2});
  FOVEA_VERIFY(history->choose(branch->messages[0].id));
  const auto written = history->rename(page->conversations[0].id, "x");
  QVERIFY(!written);
  QVERIFY(written.error().is(errors::history_read_only.code));
}

void OpenTest::a_much_newer_schema_is_refused() {
  tests::TemporaryFolder folder;
  const auto file = folder.path() / "history.db";
  const auto steps = with_next(kNext, false);
  make_history(file, 1, {.now = {}, .migrations = steps});
  const auto history = History::open(file);
  QVERIFY(!history);
  QVERIFY(history.error().is(errors::history_too_new.code));
}

void OpenTest::an_old_program_in_the_way_is_named() {
  tests::TemporaryFolder folder;
  const auto file = folder.path() / "history.db";
  auto old = History::open(file);
  FOVEA_VERIFY(old);
  const auto steps = with_next(kNext);
  const auto newer = History::open(file, {.now = {}, .migrations = steps});
  QVERIFY(!newer);
  QVERIFY(newer.error().is(errors::history_older_runs.code));
  FOVEA_VERIFY(old->create({"still works", {}, {}}));
}

void OpenTest::a_full_disk_is_an_error_and_no_damage() {
  tests::TemporaryFolder folder;
  const auto file = folder.path() / "history.db";
  auto database = Database::open(file, Access::read_write);
  FOVEA_VERIFY(database);
  FOVEA_VERIFY(migrate(*database, migrations()));
  FOVEA_VERIFY(database->script("PRAGMA max_page_count=60"));
  FOVEA_VERIFY(
      database->run("INSERT INTO conversations(uid, title, created_at, updated_at) VALUES('u', 't', 1, 1)"));
  const std::string text(20'000, 'x');
  Result<void> written;
  int rows = 0;
  while (written && rows < 1000) {
    written = database->run(
        "INSERT INTO messages(conversation_id, role, state, created_at, updated_at, text) "
        "VALUES(1, 1, 0, 1, 1, ?)",
        std::string_view(text));
    rows += written ? 1 : 0;
  }
  QVERIFY(!written);
  QVERIFY(written.error().is(errors::history_disk_full.code));
  QVERIFY(!is_damage(written.error()));
  QCOMPARE(*database->number("SELECT count(*) FROM messages"), std::int64_t{rows});
  QVERIFY(database->quick_check()->empty());
}

void OpenTest::no_permission_is_an_error() {
  if (::geteuid() == 0) QSKIP("root may read everything");
  tests::TemporaryFolder folder;
  const auto file = folder.path() / "history.db";
  make_history(file, 1);
  ::chmod(file.c_str(), 0);
  const auto history = History::open(file);
  QVERIFY(!history);
  QCOMPARE(history.error().kind, ErrorKind::io);
  QCOMPARE(files_named(folder.path(), "damaged"), std::size_t{0});
}

void OpenTest::index_is_rebuilt_for_other_rules() {
  tests::TemporaryFolder folder;
  const auto file = folder.path() / "history.db";
  make_history(file, 2);
  {
    auto database = Database::open(file, Access::read_write);
    FOVEA_VERIFY(
        database->script("UPDATE meta SET value='0' WHERE key='tokenizer';"
                         "INSERT INTO message_words(message_words) VALUES('delete-all')"));
  }
  auto history = History::open(file);
  FOVEA_VERIFY(history);
  QCOMPARE(history->search("question", 9)->hits.size(), std::size_t{2});
}

FOVEA_TEST(OpenTest)
#include "open_test.moc"
