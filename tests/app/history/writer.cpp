// history_writer FILE SEED [hasty]: chats into a history until somebody kills it. After each call that has
// returned it says so in a line: "turn CONVERSATION QUESTION ANSWER", "piece ANSWER BYTES_SO_FAR", "end
// ANSWER", "moved CONVERSATION FOLDER". The hasty one says so before it calls, which is what the reader must
// find out.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

#include "app/history/history.h"

#include "script.h"

using namespace fovea;
using namespace fovea::app::history;

namespace {

void say(const std::string& line) {
  const std::string whole = line + "\n";
  if (::write(STDOUT_FILENO, whole.data(), whole.size()) < 0) std::exit(3);
}

template <class T>
T must(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "history_writer: %s\n", result.error().message().c_str());
    std::exit(2);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

void answer_turn(History& history, Id answer, std::uint64_t seed, std::uint64_t n, bool hasty) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < tests::pieces(seed, n); ++i) {
    const std::string piece = tests::piece(seed, n, i);
    bytes += piece.size();
    const std::string line = "piece " + std::to_string(answer) + " " + std::to_string(bytes);
    if (hasty) {
      say(line);
      ::usleep(20'000);
    }
    must(history.append_answer(answer, piece));
    if (!hasty) say(line);
  }
  must(history.finish_answer(answer, {}));
  say("end " + std::to_string(answer));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 1;
  const std::uint64_t seed = std::strtoull(argv[2], nullptr, 10);
  const bool hasty = argc > 3 && std::strcmp(argv[3], "hasty") == 0;
  History history = must(History::open(argv[1]));
  say("open");
  Id conversation = 0, leaf = 0;
  for (std::uint64_t n = 0;; ++n) {
    if (n % 5 == 0) conversation = leaf = 0;
    const Turn turn = must(history.add_turn({.conversation = conversation,
                                             .created = {},
                                             .parent = leaf,
                                             .text = tests::question(seed, n),
                                             .attachments = {},
                                             .answer = {}}));
    conversation = turn.conversation.id;
    say("turn " + std::to_string(conversation) + " " + std::to_string(turn.question.id) + " " +
        std::to_string(turn.answer.id));
    answer_turn(history, turn.answer.id, seed, n, hasty);
    leaf = turn.answer.id;
    if (n % 3 == 2) must(history.rename(conversation, tests::words(seed, n, 3)));
    if (n % 3 == 1) {
      const Folder folder = must(history.create_folder(tests::words(seed, n, 2)));
      must(history.move_to_folder(conversation, folder.id));
      say("moved " + std::to_string(conversation) + " " + std::to_string(folder.id));
      if (n % 2 == 0) must(history.place_folder(folder.id, 0));
    }
    if (n % 11 == 10) must(history.remove(conversation));
  }
}
