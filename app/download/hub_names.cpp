#include "app/download/hub_names.h"

#include <algorithm>
#include <string>

#include "app/files/files.h"

namespace fovea::app {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool is_hex(std::string_view text, std::size_t length) {
  return text.size() == length &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_name(std::string_view name) {
  constexpr std::size_t longest = 96;
  if (name.empty() || name.size() > longest || !is_word(name.front()) || !is_word(name.back())) return false;
  if (name.find("--") != name.npos || name.find("..") != name.npos || name.ends_with(".git")) return false;
  return std::ranges::all_of(name, [](char c) { return is_word(c) || c == '-' || c == '.'; });
}

// No part is empty, "." or "..".
bool stays_inside(std::string_view path) {
  while (true) {
    const auto slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part.empty() || part == "." || part == ".." || part.size() > 255) return false;
    if (slash == path.npos) return true;
    path.remove_prefix(slash + 1);
  }
}

}  // namespace

bool is_repository_id(std::string_view id) {
  const auto slash = id.find('/');
  if (slash == id.npos) return is_name(id);
  return is_name(id.substr(0, slash)) && is_name(id.substr(slash + 1));
}

bool is_revision(std::string_view revision) {
  constexpr std::size_t longest = 200;
  return revision.size() <= longest && stays_inside(revision) && !revision.starts_with('-') &&
         std::ranges::all_of(revision, [](char c) { return is_word(c) || c == '-' || c == '.' || c == '/'; });
}

bool is_repository_path(std::string_view path) {
  constexpr std::size_t longest = 1024;
  if (path.size() > longest || !stays_inside(path)) return false;
  const bool plain = std::ranges::none_of(path, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7F || c == '\\';
  });
  return plain && invalid_utf8(path) == std::string_view::npos;
}

bool is_commit(std::string_view text) {
  return is_hex(text, 40);
}

bool is_sha256(std::string_view text) {
  return is_hex(text, 64);
}

}  // namespace fovea::app
