#include "app/download/model_choices.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>

#include "app/download/errors.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

std::string lower(std::string_view text) {
  std::string copy(text);
  std::ranges::transform(copy, copy.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return copy;
}

std::string upper(std::string_view text) {
  std::string copy(text);
  std::ranges::transform(copy, copy.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return copy;
}

std::string_view base_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool all_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

// "…-00002-of-00003" at the end of a path without extension.
struct Part {
  std::string stem;
  int number = 1;
  int count = 1;
};

Part part_of(std::string_view stem) {
  constexpr std::size_t suffix = 15;  // -00002-of-00003
  if (stem.size() > suffix) {
    const std::string_view end = stem.substr(stem.size() - suffix);
    if (end[0] == '-' && all_digits(end.substr(1, 5)) && end.substr(6, 4) == "-of-" &&
        all_digits(end.substr(10)))
      return {std::string(stem.substr(0, stem.size() - suffix)), std::stoi(std::string(end.substr(1, 5))),
              std::stoi(std::string(end.substr(10)))};
  }
  return {std::string(stem), 1, 1};
}

bool is_model_file(std::string_view path) {
  const std::string name = lower(base_name(path));
  if (!name.ends_with(".gguf")) return false;
  for (const char* other : {"mmproj", "imatrix", "mtp-", "eagle3-"})
    if (name.find(other) != name.npos) return false;
  return true;
}

// The letters and digits of a type's name, as Q4, IQ3, TQ1.
std::size_t type_length(std::string_view text) {
  std::size_t at = 0;
  if (text.starts_with("IQ") || text.starts_with("TQ"))
    at = 2;
  else if (text.starts_with("Q"))
    at = 1;
  else
    return 0;
  const std::size_t digits = at;
  while (at < text.size() && is_digit(text[at])) ++at;
  return at > digits && at - digits <= 2 ? at : 0;
}

std::size_t quantization_length(std::string_view text) {
  for (const char* whole : {"BF16", "FP16", "FP32", "F16", "F32", "MXFP4", "FP8", "INT8", "INT4"})
    if (text.starts_with(whole)) {
      std::size_t at = std::string_view(whole).size();
      if (text.substr(at).starts_with("_MOE")) at += 4;
      return at;
    }
  std::size_t at = type_length(text);
  if (at == 0) return 0;
  while (at < text.size() && text[at] == '_') {
    std::size_t end = at + 1;
    while (end < text.size() && std::isalnum(static_cast<unsigned char>(text[end])) != 0) ++end;
    if (end == at + 1 || end - at > 5) break;
    at = end;
  }
  return at;
}

bool begins_word(std::string_view text, std::size_t at) {
  return at == 0 || text[at - 1] == '-' || text[at - 1] == '.' || text[at - 1] == '_' || text[at - 1] == '/';
}

bool ends_word(std::string_view text, std::size_t at) {
  return at == text.size() || text[at] == '-' || text[at] == '.' || text[at] == '/';
}

void add_gguf(const HubRepository& repository, std::vector<ModelChoice>& choices) {
  struct Found {
    int count = 1;
    std::map<int, const HubFile*> parts;
  };
  std::map<std::pair<std::string, int>, Found> groups;
  for (const HubFile& file : repository.files) {
    if (!is_model_file(file.path)) continue;
    const Part part = part_of(std::string_view(file.path).substr(0, file.path.size() - 5));
    Found& group = groups[{part.stem, part.count}];
    group.count = part.count;
    group.parts.emplace(part.number, &file);
  }
  for (const auto& [key, group] : groups) {
    ModelChoice choice;
    choice.name = base_name(key.first);
    choice.quantization = quantization_in(choice.name);
    // Some repositories have a folder for each quantisation, and the files in it do not repeat it.
    if (choice.quantization.empty()) choice.quantization = quantization_in(key.first);
    choice.is_complete = static_cast<int>(group.parts.size()) == group.count &&
                         group.parts.begin()->first == 1 && group.parts.rbegin()->first == group.count;
    for (const auto& [number, file] : group.parts) {
      choice.files.push_back(*file);
      choice.bytes += file->bytes;
    }
    choices.push_back(std::move(choice));
  }
}

// What a folder needs to be opened: configuration, tokeniser, template and weights, all at the top.
bool belongs_to_folder(const std::string& path) {
  if (path.find('/') != path.npos) return false;
  if (path.ends_with(".safetensors") || path == "merges.txt" || path == "chat_template.jinja" ||
      path == "vocab.txt")
    return true;
  return path.ends_with(".json") || path == "tokenizer.model";
}

void add_folder(const HubRepository& repository, std::vector<ModelChoice>& choices) {
  ModelChoice choice;
  bool has_config = false, has_weights = false;
  for (const HubFile& file : repository.files) {
    if (!belongs_to_folder(file.path)) continue;
    has_config = has_config || file.path == "config.json";
    has_weights = has_weights || file.path.ends_with(".safetensors");
    choice.files.push_back(file);
    choice.bytes += file.bytes;
  }
  if (!has_config || !has_weights) return;
  choice.name = base_name(repository.id);
  choice.quantization = "safetensors";
  choice.is_folder = true;
  choices.push_back(std::move(choice));
}

// What a user writes for it.
const std::string& short_name(const ModelChoice& choice) {
  return choice.quantization.empty() ? choice.name : choice.quantization;
}

Phrase list_of(const std::vector<ModelChoice>& choices) {
  constexpr std::size_t most = 12;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < choices.size() && i < most; ++i) names.push_back(short_name(choices[i]));
  return choices.size() > most ? phrases::choice_list_and_more(names, choices.size() - most)
                               : phrases::choice_list(names);
}

bool is_meant(const ModelChoice& choice, const std::string& wanted) {
  if (lower(choice.name) == wanted || lower(choice.quantization) == wanted) return true;
  return std::ranges::any_of(choice.files, [&](const HubFile& file) {
    return !choice.is_folder && (lower(file.path) == wanted || lower(base_name(file.path)) == wanted);
  });
}

}  // namespace

