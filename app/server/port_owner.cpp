#include "app/server/port_owner.h"

#include <netdb.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace fovea::app {
namespace {

constexpr std::size_t max_answer_bytes = 16384;

class Client {
 public:
  ~Client() {
    if (socket_ >= 0) ::close(socket_);
  }

  bool connect(const std::string& host, std::uint16_t port) {
    addrinfo wanted{};
    wanted.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found) != 0) return false;
    socket_ = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const timeval limit{.tv_sec = 2, .tv_usec = 0};
    const bool connected = socket_ >= 0 &&
                           ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0 &&
                           ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0 &&
                           ::connect(socket_, found->ai_addr, found->ai_addrlen) == 0;
    ::freeaddrinfo(found);
    return connected;
  }

  std::string ask(const std::string& request) {
    if (::send(socket_, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size()))
      return {};
    std::string answer;
    char bytes[4096];
    ssize_t n = 0;
    while (answer.size() < max_answer_bytes && (n = ::recv(socket_, bytes, sizeof bytes, 0)) > 0)
      answer.append(bytes, static_cast<std::size_t>(n));
    return answer;
  }

 private:
  int socket_ = -1;
};

}  // namespace

std::optional<PortOwner> ask_port(const std::string& host, std::uint16_t port) {
  // Who listens at every address listens at this machine's own.
  const std::string there = host == "0.0.0.0" ? "127.0.0.1" : host == "::" ? "::1" : host;
  Client client;
  if (!client.connect(there, port)) return std::nullopt;
  const std::string answer =
      client.ask("GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  const std::size_t body = answer.find("\r\n\r\n");
  if (body == std::string::npos) return std::nullopt;
  const auto json = nlohmann::json::parse(answer.substr(body), nullptr, false);
  const auto fovea = json.is_object() ? json.value("fovea", nlohmann::json()) : nlohmann::json();
  if (!fovea.is_object() || !fovea.contains("version") || !fovea["version"].is_string() ||
      !fovea.contains("process") || !fovea["process"].is_number_integer())
    return std::nullopt;
  return PortOwner{fovea["version"].get<std::string>(), fovea["process"].get<std::int64_t>()};
}

}  // namespace fovea::app
