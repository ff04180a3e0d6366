// A program that writes and is killed at any moment: what it was told is stored is there afterwards.
#include <array>
#include <csignal>
#include <fcntl.h>
#include <map>
#include <random>
#include <sstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "app/history/database.h"
#include "app/history/history.h"
#include "tests/support/test.h"

#include "script.h"

using namespace fovea;
using namespace fovea::app::history;

namespace {

class Writer {
 public:
  Writer(const std::filesystem::path& file, std::uint64_t seed, bool hasty = false) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) qFatal("no pipe");
    const std::string program = FOVEA_BINARY_DIR "/history_writer", number = std::to_string(seed);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::execl(program.c_str(), program.c_str(), file.c_str(), number.c_str(), hasty ? "hasty" : nullptr,
              nullptr);
      ::_exit(127);
    }
    ::close(ends[1]);
    output_ = ends[0];
  }
  ~Writer() {
    if (pid_ > 0) (void)kill_it();
    ::close(output_);
  }

  // Waits for a part of the output, so that the kill can hit any moment, also of the opening.
  void read_some(std::size_t bytes) {
    char buffer[512];
    while (said_.size() < bytes) {
      const ssize_t got = ::read(output_, buffer, std::min(sizeof(buffer), bytes - said_.size()));
      if (got <= 0) break;
      said_.append(buffer, static_cast<std::size_t>(got));
    }
  }

  // Everything that it has said in whole lines; empty when it did not die of the kill.
  std::string kill_it() {
    ::kill(pid_, SIGKILL);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    char buffer[4096];
    for (ssize_t got; (got = ::read(output_, buffer, sizeof(buffer))) > 0;) {
      said_.append(buffer, static_cast<std::size_t>(got));
    }
    if (!WIFSIGNALED(status)) return {};
    said_.resize(said_.rfind('\n') + 1);
    return said_ + " ";
  }

 private:
  pid_t pid_ = -1;
  int output_ = -1;
  std::string said_;
};

Result<void> check_index(const std::filesystem::path& file) {
  auto database = Database::open(file, Access::read_write);
  if (!database) return std::unexpected(database.error());
  // Compares the index with the texts, not only with itself.
  auto messages =
      database->run("INSERT INTO message_words(message_words, rank) VALUES('integrity-check', 1)");
  if (!messages) return messages;
  return database->run("INSERT INTO title_words(title_words, rank) VALUES('integrity-check', 1)");
}

// Empty when all that was said to be stored is there.
std::string what_is_lost(History& history, const std::string& said, std::uint64_t seed) {
  std::istringstream lines(said);
  std::string kind;
  Id answer = 0;
  std::uint64_t turns = 0;
  std::map<Id, Id> folders;  // of conversations
  while (lines >> kind) {
    if (kind == "turn") {
      Id conversation = 0, question = 0;
      lines >> conversation >> question >> answer;
      const auto asked = history.message(question);
      if (!asked) return "question " + std::to_string(question) + " is lost";
      if (asked->text != tests::question(seed, turns)) return "the text of a question has changed";
      if (asked->conversation != conversation) return "a question is elsewhere";
      ++turns;
    } else if (kind == "moved") {
      Id conversation = 0;
      lines >> conversation;
      lines >> folders[conversation];
    } else if (kind == "piece" || kind == "end") {
      std::size_t bytes = 0;
      lines >> answer;
      if (kind == "piece") lines >> bytes;
      const auto stored = history.message(answer);
      const std::string whole = tests::answer(seed, turns - 1);
      if (!stored) return "answer " + std::to_string(answer) + " is lost";
      if (!whole.starts_with(stored->text)) return "an answer has changed";
      if (stored->text.size() < bytes) return "a piece of an answer is lost";
      if (kind == "end" && (stored->text != whole || stored->state != MessageState::complete)) {
        return "the end of an answer is lost";
      }
    }
  }
  for (const auto& [conversation, folder] : folders) {
    const auto stored = history.conversation(conversation);
    // It may have gone on into another one, which nobody has heard of any more.
    if (!stored || stored->folder < folder) return "a conversation is in no folder any more";
    if (!history.folder(stored->folder)) return "a folder is lost";
  }
  return {};
}

}  // namespace

class KillTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void loses_nothing_that_was_stored();
  void two_processes_write_at_once();
  void each_sees_what_the_other_stores();
  void hasty_promises_are_found_out();
  void a_wrong_index_is_found_out();
};

// Kills one writer after another at the same file, so that each also meets what the last kill has left.
void KillTest::loses_nothing_that_was_stored() {
  tests::TemporaryFolder folder;
  const auto file = folder.path() / "history.db";
  std::mt19937_64 random(tests::seed());
  const int kills = tests::rounds(25);
  int with_turns = 0;
  for (int kill = 0; kill < kills; ++kill) {
    const std::string repeat =
        "FOVEA_TEST_SEED=" + std::to_string(tests::seed()) + ", kill " + std::to_string(kill);
    const std::uint64_t seed = random();
    Writer writer(file, seed);
    // Most kills somewhere in the writing, some in the opening.
    const bool while_opening = kill % 5 == 4;
    if (!while_opening) writer.read_some(5 + random() % 1500);
    ::usleep(static_cast<useconds_t>(random() % (while_opening ? 15'000 : 4'000)));
    const std::string said = writer.kill_it();
    QVERIFY2(!said.empty(), ("the writer ended by itself: " + repeat).c_str());
    auto history = History::open(file);
    QVERIFY2(history.has_value(), history ? "" : (history.error().message() + ": " + repeat).c_str());
    QVERIFY2(history->opening().set_aside.empty(), repeat.c_str());
    const std::string lost = what_is_lost(*history, said, seed);
    QVERIFY2(lost.empty(), (lost + ": " + repeat).c_str());
    const auto index = check_index(file);
    QVERIFY2(index.has_value(), index ? "" : (index.error().message() + ": " + repeat).c_str());
    with_turns += said.find("end") != std::string::npos ? 1 : 0;
    if (kill % 25 == 24) FOVEA_VERIFY(History::check(file));
  }
  FOVEA_VERIFY(History::check(file));
  QVERIFY(with_turns > kills / 4);  // the kills did not all come too early to matter
}