std::string quantization_in(std::string_view file_name) {
  const std::string text = upper(file_name);
  // The last one: a name may hold "Q8-distill" before it.
  for (std::size_t at = text.size(); at-- > 0;) {
    if (!begins_word(text, at)) continue;
    const std::size_t length = quantization_length(std::string_view(text).substr(at));
    if (length == 0 || !ends_word(text, at + length)) continue;
    const bool dynamic = at >= 3 && text.substr(at - 3, 3) == "UD-";
    return (dynamic ? "UD-" : "") + text.substr(at, length);
  }
  return {};
}

std::vector<ModelChoice> model_choices(const HubRepository& repository) {
  std::vector<ModelChoice> choices;
  add_gguf(repository, choices);
  add_folder(repository, choices);
  std::ranges::stable_sort(choices, {}, [](const ModelChoice& choice) { return choice.bytes; });
  return choices;
}

Result<ModelChoice> choose(const HubRepository& repository, const std::string& wanted) {
  const std::vector<ModelChoice> choices = model_choices(repository);
  const auto refused = [&](Error error) {
    return fail(phrases::name_place(repository.id), std::move(error));
  };
  if (choices.empty()) return refused(errors::hub_no_model());
  std::vector<ModelChoice> meant;
  for (const ModelChoice& choice : choices)
    if (wanted.empty() || is_meant(choice, lower(wanted))) meant.push_back(choice);
  if (meant.size() > 1)
    return refused(wanted.empty() ? errors::hub_several_versions(list_of(meant), short_name(meant.front()))
                                  : errors::hub_several_meant(wanted, list_of(meant)));
  if (meant.empty()) return refused(errors::hub_no_version(wanted, list_of(choices)));
  if (!meant.front().is_complete) return refused(errors::hub_part_missing(meant.front().name));
  return meant.front();
}

}  // namespace fovea::app
