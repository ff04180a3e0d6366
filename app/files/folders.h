// Folders, and the disks that they are on; without exceptions.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace fovea::app {

// Paths of what is in a folder, in the order of their names; none where it cannot be read.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);

// The nearest folder of a path that is there already: its disk is the one that will be written.
std::filesystem::path existing_folder(std::filesystem::path folder);

// What the disk of a path has free, also of one that is not made yet; empty where the system does not tell.
std::optional<std::int64_t> free_disk_bytes(const std::filesystem::path& path);

// "history.damaged-2026-11-21-194625.db" for `word` damaged: beside the file, with the time (UTC), and a name
// that nothing has yet.
std::filesystem::path name_aside(const std::filesystem::path& file, const std::string& word);

}  // namespace fovea::app
