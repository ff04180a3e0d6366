#include "app/network/http_fields.h"

#include <QDateTime>
#include <QHostAddress>
#include <QLocale>
#include <algorithm>
#include <charconv>

namespace fovea::app {
namespace {

constexpr std::int64_t max_wait_s = 365 * 24 * 3600;

std::string_view trimmed(std::string_view text) {
  const auto from = text.find_first_not_of(" \t");
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(" \t") - from + 1);
}

// Only digits, and a value that fits.
std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool begins_with_word(std::string_view text, std::string_view word) {
  return text.size() >= word.size() && std::equal(word.begin(), word.end(), text.begin(), [](char a, char b) {
           return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b + 32) : b);
         });
}

}  // namespace

std::optional<ContentRange> parse_content_range(std::string_view field) {
  field = trimmed(field);
  if (!begins_with_word(field, "bytes ")) return std::nullopt;
  field = trimmed(field.substr(6));
  const auto slash = field.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view range = field.substr(0, slash), total = field.substr(slash + 1);
  ContentRange found;
  if (total != "*") {
    const auto value = number(total);
    if (!value) return std::nullopt;
    found.total = *value;
  }
  if (range == "*") return found.total >= 0 ? std::optional(found) : std::nullopt;
  const auto dash = range.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto first = number(range.substr(0, dash)), last = number(range.substr(dash + 1));
  if (!first || !last || *last < *first || (found.total >= 0 && *last >= found.total)) return std::nullopt;
  found.first = *first;
  found.last = *last;
  return found;
}

std::optional<std::int64_t> parse_retry_after(std::string_view field, std::int64_t now_s) {
  field = trimmed(field);
  if (const auto seconds = number(field)) return std::min(*seconds, max_wait_s);
  if (field.size() > 64) return std::nullopt;
  QDateTime date = QLocale::c().toDateTime(QString::fromLatin1(field.data(), static_cast<int>(field.size())),
                                           QStringLiteral("ddd, dd MMM yyyy hh:mm:ss 'GMT'"));
  if (!date.isValid()) return std::nullopt;
  date.setTimeSpec(Qt::UTC);
  return std::clamp<std::int64_t>(date.toSecsSinceEpoch() - now_s, 0, max_wait_s);
}

std::string next_link(std::string_view field) {
  while (!field.empty()) {
    const auto open = field.find('<');
    if (open == std::string_view::npos) return {};
    const auto close = field.find('>', open);
    if (close == std::string_view::npos) return {};
    const std::string_view address = field.substr(open + 1, close - open - 1);
    const auto next = field.find('<', close);
    const std::string_view parameters =
        field.substr(close + 1, next == std::string_view::npos ? next : next - close - 1);
    if (parameters.find("rel=\"next\"") != std::string_view::npos ||
        parameters.find("rel=next") != std::string_view::npos)
      return std::string(address);
    field = next == std::string_view::npos ? std::string_view() : field.substr(next);
  }
  return {};
}

std::string plain_etag(std::string_view field) {
  field = trimmed(field);
  if (field.starts_with("W/")) field.remove_prefix(2);
  if (field.size() < 2 || field.front() != '"' || field.back() != '"') return {};
  field = field.substr(1, field.size() - 2);
  constexpr std::size_t longest = 256;
  const bool clean = std::ranges::all_of(field, [](char c) { return c > 0x20 && c < 0x7F && c != '"'; });
  return clean && field.size() <= longest ? std::string(field) : std::string();
}

std::string strong_etag(std::string_view field) {
  return trimmed(field).starts_with("W/") ? std::string() : plain_etag(field);
}

bool same_origin(const QUrl& a, const QUrl& b) {
  const auto port = [](const QUrl& url) {
    return url.port(url.scheme() == QLatin1String("https") ? 443 : 80);
  };
  return a.scheme() == b.scheme() && a.host().compare(b.host(), Qt::CaseInsensitive) == 0 &&
         port(a) == port(b);
}

bool may_carry_token(const QUrl& url) {
  if (url.scheme() == QLatin1String("https")) return true;
  return url.host() == QLatin1String("localhost") || QHostAddress(url.host()).isLoopback();
}

std::string shown(const QUrl& url) {
  return url.toString(QUrl::RemoveUserInfo | QUrl::RemoveQuery | QUrl::RemoveFragment).toStdString();
}

}  // namespace fovea::app
