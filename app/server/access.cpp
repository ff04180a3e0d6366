#include "app/server/access.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <ifaddrs.h>
#include <memory>
#include <net/if.h>
#include <random>
#include <span>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "app/files/files.h"
#include "app/server/errors.h"
#include "engine/core/file_descriptor.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

// "localhost:11435", "[::1]:80" without the port.
std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) return host.substr(0, std::min(host.find(']'), host.size() - 1) + 1);
  return host.substr(0, host.find(':'));
}

std::string_view given_key(const HttpRequest& head) {
  const std::string_view authorization = head.field("Authorization");
  constexpr std::string_view bearer = "bearer ";
  if (authorization.size() > bearer.size() && lower(authorization.substr(0, bearer.size())) == bearer)
    return authorization.substr(bearer.size());
  return head.field("x-api-key");
}

bool is_ours(std::string_view host, const AccessRules& rules) {
  const std::string name = lower(without_port(host));
  // No name that a web page's owner can point here is one of these.
  const bool is_number =
      name.starts_with('[') || (!name.empty() && name.find_first_not_of("0123456789.") == std::string::npos);
  return is_loopback(name) || (rules.any_address && is_number) ||
         std::ranges::find(rules.hosts, name) != rules.hosts.end();
}

}  // namespace

Result<AccessRules> rules_for(const std::string& host, std::string key) {
  AccessRules rules{.key = std::move(key)};
  if (is_loopback(host)) return rules;
  if (rules.key.empty()) return std::unexpected(errors::server_needs_key());
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) == 0) rules.hosts = {lower(name), lower(name) + ".local"};
  rules.any_address = host == "0.0.0.0" || host == "::";
  if (!rules.any_address) rules.hosts.push_back(host.contains(':') ? "[" + lower(host) + "]" : host);
  return rules;
}

bool is_loopback(std::string_view host) {
  const bool is_ipv4 =
      host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string_view::npos;
  return is_ipv4 || host == "localhost" || host == "::1" || host == "[::1]";
}

std::optional<Refusal> check_access(const HttpRequest& head, const AccessRules& rules) {
  const auto hosts =
      std::ranges::count_if(head.fields, [](const HttpField& each) { return lower(each.name) == "host"; });
  if (hosts > 1) return Refusal{400, "there is more than one Host"};
  // Without a Host it is HTTP/1.0, which no browser speaks.
  const std::string_view host = head.field("Host");
  if (hosts == 1 && !is_ours(host, rules))
    return Refusal{421, "this server is not known by the name in Host; start it with --host to give it one"};
  if (head.has_field("Origin")) {
    const std::string origin = lower(head.field("Origin"));
    if (host.empty() || (origin != "http://" + lower(host) && origin != "https://" + lower(host)))
      return Refusal{403, "web pages of other sites may not ask this server"};
  }
  if (rules.key.empty() || head.path == "/health") return std::nullopt;
  if (equal_in_constant_time(given_key(head), rules.key)) return std::nullopt;
  return Refusal{401, "the key is missing or wrong: send it as Authorization: Bearer, or as x-api-key"};
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  // As many steps whatever a is: the length of a key is no secret.
  unsigned different = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const volatile char theirs = i < a.size() ? a[i] : '\0';
    different |= static_cast<unsigned char>(theirs) ^ static_cast<unsigned char>(b[i]);
  }
  return different == 0;
}

Result<std::string> read_key(const std::filesystem::path& file) {
  constexpr std::int64_t limit_bytes = 4096;
  constexpr std::size_t min_key = 16, max_key = 512;
  const Phrase place = phrases::file_place(file);
  FOVEA_TRY(std::string text, read_file(file, limit_bytes));
  struct stat facts{};
  const bool others_read = ::stat(file.c_str(), &facts) != 0 || (facts.st_mode & (S_IRWXG | S_IRWXO)) != 0;
  if (others_read) return fail(place, errors::server_open_key(file.string()));
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  const bool is_printable = std::ranges::all_of(text, [](char c) { return c > ' ' && c < 127; });
  if (text.size() < min_key || text.size() > max_key || !is_printable)
    return fail(place, errors::server_bad_key());
  return text;
}

// Written beside it and renamed, so that it is there whole or not at all.
Result<void> write_key(const std::filesystem::path& file, const std::string& key) {
  const std::filesystem::path partial = file.string() + ".new";
  const auto failed = [&](int code) {
    ::unlink(partial.c_str());
    return fail(phrases::file_place(file), errors::server_key_not_written(Said{system_message(code)}));
  };
  ::unlink(partial.c_str());
  {
    const FileDescriptor opened(::open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!opened) return failed(errno);
    const std::string line = key + "\n";
    if (const int code = opened.write_at(0, std::as_bytes(std::span(line)))) return failed(code);
    if (::fsync(opened.number()) != 0) return failed(errno);
  }
  if (const int code = rename_durably(partial, file)) return failed(code);
  return {};
}

std::string make_key() {
  constexpr std::string_view digits = "0123456789abcdef";
  constexpr int bits = 256;
  std::random_device random;  // the system's
  std::string key = "fovea-";
  for (int i = 0; i < bits / 32; ++i) {
    auto word = static_cast<std::uint32_t>(random());
    for (int digit = 0; digit < 8; ++digit, word >>= 4) key += digits[word & 15];
  }
  return key;
}

std::string address_here() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, ::freeifaddrs);
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    const bool is_other = (each->ifa_flags & IFF_UP) != 0 && (each->ifa_flags & IFF_LOOPBACK) == 0;
    if (!is_other || each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET) continue;
    char text[INET_ADDRSTRLEN] = {};
    sockaddr_in address{};
    std::memcpy(&address, each->ifa_addr, sizeof address);
    if (::inet_ntop(AF_INET, &address.sin_addr, text, sizeof text) != nullptr) return text;
  }
  return {};
}

}  // namespace fovea::app
