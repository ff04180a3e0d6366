// The data sets of the tasks: their documents, with the fields that the harness' prompts name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "engine/api/error.h"
#include "engine/tasks/text_formats.h"

namespace fovea::tasks {

struct Document {
  std::string part;         // "anatomy"; empty: the set is one
  std::int64_t number = 0;  // within its part
  Json fields;
};

struct DataSet {
  std::vector<Document> documents;                    // part after part
  std::map<std::string, std::vector<Json>> examples;  // by part: what prompts may begin with
};

// Each reads the files that the task names (catalogue.cpp), in the folder of data sets. ErrorKind::not_found
// or ErrorKind::format.
Result<DataSet> read_mmlu(const std::filesystem::path& folder);       // question, choices, answer, subject
Result<DataSet> read_hellaswag(const std::filesystem::path& folder);  // query, endings, label
Result<DataSet> read_blimp(const std::filesystem::path& folder);      // sentence_good, sentence_bad
Result<DataSet> read_wikitext(const std::filesystem::path& folder);   // text, words, bytes
Result<DataSet> read_gsm8k(const std::filesystem::path& folder);      // question, answer
Result<DataSet> read_mgsm(
    const std::filesystem::path& folder);  // question, answer_number; the language's words
Result<DataSet> read_aime25(const std::filesystem::path& folder);         // problem, answer
Result<DataSet> read_cnn_dailymail(const std::filesystem::path& folder);  // article, highlights
Result<DataSet> read_dialogsum(const std::filesystem::path& folder);      // dialogue, summaries
Result<DataSet> read_newstest2014(const std::filesystem::path& folder);   // fr, en
Result<DataSet> read_longwriter(const std::filesystem::path& folder);     // prompt

// prompt, test, entry_point, canonical_solution
Result<DataSet> read_humaneval(const std::filesystem::path& folder);
// text, tests, shown_tests, canonical_solution
Result<DataSet> read_mbpp_plus(const std::filesystem::path& folder);

// An article of WikiText as the harness has the model read it: without the spaces that its tokeniser put in.
std::string detokenised(std::string_view article);

}  // namespace fovea::tasks
