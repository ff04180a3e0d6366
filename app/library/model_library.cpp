#include "app/library/model_library.h"

#include <algorithm>
#include <regex>
#include <system_error>

#include "app/files/folders.h"
#include "app/library/errors.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace fs = std::filesystem;

namespace {

bool is_model_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored) && fs::exists(path / "config.json", ignored);
}

// A link whose model was deleted is no model.
bool leads_somewhere(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

bool is_later_part(const fs::path& file) {
  static const std::regex part("-(\\d{5})-of-\\d{5}$");
  std::smatch match;
  const std::string stem = file.stem().string();
  return std::regex_search(stem, match, part) && match[1] != "00001";
}

// `folder`: the model library, which has these.
Error unknown_name(const std::string& name, const std::vector<LibraryEntry>& entries,
                   const fs::path& folder) {
  std::vector<std::string> names;
  for (const LibraryEntry& entry : entries) names.push_back(entry.name);
  Error error =
      names.empty() ? errors::library_nothing_there(folder) : errors::library_no_such_name(names, folder);
  if (name == "demo" || name == "demo-dense") error.advice = phrases::library_demo_help();
  return error;
}

}  // namespace

std::string model_name(const fs::path& path) {
  const fs::path plain = path.has_filename() ? path : path.parent_path();
  if (plain.extension() != ".gguf") return plain.filename().string();
  static const std::regex part("-\\d{5}-of-\\d{5}$");
  return std::regex_replace(plain.stem().string(), part, "");
}

std::vector<LibraryEntry> list_models(const fs::path& folder) {
  std::vector<LibraryEntry> found;
  for (const fs::path& path : entries_of(folder)) {
    if (is_model_folder(path)) {
      found.push_back({path.filename().string(), path});
    } else if (path.extension() == ".gguf" && !is_later_part(path) && leads_somewhere(path)) {
      found.push_back({model_name(path), path});
    }
  }
  std::ranges::sort(found, {}, [](const LibraryEntry& e) { return std::pair(e.name, e.path); });
  return found;
}

std::vector<LibraryEntry> find_models(const fs::path& folder) {
  constexpr int deepest = 3;
  constexpr std::size_t max_folders = 2000;
  std::vector<LibraryEntry> found;
  std::vector<std::pair<fs::path, int>> folders{{folder, 0}};
  for (std::size_t i = 0; i < folders.size(); ++i) {
    const auto [here, depth] = folders[i];
    std::ranges::move(list_models(here), std::back_inserter(found));
    if (depth == deepest) continue;
    for (const fs::path& path : entries_of(here)) {
      std::error_code ignored;
      const bool is_hidden = path.filename().string().starts_with('.');
      if (is_hidden || fs::is_symlink(path, ignored) || !fs::is_directory(path, ignored) ||
          is_model_folder(path))
        continue;
      if (folders.size() < max_folders) folders.emplace_back(path, depth + 1);
    }
  }
  return found;
}

Result<fs::path> resolve_model(const std::string& argument, const fs::path& folder) {
  std::error_code ignored;
  if (argument.empty()) return fail(phrases::option_place("MODEL"), errors::library_empty_name());
  const fs::path path(argument);
  if (argument.contains('/')) {
    std::error_code error;
    if (fs::exists(path, error)) return path;
    if (error) return fail(phrases::file_place(path), errors::library_no_access(Said{error.message()}));
    return fail(phrases::file_place(path), errors::library_no_such_path());
  }

  std::vector<LibraryEntry> all = list_models(folder);
  std::vector<fs::path> candidates;
  for (const LibraryEntry& entry : all) {
    if (entry.name == argument || entry.path.filename() == argument) candidates.push_back(entry.path);
  }
  // A folder that happens to have the name but holds no model is not meant.
  const bool here = candidates.empty() ? fs::exists(path, ignored)
                                       : fs::is_regular_file(path, ignored) || is_model_folder(path);
  if (here) candidates.push_back(fs::path(".") / path);
  if (candidates.size() == 1) return candidates.front();
  if (candidates.empty()) return fail(phrases::name_place(argument), unknown_name(argument, all, folder));
  const std::vector<std::string> paths(candidates.begin(), candidates.end());
  return fail(phrases::name_place(argument), errors::library_ambiguous_name(paths));
}

}  // namespace fovea::app
