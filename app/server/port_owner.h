// Who listens at a port that cannot be had.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace fovea::app {

struct PortOwner {
  std::string version;
  std::int64_t process = 0;
};
// Asks /health there; nothing where it is no Fovea, or does not answer within two seconds.
std::optional<PortOwner> ask_port(const std::string& host, std::uint16_t port);

}  // namespace fovea::app
