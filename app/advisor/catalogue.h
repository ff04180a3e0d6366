// Models worth recommending: resources/catalogue/models.json, which is part of the program.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/api/error.h"

namespace fovea::app {

// Published facts; what an entry with a shape leaves out is the shape's. Either the hub has the file, or a
// command of the source tree makes it.
struct CatalogueEntry {
  std::string id = {};
  std::string name = {};
  std::string repository = {}, file = {};  // on the hub
  std::string made_by = {};                // else the command
  std::string shape = {};                  // engine/api/plan.h; empty: known by its size alone
  std::string tier = {};                   // what the experts of the file are, nearly
  std::string dense = {};                  // … and everything else
  std::int64_t bytes = 0;                  // of the file …
  bool bytes_from_shape = false;           // … about: computed, not as the hub lists it
  std::int64_t parameters = 0;
  std::int64_t parameters_active = 0;  // read for one token
  std::int64_t experts = 0, experts_used = 0;
  std::int64_t context = 0;  // tokens
  double mmlu_pro = 0;       // published, at full precision, per cent; 0: not known
  std::string licence = {};
  std::map<std::string, std::string> good_at = {};  // by language, "en" always
};

// ErrorKind::format names the entry and the key that is wrong.
Result<std::vector<CatalogueEntry>> parse_catalogue(std::string_view json);

// The program's own. Sound: a test reads it.
const std::vector<CatalogueEntry>& catalogue();

// In the language "de", else in English.
std::string good_at(const CatalogueEntry& entry, const std::string& language);

}  // namespace fovea::app
