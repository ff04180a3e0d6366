// Any bytes as a file of a data set or as a file of results. The first byte says which; of data sets in a
// folder of several files all have the same bytes. What is read becomes prompts, values and scores.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

#include "engine/api/tasks.h"
#include "engine/tasks/catalogue.h"
#include "engine/tasks/prompts.h"

#include "fuzz.h"

using namespace fovea;
namespace fs = std::filesystem;

namespace {

// One for each process.
struct Folder {
  fs::path path = fs::temp_directory_path() / ("fovea-fuzz-tasks-" + std::to_string(getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
};

void write(const fs::path& file, std::string_view bytes) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// The name without what it may be packed with: the reader sees that by itself.
std::string unpacked(std::string name) {
  for (const char* packed : {".xz", ".gz", ".bz2"})
    if (name.ends_with(packed)) name.resize(name.rfind('.'));
  return name;
}

// Unpacking is libarchive's, which takes as much memory as a file asks for, up to its own limit.
bool is_packed(std::string_view bytes) {
  return bytes.starts_with(
             "\xFD"
             "7zXZ") ||
         bytes.starts_with("\x1F\x8B") || bytes.starts_with("BZh");
}

void data_set(const fs::path& folder, const tasks::Task& task, std::string_view bytes) {
  if (is_packed(bytes)) return;
  for (const std::string& file : task.info.files) write(folder / unpacked(file), bytes);
  const auto data = task.read(folder);
  fs::remove_all(folder / fs::path(task.info.files.front()).begin()->string());
  if (!data) return fuzz::check_error(data.error());
  const std::int64_t examples = std::min<std::int64_t>(task.info.examples, 1);
  auto writer = tasks::PromptWriter::create(task, *data, examples);
  if (!writer) return fuzz::check_error(writer.error());
  for (const tasks::Document& document : data->documents) {
    const auto prompt = writer->write(document);
    if (!prompt) {
      fuzz::check_error(prompt.error());
      continue;
    }
    tasks::Observed observed{.choices = prompt->choices, .gold = prompt->gold};
    if (task.kind == tasks::Kind::text) observed.log_likelihoods = {-1};
    for (std::size_t i = 0; i < prompt->choices.size(); ++i) observed.log_likelihoods.push_back(-1);
    observed.answer = prompt->target;
    for (const auto& [metric, values] : task.value(document.fields, observed))
      fuzz_check(values.size() == tasks::values_of(metric));
    if (task.program != nullptr) fuzz_check(!task.program(document.fields, observed.answer).empty());
  }
}

void results(const fs::path& folder, std::string_view bytes) {
  const fs::path file = folder / "results.jsonl";
  write(file, bytes);
  const auto read = read_task_results(file);
  fs::remove(file);
  if (!read) return fuzz::check_error(read.error());
  for (const TaskOutcome& each : read->outcomes) {
    fuzz_check(each.document >= 0 && each.dropped_tokens >= 0);
    fuzz_check(each.log_likelihoods.empty() || each.gold < std::ssize(each.log_likelihoods));
  }
  for (const TaskScore& score : task_scores(read->outcomes)) fuzz_check(score.documents > 0);
  const auto compared = compare_tasks(*read, *read);
  if (!compared) return fuzz::check_error(compared.error());
  for (const TaskComparison& each : *compared) fuzz_check(each.documents > 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Folder folder;
  if (size == 0) return 0;
  const std::string_view bytes = fuzz::text_of(data + 1, size - 1);
  const auto& all = tasks::catalogue();
  const std::size_t task = static_cast<std::size_t>(data[0]) - 'a';
  if (task < all.size()) {
    data_set(folder.path, all[task], bytes);
  } else {
    results(folder.path, bytes);
  }
  return 0;
}
