#include "engine/tasks/data_sets.h"

#include <utility>

#include "engine/core/result.h"
#include "engine/tasks/errors.h"
#include "engine/tasks/packed_file.h"
#include "engine/tasks/python_text.h"

namespace fovea::tasks {
namespace {

using std::filesystem::path;

void add(DataSet& set, const std::string& part, std::vector<Json> rows) {
  std::int64_t number = 0;
  for (Json& row : rows) set.documents.push_back({part, number++, std::move(row)});
}

Result<std::vector<Json>> read_json_lines(const path& folder, const std::string& name,
                                          const std::vector<std::string>& keys) {
  FOVEA_TRY(const std::string text, read_packed(folder, name));
  return json_lines(text, folder / name, keys);
}

Result<DataSet> one_file(const path& folder, const std::string& name, const std::vector<std::string>& keys) {
  DataSet set;
  FOVEA_TRY(std::vector<Json> rows, read_json_lines(folder, name, keys));
  add(set, "", std::move(rows));
  return set;
}

// What stands between `before` and `behind` in a path; empty: they are not there.
std::string name_between(std::string_view text, std::string_view before, std::string_view behind) {
  if (!text.starts_with(before) || !text.ends_with(behind) || text.size() < before.size() + behind.size())
    return {};
  return std::string(text.substr(before.size(), text.size() - before.size() - behind.size()));
}

// --- MMLU

constexpr const char* mmlu_file = "mmlu/mmlu_csv.tar";

Result<std::vector<Json>> mmlu_rows(const std::string& text, const path& file, const std::string& subject) {
  std::vector<Json> rows;
  for (const std::vector<std::string>& row : comma_separated(text)) {
    const auto number = static_cast<std::int64_t>(rows.size()) + 1;
    if (row.size() != 6 || row[5].size() != 1 || row[5][0] < 'A' || row[5][0] > 'D')
      return fail(phrases::line_place(file, number), errors::task_row_no_question());
    rows.push_back({{"question", row[0]},
                    {"choices", {row[1], row[2], row[3], row[4]}},
                    {"answer", row[5][0] - 'A'},
                    {"subject", replaced(subject, "_", " ")}});
  }
  return rows;
}

// --- MGSM

// The words around a question, as the harness has them.
struct Language {
  const char* name;
  const char* question;
  const char* answer;
};
constexpr Language languages[] = {
    {"bn", "প্রশ্ন:", "Answer:"},        {"de", "Frage:", "Antwort:"},      {"en", "Question:", "Answer:"},
    {"es", "Pregunta:", "Respuesta:"}, {"fr", "Question :", "Réponse :"}, {"ja", "問題：", "Answer:"},
    {"ru", "Задача:", "Answer:"},      {"sw", "Swali:", "Answer:"},       {"te", "ప్రశ్న:", "Answer:"},
    {"th", "โจทย์:", "Answer:"},        {"zh", "问题：", "Answer:"},
};

Result<std::vector<Json>> mgsm_rows(const std::string& text, const path& file, const Language& language) {
  std::vector<Json> rows;
  for (const std::string& line : lines_of(text)) {
    const std::size_t tab = line.rfind('\t');
    if (tab == std::string::npos) {
      return fail(phrases::line_place(file, static_cast<std::int64_t>(rows.size()) + 1),
                  errors::task_row_no_question());
    }
    rows.push_back({{"question", line.substr(0, tab)},
                    {"answer_number", replaced(line.substr(tab + 1), ",", "")},
                    {"question_word", language.question},
                    {"answer_word", language.answer}});
  }
  return rows;
}

// --- WikiText

bool begins_article(std::string_view line) {
  const std::string joined = replaced(replaced(line, "= = =", "==="), "= =", "==");
  const std::string_view title = strip(joined);
  return title.starts_with("= ") && title.ends_with(" =");
}

Json wikitext_fields(const std::string& article) {
  return {{"text", detokenised(article)},
          {"words", count_pieces(article)},
          {"bytes", static_cast<std::int64_t>(article.size())}};
}

// --- MBPP+

std::string first_lines(std::string_view text, std::size_t count) {
  std::string first;
  for (const std::string& line : lines_of(text))
    if (count-- > 0) first += (first.empty() ? "" : "\n") + line;
  return first;
}

// The sentence of a docstring that ends with a test.
std::string mbpp_text(const std::string& prompt) {
  std::string text;
  for (const std::string& line : lines_of(strip(replaced(prompt, "\"\"\"", ""))))
    if (!line.starts_with("assert ")) text += (text.empty() ? "" : " ") + line;
  return text;
}

}  // namespace

Result<DataSet> read_mmlu(const path& folder) {
  FOVEA_TRY(const auto files, read_archive(folder, mmlu_file));
  DataSet set;
  for (const auto& [name, text] : files) {
    const std::string tested = name_between(name, "data_mmlu/test/", "_test.csv");
    const std::string shown = name_between(name, "data_mmlu/dev/", "_dev.csv");
    const std::string& subject = tested.empty() ? shown : tested;
    if (subject.empty()) continue;
    FOVEA_TRY(std::vector<Json> rows, mmlu_rows(text, folder / mmlu_file / name, subject));
    if (tested.empty()) {
      set.examples[subject] = std::move(rows);
    } else {
      add(set, subject, std::move(rows));
    }
  }
  return set;
}

Result<DataSet> read_hellaswag(const path& folder) {
  constexpr const char* name = "hellaswag/hellaswag_val_full.txt";
  constexpr std::size_t lines_each = 6;  // the beginning, the right ending's number, four endings
  FOVEA_TRY(const std::string text, read_packed(folder, name));
  const std::vector<std::string> lines = lines_of(text);
  std::vector<Json> rows;
  for (std::size_t at = 0; at < lines.size(); at += lines_each) {
    if (at + lines_each > lines.size() || lines[at + 1].size() != 1 || lines[at + 1][0] < '0' ||
        lines[at + 1][0] > '3')
      return fail(phrases::line_place(folder / name, static_cast<std::int64_t>(at) + 1),
                  errors::task_row_no_question());
    Json endings = Json::array();
    for (std::size_t i = 2; i < lines_each; ++i) endings.push_back(without_marks(lines[at + i]));
    rows.push_back({{"query", without_marks(lines[at])},
                    {"label", lines[at + 1][0] - '0'},
                    {"endings", std::move(endings)}});
  }
  DataSet set;
  add(set, "", std::move(rows));
  return set;
}

Result<DataSet> read_blimp(const path& folder) {
  constexpr const char* file = "blimp/blimp.tar";
  FOVEA_TRY(const auto files, read_archive(folder, file));
  DataSet set;
  for (const auto& [name, text] : files) {
    const std::string paradigm = name_between(name, "data/", ".jsonl");
    if (paradigm.empty()) continue;
    FOVEA_TRY(std::vector<Json> rows,
              json_lines(text, folder / file / name, {"sentence_good", "sentence_bad"}));
    add(set, paradigm, std::move(rows));
  }
  return set;
}

Result<DataSet> read_wikitext(const path& folder) {
  FOVEA_TRY(const std::string text, read_packed(folder, "wikitext-2/wiki.test.raw"));
  std::vector<Json> articles;
  std::string article;
  const auto end_article = [&] {
    if (!strip(article).empty()) articles.push_back(wikitext_fields(article));
    article.clear();
  };
  // Lines are joined by line ends, so that the last one of an article has none.
  bool first = true;
  for (std::string_view rest = text;;) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    if (begins_article(line)) {
      end_article();
      first = true;
    }
    if (!std::exchange(first, false)) article += '\n';
    article += line;
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  end_article();
  DataSet set;
  add(set, "", std::move(articles));
  return set;
}

Result<DataSet> read_gsm8k(const path& folder) {
  FOVEA_TRY(DataSet set, one_file(folder, "gsm8k/test.jsonl", {"question", "answer"}));
  FOVEA_TRY(set.examples[""], read_json_lines(folder, "gsm8k/train.jsonl", {"question", "answer"}));
  return set;
}

Result<DataSet> read_mgsm(const path& folder) {
  constexpr const char* file = "mgsm/mgsm.tar";
  FOVEA_TRY(const auto files, read_archive(folder, file));
  DataSet set;
  for (const Language& language : languages) {
    const auto found = files.find(std::string("mgsm/mgsm_") + language.name + ".tsv");
    if (found == files.end()) continue;
    FOVEA_TRY(std::vector<Json> rows, mgsm_rows(found->second, folder / file / found->first, language));
    add(set, language.name, std::move(rows));
  }
  return set;
}

Result<DataSet> read_aime25(const path& folder) {
  return one_file(folder, "math/aime25_test.jsonl", {"problem", "answer"});
}

Result<DataSet> read_cnn_dailymail(const path& folder) {
  FOVEA_TRY(DataSet set, one_file(folder, "cnn-dailymail-sample/cnn_dailymail_3_0_0_news_summary.jsonl",
                                  {"prompt", "completion"}));
  for (Document& document : set.documents) {
    const Json row = std::exchange(document.fields, Json::object());
    document.fields["article"] = strip(replaced(row.value("prompt", ""), "Summarise the article:\n\n", ""));
    document.fields["highlights"] = strip(replaced(row.value("completion", ""), "<|endoftext|>", ""));
  }
  return set;
}

Result<DataSet> read_dialogsum(const path& folder) {
  FOVEA_TRY(DataSet set, one_file(folder, "dialogsum/dialogsum.test.jsonl",
                                  {"dialogue", "summary1", "summary2", "summary3"}));
  for (Document& document : set.documents) {
    Json& row = document.fields;
    row["summaries"] = {row["summary1"], row["summary2"], row["summary3"]};
  }
  return set;
}

Result<DataSet> read_newstest2014(const path& folder) {
  constexpr const char* name = "fr-en/newstest2014";
  FOVEA_TRY(const std::string french, read_packed(folder, std::string(name) + ".fr"));
  FOVEA_TRY(const std::string english, read_packed(folder, std::string(name) + ".en"));
  const std::vector<std::string> from = lines_of(french), to = lines_of(english);
  if (from.size() != to.size())
    return fail(phrases::file_place(folder / name), errors::task_files_not_parallel(from.size(), to.size()));
  std::vector<Json> rows;
  for (std::size_t i = 0; i < from.size(); ++i) rows.push_back({{"fr", from[i]}, {"en", to[i]}});
  DataSet set;
  add(set, "", std::move(rows));
  return set;
}

Result<DataSet> read_longwriter(const path& folder) {
  return one_file(folder, "longwriter/longbench_write_en.jsonl", {"prompt"});
}

Result<DataSet> read_humaneval(const path& folder) {
  return one_file(folder, "humaneval/HumanEval.jsonl",
                  {"prompt", "test", "entry_point", "canonical_solution"});
}

Result<DataSet> read_mbpp_plus(const path& folder) {
  FOVEA_TRY(DataSet set,
            one_file(folder, "mbppplus/MbppPlus.jsonl", {"prompt", "assertion", "canonical_solution"}));
  for (Document& document : set.documents) {
    Json& row = document.fields;
    row["text"] = mbpp_text(row.value("prompt", ""));
    const std::string tests(strip(row.value("assertion", "")));
    row["shown_tests"] = first_lines(tests, 3);
    row["tests"] = tests;
    // The harness' own examples are these problems.
    if (document.number < 3) set.examples[""].push_back(row);
  }
  return set;
}

std::string detokenised(std::string_view article) {
  std::string text = replaced(article, "s '", "s'");
  for (const auto& [from, to] : {std::pair{" @-@ ", "-"},
                                 {" @,@ ", ","},
                                 {" @.@ ", "."},
                                 {" : ", ": "},
                                 {" ; ", "; "},
                                 {" . ", ". "},
                                 {" ! ", "! "},
                                 {" ? ", "? "},
                                 {" , ", ", "}})
    text = replaced(text, from, to);
  for (const auto& [open, close] : {std::pair{'(', ')'}, {'[', ']'}, {'{', '}'}, {'"', '"'}, {'\'', '\''}})
    text = tightened(text, open, close);
  for (const auto& [from, to] : {std::pair{"= = = =", "===="},
                                 {"= = =", "==="},
                                 {"= =", "=="},
                                 {" ° ", "°"},
                                 {" \n", "\n"},
                                 {"\n ", "\n"},
                                 {" N ", " 1 "},
                                 {" 's", "'s"}})
    text = replaced(text, from, to);
  return text;
}

}  // namespace fovea::tasks
