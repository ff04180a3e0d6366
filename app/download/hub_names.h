// What names from outside may look like before they become parts of a path or of an address.
#pragma once

#include <string_view>

namespace fovea::app {

// "NAME" or "ORG/NAME" by the hub's own rules.
bool is_repository_id(std::string_view id);
// A branch, a tag or a commit; may contain "/".
bool is_revision(std::string_view revision);
// A file in a repository: relative, no "." or ".." as a part, no control characters, no backslash, valid
// UTF-8.
bool is_repository_path(std::string_view path);
bool is_commit(std::string_view text);
bool is_sha256(std::string_view text);

}  // namespace fovea::app
