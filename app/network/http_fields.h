// Header fields of HTTP as values. Everything comes from a server and is believed only when it is
// well-formed.
#pragma once

#include <QUrl>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fovea::app {

inline constexpr int max_redirects = 5;  // that a request follows

// "bytes 0-99/1234": first and last byte, and the whole length, -1 where it is "*". "bytes */1234", the
// answer to a range that cannot be had, has first and last -1.
struct ContentRange {
  std::int64_t first = -1;
  std::int64_t last = -1;
  std::int64_t total = -1;
};
std::optional<ContentRange> parse_content_range(std::string_view field);

// Retry-After in seconds or as a date of HTTP; never negative. now: seconds since 1970.
std::optional<std::int64_t> parse_retry_after(std::string_view field, std::int64_t now_s);

// The address of rel="next" in a Link field; empty where there is none.
std::string next_link(std::string_view field);

// The entity tag without quotes; empty where it is weak (W/"…"), since a weak one does not promise equal
// bytes.
std::string strong_etag(std::string_view field);
// The same without regard to weakness: the hub's X-Linked-Etag is a name of the content.
std::string plain_etag(std::string_view field);

// Scheme, host and port are the same: what may see the same secrets.
bool same_origin(const QUrl& a, const QUrl& b);

// Whether a secret may travel to this address: over TLS, or without leaving the machine.
bool may_carry_token(const QUrl& url);

// The address for people and logs: no user, no password, no query (signatures stand there).
std::string shown(const QUrl& url);

}  // namespace fovea::app
