// bench_history [FOLDER]: a history of 100,000 messages and one of 200,000 tokens, and how long the window
// would wait for them. Search times are over many queries as somebody types them.
#include "app/history/history.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "app/history/database.h"

using namespace fovea;
using namespace fovea::app::history;

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds(Clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

template <class T>
T must(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "bench_history: %s\n", result.error().message().c_str());
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

template <class Work>
double timed(Work work) {
  const auto start = Clock::now();
  work();
  return milliseconds(Clock::now() - start);
}

// Words with the frequencies of a language: the n-th is as often as 1 / n.
class Language {
 public:
  explicit Language(unsigned seed) : random_(seed) {
    std::vector<double> weights;
    for (int i = 0; i < 20'000; ++i) {
      std::string word;
      for (unsigned letters = 2 + random_() % 8; letters > 0; --letters) {
        word += static_cast<char>('a' + random_() % 26);
      }
      words_.push_back(word);
      weights.push_back(1.0 / (i + 1));
    }
    often_ = std::discrete_distribution<std::size_t>(weights.begin(), weights.end());
  }
  const std::string& word() { return words_[often_(random_)]; }
  const std::string& word(std::size_t rank) const { return words_[rank]; }
  std::string text(std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += word() + (i % 12 == 11 ? ".\n" : " ");
    return text;
  }
  std::string han(std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
      const auto point = 0x4E00 + std::min<std::size_t>(often_(random_), 5000);
      text += {static_cast<char>(0xE0 | (point >> 12)), static_cast<char>(0x80 | ((point >> 6) & 63)),
               static_cast<char>(0x80 | (point & 63))};
    }
    return text;
  }

 private:
  std::mt19937 random_;
  std::vector<std::string> words_;
  std::discrete_distribution<std::size_t> often_;
};

Archive conversation(Language& language, int messages, std::size_t words, int number) {
  Archive archive;
  archive.conversation.uid = "bench-" + std::to_string(messages) + "-" + std::to_string(number);
  archive.conversation.title = language.text(5);
  archive.conversation.updated_at = number;
  for (int i = 0; i < messages; ++i) {
    Message m;
    m.id = i + 1;
    m.parent = i;
    m.role = i % 2 == 0 ? Role::user : Role::assistant;
    m.created_at = m.updated_at = number;
    m.text =
        number % 10 == 9 ? language.han(words * 2) : language.text(i % 2 == 0 ? words / 4 : words * 7 / 4);
    archive.messages.push_back(std::move(m));
  }
  archive.conversation.leaf = messages;
  return archive;
}

void fill(History& history, Language& language) {
  const double ms = timed([&] {
    for (int batch = 0; batch < 50; ++batch) {
      std::vector<Archive> archives;
      for (int i = 0; i < 100; ++i) archives.push_back(conversation(language, 20, 60, batch * 100 + i));
      must(history.import(archives));
    }
  });
  std::printf("import of 100,000 messages: %.1f s\n", ms / 1000);
}

void report(const char* what, std::vector<double>& times) {
  std::ranges::sort(times);
  std::printf("%-44s median %7.2f ms   worst %7.2f ms\n", what, times[times.size() / 2], times.back());
}

void search_as_typed(History& history, const char* what, const std::vector<std::string>& queries) {
  std::vector<double> times;
  for (const std::string& query : queries) {
    for (std::size_t n = 1; n <= query.size(); ++n) {
      if (n < query.size() && (static_cast<unsigned char>(query[n]) & 0xC0) == 0x80) continue;
      times.push_back(timed([&] { must(history.search(query.substr(0, n), 50)); }));
    }
  }
  report(what, times);
}

void measure_search(History& history, Language& language) {
  std::vector<std::string> often, rare, pairs, han;
  for (std::size_t i = 0; i < 40; ++i) {
    often.push_back(language.word(i));
    rare.push_back(language.word(5000 + 37 * i));
    pairs.push_back(language.word(i) + " " + language.word(300 + i));
    han.push_back(language.han(3));
  }
  search_as_typed(history, "search, the most frequent words, as typed", often);
  search_as_typed(history, "search, rare words, as typed", rare);
  search_as_typed(history, "search, two words, as typed", pairs);
  search_as_typed(history, "search, Chinese, as typed", han);
}

// An answer of `total` pieces, written as the window does: what one more piece costs at its beginning and
// end.
void measure_answer(History& history) {
  const Turn turn = must(history.add_turn({}));
  std::vector<double> early, late;
  const std::string piece(400, 'x');  // half a second at 200 tokens a second
  for (int i = 0; i < 400; ++i) {
    const double ms = timed([&] { must(history.append_answer(turn.answer.id, piece)); });
    (i < 200 ? early : late).push_back(ms);
  }
  report("a piece of an answer, of its first 200", early);
  report("a piece of an answer, of its next 200", late);
  std::printf("end of that answer (160 kB): %.2f ms\n",
              timed([&] { must(history.finish_answer(turn.answer.id, {})); }));
}

}  // namespace

int main(int argc, char** argv) {
  const std::filesystem::path folder =
      argc > 1 ? argv[1] : std::filesystem::temp_directory_path() / "fovea-bench-history";
  std::filesystem::remove_all(folder);
  const auto file = folder / "history.db";
  Language language(1);
  Id large = 0;
  {
    History history = must(History::open(file));
    fill(history, language);
    // 5,000 messages of 30 words: about 200,000 tokens.
    const std::vector<Archive> one{conversation(language, 5000, 30, 1)};
    large = must(history.import(one)).conversations[0];
  }
  std::printf("file: %.0f MB\n", static_cast<double>(std::filesystem::file_size(file)) / 1e6);
  std::vector<double> opening, checking;
  for (int i = 0; i < 5; ++i) {
    opening.push_back(timed([&] {
      History history = must(History::open(file));
      must(history.conversations(50));
    }));
  }
  report("open the file, first page of conversations", opening);
  for (int i = 0; i < 3; ++i) checking.push_back(timed([&] { must(History::check(file)); }));
  report("check of the whole file", checking);
  History history = must(History::open(file));
  std::vector<double> branch;
  for (int i = 0; i < 10; ++i) branch.push_back(timed([&] { must(history.branch(large)); }));
  report("open a conversation of 200,000 tokens", branch);
  measure_search(history, language);
  measure_answer(history);
  std::filesystem::remove_all(folder);
}
