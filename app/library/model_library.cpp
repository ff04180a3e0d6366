#include "app/library/model_library.h"

#include <algorithm>
#include <regex>
#include <system_error>

#include "app/files/folders.h"

namespace fovea::app {
namespace fs = std::filesystem;

namespace {

bool is_model_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored) && fs::exists(path / "config.json", ignored);
}

std::string name_of(const fs::path& file) {
  std::string stem = file.stem().string();
  static const std::regex part("-\\d{5}-of-\\d{5}$");
  return std::regex_replace(stem, part, "");
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

std::string names(const std::vector<LibraryEntry>& entries) {
  std::string text;
  for (const LibraryEntry& entry : entries) text += (text.empty() ? "" : ", ") + entry.name;
  return text;
}

}  // namespace

std::vector<LibraryEntry> list_models(const fs::path& folder) {
  std::vector<LibraryEntry> found;
  for (const fs::path& path : entries_of(folder)) {
    if (is_model_folder(path)) {
      found.push_back({path.filename().string(), path});
    } else if (path.extension() == ".gguf" && !is_later_part(path) && leads_somewhere(path)) {
      found.push_back({name_of(path), path});
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
  if (argument.empty()) {
    return std::unexpected(Error{ErrorKind::invalid, "MODEL", "is empty", "Give a file, a folder or a name"});
  }
  const fs::path path(argument);
  if (argument.contains('/')) {
    std::error_code error;
    if (fs::exists(path, error)) return path;
    if (error)
      return std::unexpected(Error{ErrorKind::io, argument, "cannot be looked at: " + error.message(),
                                   "Give yourself the right to read its folder, or name another"});
    return std::unexpected(Error{ErrorKind::not_found, argument, "there is no such file or folder",
                                 "Check the path, or give a name from the model library without a slash"});
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
  if (candidates.size() > 1) {
    std::string list;
    for (const fs::path& candidate : candidates) list += (list.empty() ? "" : ", ") + candidate.string();
    return std::unexpected(Error{ErrorKind::invalid, argument, "could be any of " + list,
                                 "Write the path of the one you mean, with a slash"});
  }
  const std::string there = all.empty() ? "the model library " + folder.string() + " is empty"
                                        : "the model library has " + names(all);
  const bool demo = argument == "demo" || argument == "demo-dense";
  return std::unexpected(Error{ErrorKind::not_found, argument,
                               "there is no such file, folder or name; " + there,
                               demo ? "See how the demo model is built: fovea demo-model --help"
                                    : "Give a path, or put the model into " + folder.string()});
}

}  // namespace fovea::app
