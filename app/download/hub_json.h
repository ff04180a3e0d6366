// The answers of the hub's API. Whatever a server sends, these end with a value or an error, in bounded
// memory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/download/hub_types.h"
#include "engine/api/error.h"

namespace fovea::app {

// The longest answer that is read.
inline constexpr std::int64_t api_limit_bytes = std::int64_t{32} << 20;

// where: the address, for errors.
// GET /api/models?search=…
Result<std::vector<HubModel>> parse_search(std::string_view json, const std::string& where);

struct HubRevision {
  std::string id;  // as the repository is called today
  std::string commit;
  bool gated = false;
};
// GET /api/models/REPO/revision/REVISION
Result<HubRevision> parse_revision(std::string_view json, const std::string& where);

// GET /api/models/REPO/tree/COMMIT?recursive=1, one page of it.
Result<std::vector<HubFile>> parse_tree(std::string_view json, const std::string& where);

}  // namespace fovea::app
