// Who may ask the server: only this machine, or who has the key; and no web page.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/server/http.h"
#include "engine/api/error.h"

namespace fovea::app {

struct AccessRules {
  std::string key = {};                 // empty: none is asked for
  std::vector<std::string> hosts = {};  // names in Host beside the loopback's, lower case
  bool any_address = false;             // numbers are as good as these: it listens at all of the machine's
};

// Of a server that listens at this address: the names that it goes by. server_needs_key where others reach it
// and there is no key.
Result<AccessRules> rules_for(const std::string& host, std::string key);

struct Refusal {
  int status = 0;
  std::string what;
};
// nothing: the request may be answered. Host: 421 (a name that leads here without being ours, as a rebinding
// web page's does); Origin of another site: 403; the key: 401, but for /health.
std::optional<Refusal> check_access(const HttpRequest& head, const AccessRules& rules);

bool is_loopback(std::string_view host);
// In a time that tells nothing of where they differ.
bool equal_in_constant_time(std::string_view a, std::string_view b);
// A file that only its owner may read, with the key on one line.
Result<std::string> read_key(const std::filesystem::path& file);
Result<void> write_key(const std::filesystem::path& file, const std::string& key);
// 256 random bits as a text.
std::string make_key();
// The address under which other computers most likely reach this one; empty: it has none but its own.
std::string address_here();

}  // namespace fovea::app
