#include "app/server/http.h"

#include <algorithm>
#include <charconv>

namespace fovea::app {
namespace {

char lower_letter(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    const char* const digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(digits, digits + 2, value, 16).ptr == digits + 2) {
      decoded += static_cast<char>(value);
      i += 2;
    } else {
      decoded += text[i] == '+' ? ' ' : text[i];
    }
  }
  return decoded;
}

}  // namespace

std::string lower(std::string_view text) {
  std::string copy(text);
  std::ranges::transform(copy, copy.begin(), lower_letter);
  return copy;
}

std::string_view HttpRequest::field(std::string_view name) const {
  for (const HttpField& each : fields)
    if (std::ranges::equal(each.name, name, {}, lower_letter, lower_letter)) return each.value;
  return {};
}

bool HttpRequest::has_field(std::string_view name) const {
  return std::ranges::any_of(fields, [&](const HttpField& each) {
    return std::ranges::equal(each.name, name, {}, lower_letter, lower_letter);
  });
}

const char* reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 421:
      return "Misdirected Request";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    default:
      return "Status";
  }
}

std::optional<std::string> query_value(std::string_view query, std::string_view key) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    const std::size_t equals = pair.find('=');
    if (percent_decoded(pair.substr(0, equals)) != key) continue;
    return equals == std::string_view::npos ? std::string() : percent_decoded(pair.substr(equals + 1));
  }
  return std::nullopt;
}

}  // namespace fovea::app
