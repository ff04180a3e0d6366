// A client that sends bytes as a test wrote them, right or wrong.
#pragma once

#include <arpa/inet.h>
#include <cstdint>
#include <netinet/in.h>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/support/wait.h"

namespace fovea::tests {

class RawClient {
 public:
  // receive_bytes: of the socket's buffer; 0: the system's.
  explicit RawClient(std::uint16_t port, int receive_bytes = 0)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (receive_bytes > 0) ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    is_connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~RawClient() { close(); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  bool is_connected() const { return is_connected_; }
  // False: the server has closed.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }
  // All that comes until `end` is in it, or the server closes, or nothing comes any more.
  std::string read_until(std::string_view end) {
    while (seen_.find(end) == std::string::npos && more()) {
    }
    return seen_;
  }
  // Until the server closes.
  std::string read_all() {
    while (more()) {
    }
    return seen_;
  }
  bool was_closed() const { return is_closed_; }
  void forget() { seen_.clear(); }
  void close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }

 private:
  bool more() {
    pollfd wait{socket_, POLLIN, 0};
    char bytes[16384];
    if (::poll(&wait, 1, kLong) <= 0) return false;
    const ssize_t n = ::recv(socket_, bytes, sizeof bytes, 0);
    is_closed_ = n <= 0;
    if (n > 0) seen_.append(bytes, static_cast<std::size_t>(n));
    return n > 0;
  }

  int socket_;
  bool is_connected_ = false;
  bool is_closed_ = false;
  std::string seen_;
};

inline std::string get(const std::string& path, const std::string& fields = {}) {
  return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + fields + "Connection: close\r\n\r\n";
}
inline std::string post(const std::string& path, const std::string& body, const std::string& fields = {}) {
  return "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n" + fields + "Connection: close\r\n\r\n" + body;
}

// The status of an answer; 0: it is none.
inline int status_of(std::string_view answer) {
  constexpr std::string_view begin = "HTTP/1.1 ";
  return answer.starts_with(begin) ? std::atoi(std::string(answer.substr(begin.size(), 3)).c_str()) : 0;
}
// Its body, with its chunks put together.
inline std::string body_of(const std::string& answer) {
  const std::size_t end = answer.find("\r\n\r\n");
  if (end == std::string::npos) return {};
  std::string body = answer.substr(end + 4);
  if (answer.substr(0, end).find("Transfer-Encoding: chunked") == std::string::npos) return body;
  std::string whole;
  for (std::size_t at = 0; at < body.size();) {
    const std::size_t line = body.find("\r\n", at);
    if (line == std::string::npos) break;
    const std::size_t size = std::stoul(body.substr(at, line - at), nullptr, 16);
    whole += body.substr(line + 2, size);
    at = line + 2 + size + 2;
    if (size == 0) break;
  }
  return whole;
}

// One request, one answer.
inline std::string ask(std::uint16_t port, const std::string& request) {
  RawClient client(port);
  client.send(request);
  return client.read_all();
}

}  // namespace fovea::tests
