#include "app/files/folders.h"

#include <algorithm>
#include <ctime>
#include <system_error>

namespace fovea::app {

namespace fs = std::filesystem;

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  // Not a range: its increments throw.
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    entries.push_back(it->path());
  std::ranges::sort(entries);
  return entries;
}

fs::path existing_folder(fs::path folder) {
  std::error_code ignored;
  while (!fs::is_directory(folder, ignored) && folder.has_relative_path()) folder = folder.parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

std::optional<std::int64_t> free_disk_bytes(const fs::path& path) {
  std::error_code error;
  const fs::space_info space = fs::space(existing_folder(path), error);
  if (error) return std::nullopt;
  return static_cast<std::int64_t>(space.available);
}

fs::path name_aside(const fs::path& file, const std::string& word) {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y-%m-%d-%H%M%S", &utc);
  const std::string base = file.stem().string() + "." + word + "-" + stamp;
  fs::path name = file.parent_path() / (base + file.extension().string());
  std::error_code ignored;
  for (int n = 2; fs::exists(name, ignored); ++n)
    name = file.parent_path() / (base + "-" + std::to_string(n) + file.extension().string());
  return name;
}

}  // namespace fovea::app
