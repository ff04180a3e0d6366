// Files of data sets, unpacked in memory: as they are, or packed with gzip, bzip2 or xz.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "engine/api/error.h"

namespace fovea::tasks {

// The bytes of folder/name; where that is missing, of name.xz, name.gz or name.bz2. ErrorKind::not_found:
// none of them is there.
Result<std::string> read_packed(const std::filesystem::path& folder, const std::string& name);

// Likewise what a tar archive holds: bytes by path.
Result<std::map<std::string, std::string>> read_archive(const std::filesystem::path& folder,
                                                        const std::string& name);

}  // namespace fovea::tasks