void KillTest::two_processes_write_at_once() {
  tests::TemporaryFolder folder;
  const auto file = folder.path() / "history.db";
  for (int round = 0; round < tests::rounds(2); ++round) {
    const std::uint64_t seed = tests::seed() * 100U + static_cast<unsigned>(round) * 2;
    Writer one(file, seed), two(file, seed + 1);
    one.read_some(1500);
    two.read_some(1500);
    const std::string first = one.kill_it(), second = two.kill_it();
    QVERIFY(!first.empty() && !second.empty());
    auto history = History::open(file);
    FOVEA_VERIFY(history);
    QCOMPARE(what_is_lost(*history, first, seed), std::string());
    QCOMPARE(what_is_lost(*history, second, seed + 1), std::string());
    FOVEA_VERIFY(check_index(file));
    FOVEA_VERIFY(History::check(file));
  }
}

// Two programs that are open together, both of them writing.
void KillTest::each_sees_what_the_other_stores() {
  tests::TemporaryFolder folder;
  const auto file = folder.path() / "history.db";
  constexpr int turns = 40;
  const auto words = [](int program, int turn) {
    return "program" + std::to_string(program) + " turn" + std::to_string(100 + turn);
  };
  std::vector<History> open;
  for (int program = 0; program < 2; ++program) {
    auto history = History::open(file);
    FOVEA_VERIFY(history);
    open.push_back(std::move(*history));
  }
  std::array<std::string, 2> trouble;
  {
    std::vector<std::jthread> programs;
    for (int program = 0; program < 2; ++program)
      programs.emplace_back([&, program] {
        for (int turn = 0; turn < turns; ++turn) {
          const auto stored = open[program].add_turn({0, {}, 0, words(program, turn), {}, {}});
          if (!stored) return void(trouble[program] = stored.error().message());
          const auto said = open[program].append_answer(stored->answer.id, "an answer");
          if (!said) return void(trouble[program] = said.error().message());
          const auto folder = open[program].create_folder(words(program, turn));
          if (!folder) return void(trouble[program] = folder.error().message());
          const auto placed = open[program].place_folder(folder->id, turn % 3);
          if (!placed) return void(trouble[program] = placed.error().message());
          const auto moved = open[program].move_to_folder(stored->conversation.id, folder->id);
          if (!moved) return void(trouble[program] = moved.error().message());
        }
      });
  }
  for (const std::string& each : trouble) QCOMPARE(each, std::string());
  for (int reader = 0; reader < 2; ++reader) {
    const auto all = open[reader].in_folders();
    FOVEA_VERIFY(all);
    QCOMPARE(all->size(), std::size_t{2 * turns});
    std::map<Id, int> placed;
    for (const Conversation& each : *all) ++placed[each.folder];
    QCOMPARE(placed.size(), std::size_t{2 * turns});
    QCOMPARE(open[reader].folders()->size(), std::size_t{2 * turns});
    for (int turn = 0; turn < turns; ++turn) {
      const auto found = open[reader].search(words(1 - reader, turn), 10);
      FOVEA_VERIFY(found);
      QCOMPARE(found->hits.size(), std::size_t{1});
      QCOMPARE(found->hits[0].folder, words(1 - reader, turn));
    }
  }
  FOVEA_VERIFY(History::check(file));
}

void KillTest::hasty_promises_are_found_out() {
  tests::TemporaryFolder folder;
  std::string lost;
  for (std::uint64_t n = 0; n < 20 && lost.empty(); ++n) {
    const auto file = folder.path() / std::to_string(n);
    Writer writer(file, n, true);
    writer.read_some(60);
    const std::string said = writer.kill_it();
    auto history = History::open(file);
    FOVEA_VERIFY(history);
    lost = what_is_lost(*history, said, n);
  }
  QVERIFY(!lost.empty());
}

void KillTest::a_wrong_index_is_found_out() {
  tests::TemporaryFolder folder;
  const auto file = folder.path() / "history.db";
  {
    auto history = History::open(file);
    FOVEA_VERIFY(history);
    FOVEA_VERIFY(history->add_turn({0, {}, 0, "a zebra", {}, {}}));
  }
  FOVEA_VERIFY(check_index(file));
  auto database = Database::open(file, Access::read_write);
  FOVEA_VERIFY(database);
  FOVEA_VERIFY(database->script("DROP TRIGGER message_changed; UPDATE messages SET text='a lion'"));
  QVERIFY(!check_index(file));
}

FOVEA_TEST(KillTest)
#include "kill_test.moc"
