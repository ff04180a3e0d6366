#include "engine/api/sentence.h"

#include <cstdio>
#include <utility>

#include "engine/api/error.h"

namespace fovea {
namespace {

// The argument as a count, for the choice between one and many.
bool is_one(const Argument& argument) {
  if (const auto* number = std::get_if<std::int64_t>(&argument)) return *number == 1;
  if (const auto* number = std::get_if<std::uint64_t>(&argument)) return *number == 1;
  return false;
}

const std::filesystem::path* first_path(const Phrase& phrase) {
  for (const Argument& argument : phrase.arguments) {
    if (const auto* path = std::get_if<std::filesystem::path>(&argument)) return path;
    const auto* list = std::get_if<std::vector<Phrase>>(&argument);
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i)
      if (const auto* path = first_path((*list)[i])) return path;
  }
  return nullptr;
}

template <class List, class Show>
std::string joined(const List& list, const Show& show) {
  std::string text;
  for (const auto& each : list) text += (text.empty() ? "" : ", ") + show(each);
  return text;
}

}  // namespace

const Argument* Phrase::find(std::string_view name) const {
  if (code == nullptr) return nullptr;
  const std::size_t i = ArgumentNames(*code).find(name);
  return i < arguments.size() ? &arguments[i] : nullptr;
}

bool Phrase::operator==(const Phrase& other) const {
  if (empty() || other.empty()) return empty() == other.empty();
  return is(*other.code) && arguments == other.arguments;
}

std::string size_text(std::int64_t bytes) {
  const char* const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  int unit = 0;
  for (; unit < 4 && (value >= 999.5 || value <= -999.5); ++unit) value /= 1024;
  const double size = value < 0 ? -value : value;
  const int decimals = unit == 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  char text[32];
  std::snprintf(text, sizeof text, "%.*f %s", decimals, value, units[unit]);
  return text;
}

std::string Wording::number(double value, int decimals) const {
  char text[400];
  decimals < 0 ? std::snprintf(text, sizeof text, "%g", value)
               : std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

std::string Wording::shown(const Argument& argument) const {
  struct {
    const Wording& wording;
    std::string operator()(std::int64_t value) const { return wording.number(value); }
    std::string operator()(std::uint64_t value) const { return wording.number(value); }
    std::string operator()(double value) const { return wording.number(value); }
    std::string operator()(const Bytes& bytes) const { return wording.size(bytes.count); }
    std::string operator()(const Said& said) const { return said.words; }
    std::string operator()(const std::string& name) const { return name; }
    std::string operator()(const std::filesystem::path& path) const { return path.string(); }
    std::string operator()(const std::vector<std::int64_t>& list) const {
      return joined(list, [](std::int64_t each) { return std::to_string(each); });
    }
    std::string operator()(const std::vector<std::string>& list) const {
      return joined(list, [](const std::string& each) { return each; });
    }
    std::string operator()(const std::vector<Phrase>& list) const {
      return joined(list, [this](const Phrase& each) { return wording.words(each); });
    }
  } const show{*this};
  return std::visit(show, argument);
}

std::string Wording::fill(const Phrase& phrase, std::string_view pattern) const {
  std::string out;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '{') {
      out += pattern[i];
      continue;
    }
    const std::size_t end = pattern.find('}', i);
    if (pattern.substr(i + 1, 1) == "{" || end == std::string_view::npos) {
      out += '{';
      i += pattern.substr(i + 1, 1) == "{" ? 1 : 0;
      continue;
    }
    const std::string_view inside = pattern.substr(i + 1, end - i - 1);
    const std::size_t colon = inside.find(':');
    const std::string_view how = colon == std::string_view::npos ? "" : inside.substr(colon + 1);
    const std::size_t bar = how.find('|');
    i = end;
    const Argument* argument = phrase.find(inside.substr(0, colon));
    if (argument == nullptr) continue;
    if (bar != std::string_view::npos) {
      out += is_one(*argument) ? how.substr(0, bar) : how.substr(bar + 1);
    } else if (const auto* bytes = std::get_if<Bytes>(argument); bytes != nullptr && how == "exact") {
      out += number(bytes->count);
    } else if (const auto* real = std::get_if<double>(argument); real != nullptr && how.starts_with('.')) {
      out += number(*real, how[1] - '0');
    } else {
      out += shown(*argument);
    }
  }
  return out;
}

std::optional<std::int64_t> Error::number(std::string_view name) const {
  const Argument* argument = what.find(name);
  if (argument == nullptr) return std::nullopt;
  if (const auto* value = std::get_if<std::int64_t>(argument)) return *value;
  if (const auto* value = std::get_if<std::uint64_t>(argument); value && std::in_range<std::int64_t>(*value))
    return static_cast<std::int64_t>(*value);
  if (const auto* bytes = std::get_if<Bytes>(argument)) return bytes->count;
  return std::nullopt;
}

std::optional<std::filesystem::path> Error::file() const {
  for (const Phrase* phrase : {&where, &what})
    if (const auto* path = first_path(*phrase)) return *path;
  return std::nullopt;
}

std::string Error::message(const Wording& wording) const {
  std::string text = where_words(wording);
  text += (text.empty() ? "" : ": ") + what_words(wording);
  if (const std::string what_to_do = advice_words(wording); !what_to_do.empty()) text += ". " + what_to_do;
  return text;
}

}  // namespace fovea
