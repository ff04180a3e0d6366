#include "app/server/experts_client.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <iterator>
#include <memory>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

#include "app/server/errors.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

Result<FileDescriptor> open_socket(int family, const sockaddr* address, socklen_t size,
                                   const std::string& shown) {
  FileDescriptor socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return fail(phrases::name_place(shown), errors::server_gone(Said{system_message(errno)}));
  if (::connect(socket.number(), address, size) != 0 && errno != EINPROGRESS)
    return fail(phrases::name_place(shown), errors::server_gone(Said{system_message(errno)}));
  return socket;
}

Result<FileDescriptor> open_door(const ExpertsAddress& address) {
  sockaddr_un there{};
  there.sun_family = AF_UNIX;
  const std::string& path = address.door.native();
  if (path.size() >= sizeof there.sun_path)
    return fail(phrases::name_place(address.shown), errors::server_gone(Said{system_message(ENAMETOOLONG)}));
  std::memcpy(there.sun_path, path.data(), path.size());
  return open_socket(AF_UNIX, reinterpret_cast<const sockaddr*>(&there), sizeof there, address.shown);
}

Result<FileDescriptor> open_connection(const ExpertsAddress& address) {
  addrinfo wanted{};
  wanted.ai_flags = AI_NUMERICSERV;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (const int code =
          ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &wanted, &list);
      code != 0)
    return fail(phrases::name_place(address.shown), errors::server_gone(Said{::gai_strerror(code)}));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> found(list, ::freeaddrinfo);
  return open_socket(found->ai_family, found->ai_addr, found->ai_addrlen, address.shown);
}

std::string request_of(const ExpertsAddress& address, const std::string& key) {
  const bool is_six = address.host.find(':') != std::string::npos;
  const std::string host = address.host.empty() ? "localhost"
                           : is_six             ? "[" + address.host + "]"
                                                : address.host;
  std::string request = "GET /fovea/experts HTTP/1.1\r\nHost: " + host +
                        (address.port > 0 ? ":" + std::to_string(address.port) : "") +
                        "\r\nAccept: text/event-stream\r\n";
  if (!key.empty()) request += "Authorization: Bearer " + key + "\r\n";
  return request + "\r\n";
}

bool is_host(std::string_view text) {
  return !text.empty() && text.size() <= 253 &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:%") ==
             std::string_view::npos;
}

}  // namespace

Result<ExpertsAddress> read_address(const std::string& text) {
  std::string_view rest = text;
  if (rest.starts_with('/') || rest.starts_with("./"))
    return ExpertsAddress{.door = text, .shown = std::filesystem::path(text).filename()};
  constexpr std::string_view scheme = "http://";
  if (rest.starts_with(scheme)) rest.remove_prefix(scheme.size());
  while (rest.ends_with('/')) rest.remove_suffix(1);
  ExpertsAddress address{.host = "127.0.0.1", .port = 11435};
  std::string_view port;
  const auto is_number = [](std::string_view digits) {
    return !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (is_number(rest)) {
    port = rest;
  } else if (const std::size_t end = rest.find(']'); rest.starts_with('[') && end != std::string_view::npos) {
    address.host = rest.substr(1, end - 1);
    if (rest.size() > end + 1) port = rest[end + 1] == ':' ? rest.substr(end + 2) : "?";
  } else {
    const std::size_t colon = rest.rfind(':');
    address.host = rest.substr(0, colon);
    if (colon != std::string_view::npos) port = rest.substr(colon + 1);
    if (address.host.find(':') != std::string::npos) address.host.clear();  // IPv6 stands in brackets
  }
  if (!port.empty()) {
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
    if (error != std::errc() || end != port.data() + port.size() || address.port == 0) address.host.clear();
  }
  if (!is_host(address.host)) return fail(phrases::name_place(text), errors::server_bad_address());
  const bool is_six = address.host.find(':') != std::string::npos;
  address.shown = (is_six ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
  return address;
}

ExpertsClient::ExpertsClient(FileDescriptor socket, std::string request, std::string shown)
    : socket_(std::move(socket)), unsent_(std::move(request)), shown_(std::move(shown)) {}

Result<ExpertsClient> ExpertsClient::start(const ExpertsAddress& address, const std::string& key) {
  FOVEA_TRY(FileDescriptor socket, address.door.empty() ? open_connection(address) : open_door(address));
  return ExpertsClient(std::move(socket), request_of(address, key), address.shown);
}

Result<std::vector<std::string>> ExpertsClient::go_on() {
  const Phrase place = phrases::name_place(shown_);
  const auto is_early = [] { return errno == EAGAIN || errno == EINTR || errno == ENOTCONN; };
  if (!unsent_.empty()) {
    const ssize_t sent = ::send(socket_.number(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
    if (sent > 0) unsent_.erase(0, static_cast<std::size_t>(sent));
    if (sent < 0 && !is_early()) return fail(place, errors::server_gone(Said{system_message(errno)}));
    return {};
  }
  if (stream_.has_ended()) return fail(place, errors::server_ended());
  std::vector<std::string> events;
  std::array<char, std::size_t{64} << 10> bytes;
  // As much as there is, but not for ever.
  for (int i = 0; i < 64; ++i) {
    const ssize_t got = ::recv(socket_.number(), bytes.data(), bytes.size(), 0);
    if (got < 0 && is_early()) break;
    if (got < 0) return fail(place, errors::server_gone(Said{system_message(errno)}));
    if (got == 0 && !events.empty()) break;  // and it ends with the next call
    if (got == 0 && stream_.has_begun() && !stream_.is_open()) return fail(place, errors::server_no_events());
    if (got == 0) return fail(place, errors::server_ended());
    auto more = stream_.read({bytes.data(), static_cast<std::size_t>(got)});
    if (!more) return fail(place, std::move(more).error());
    std::ranges::move(*more, std::back_inserter(events));
    if (stream_.has_ended()) break;
  }
  return events;
}

}  // namespace fovea::app
