// The program's log. A category is a folder's name ("runtime", "checkpoint", "app").
//
//   log::info("runtime", "prefill of ", count, " tokens took ", seconds, " s");
//
// Writing never waits for a disk: lines go through a bounded queue to one thread, and the oldest give way
// when it is full. Before start() and after stop() lines are dropped. Safe from any thread.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "engine/api/error.h"

namespace fovea::log {

enum class Level : std::uint8_t { debug, info, warning, error, off };

struct Settings {
  std::filesystem::path file;  // empty: no file
  Level file_level = Level::info;
  Level stderr_level = Level::off;
  std::int64_t file_bytes = 4 << 20;  // then it is rotated
  int files = 3;                      // kept, the current one included
};

// Opens the file (its folder must exist). Replaces what an earlier call set.
Result<void> start(const Settings&);
// Writes what is queued, then closes.
void stop();

bool enabled(Level);
void write(Level, std::string_view category, std::string_view text);

namespace detail {

inline void append(std::string& out, std::string_view text) {
  out += text;
}
inline void append(std::string& out, char character) {
  out += character;
}
// A template, so that text does not convert to bool.
template <std::same_as<bool> Flag>
void append(std::string& out, Flag value) {
  out += value ? "true" : "false";
}
template <class Number>
  requires(!std::same_as<Number, bool> && (std::integral<Number> || std::floating_point<Number>))
void append(std::string& out, Number value) {
  char digits[32];
  std::to_chars_result end;
  if constexpr (std::floating_point<Number>) {
    end = std::to_chars(digits, digits + sizeof(digits), value, std::chars_format::general, 6);
  } else {
    end = std::to_chars(digits, digits + sizeof(digits), value);
  }
  out.append(digits, end.ptr);
}

template <class... Parts>
void line(Level level, std::string_view category, const Parts&... parts) {
  if (!enabled(level)) return;
  std::string text;
  (append(text, parts), ...);
  write(level, category, text);
}

}  // namespace detail

template <class... Parts>
void debug(std::string_view category, const Parts&... parts) {
  detail::line(Level::debug, category, parts...);
}
template <class... Parts>
void info(std::string_view category, const Parts&... parts) {
  detail::line(Level::info, category, parts...);
}
template <class... Parts>
void warning(std::string_view category, const Parts&... parts) {
  detail::line(Level::warning, category, parts...);
}
template <class... Parts>
void error(std::string_view category, const Parts&... parts) {
  detail::line(Level::error, category, parts...);
}

}  // namespace fovea::log
