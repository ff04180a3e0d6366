// Sentences as data: a code that says which one, and typed arguments for what varies in it. Words are made
// where they are shown: in English from the code itself (`english`), in another language by another Wording.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace fovea {

enum class ErrorKind : std::uint8_t {
  not_found,     // a file, a name, a device that is not there
  io,            // the system refused a read, a write, a mapping
  format,        // a file is damaged or is not what it says
  unsupported,   // well-formed, but something Fovea does not do (architecture, type, option)
  invalid,       // an argument is out of range
  memory,        // not enough of it
  context_full,  // the conversation does not fit the context
  device,        // the device failed and is of no use any more: its driver says why
  cancelled,     // somebody asked to stop
  internal,      // a bug
};

// A row of the table of sentences. FOVEA_ERROR and FOVEA_PHRASE (error.h) make them, in each folder's
// errors.h.
//
// In `text` and `advice` stand
//   {name}            an argument; the first time that a name stands there counts the arguments: 0, 1, …
//   {name:exact}      a size as its number of bytes
//   {name:.2}         a number with so many decimals
//   {name:one|many}   a word for a number: the first for 1, the second else
//   {{                an opening brace
struct Code {
  std::string_view id;      // what translations are keyed by
  std::string_view text;    // what was found and what was expected, without a full stop
  std::string_view advice;  // what the user can do; may be empty
  ErrorKind kind;
};

// A size, shown as "3.25 GiB".
struct Bytes {
  std::int64_t count = 0;
  bool operator==(const Bytes&) const = default;
};

// What the system, a driver, a server or a file's author said, in their words. Never translated.
struct Said {
  std::string words;
  bool operator==(const Said&) const = default;
};

struct Phrase;

// std::string: a name (of a tensor, an option, a tier, a device …), never a sentence. Lists are joined by
// commas.
using Argument =
    std::variant<std::int64_t, std::uint64_t, double, Bytes, Said, std::string, std::filesystem::path,
                 std::vector<std::int64_t>, std::vector<std::string>, std::vector<Phrase>>;

// A sentence, or a piece of one.
struct Phrase {
  const Code* code = nullptr;  // lives for ever; nullptr: nothing is said
  std::vector<Argument> arguments;

  Phrase() = default;
  Phrase(const Code* which, std::vector<Argument> what_varies);

  bool empty() const { return code == nullptr; }
  bool is(const Code& other) const { return code != nullptr && code->id == other.id; }
  // The argument that the sentence calls so; nullptr: it has none.
  const Argument* find(std::string_view name) const;
  bool operator==(const Phrase& other) const;
};

inline Phrase::Phrase(const Code* which, std::vector<Argument> what_varies)
    : code(which), arguments(std::move(what_varies)) {}

// "3.25 GiB", "512 MiB", "77 KiB": three digits.
std::string size_text(std::int64_t bytes);

// Makes sentences of phrases; as it stands, in English.
class Wording {
 public:
  virtual ~Wording() = default;

  std::string words(const Phrase& phrase) const {
    return phrase.empty() ? "" : fill(phrase, text(*phrase.code));
  }
  // The advice of the phrase's code.
  std::string advice_words(const Phrase& phrase) const {
    return phrase.empty() ? "" : fill(phrase, advice(*phrase.code));
  }

 protected:
  virtual std::string text(const Code& code) const { return std::string(code.text); }
  virtual std::string advice(const Code& code) const { return std::string(code.advice); }
  virtual std::string number(std::int64_t value) const { return std::to_string(value); }
  virtual std::string number(std::uint64_t value) const { return std::to_string(value); }
  virtual std::string number(double value,
                             int decimals = -1) const;  // -1: as many as it takes, at most six digits
  virtual std::string size(std::int64_t bytes) const { return size_text(bytes); }

 private:
  std::string fill(const Phrase& phrase, std::string_view pattern) const;
  std::string shown(const Argument& argument) const;
};

inline std::string english(const Phrase& phrase) {
  return Wording().words(phrase);
}
inline std::vector<std::string> english(const std::vector<Phrase>& phrases) {
  std::vector<std::string> sentences;
  for (const Phrase& phrase : phrases) sentences.push_back(english(phrase));
  return sentences;
}

// The names in a code's sentences, in the order of its arguments.
struct ArgumentNames {
  static constexpr std::size_t max_count = 16;
  std::array<std::string_view, max_count> names;
  std::size_t count = 0;
  bool is_sound = true;  // every brace that opens closes, and the names are few enough

  constexpr explicit ArgumentNames(const Code& code) {
    read(code.text);
    read(code.advice);
  }

  // count: there is no such name.
  constexpr std::size_t find(std::string_view name) const {
    std::size_t i = 0;
    while (i < count && names[i] != name) ++i;
    return i;
  }

 private:
  constexpr void read(std::string_view pattern) {
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      if (pattern[i] != '{') continue;
      if (pattern.substr(i + 1, 1) == "{") {
        ++i;
        continue;
      }
      const std::size_t end = pattern.find('}', i);
      if (end == std::string_view::npos) {
        is_sound = false;
        return;
      }
      std::string_view name = pattern.substr(i + 1, end - i - 1);
      name = name.substr(0, name.find(':'));
      if (find(name) == count) {
        if (count == max_count || name.empty()) {
          is_sound = false;
          return;
        }
        names[count++] = name;
      }
      i = end;
    }
  }
};

// What may be put into a sentence.
inline Argument as_argument(std::string value) {
  return value;
}
inline Argument as_argument(std::string_view value) {
  return std::string(value);
}
inline Argument as_argument(const char* value) {
  return std::string(value);
}
template <class T>
  requires std::same_as<T, std::filesystem::path> || std::same_as<T, Bytes> || std::same_as<T, Said> ||
           std::same_as<T, std::vector<std::int64_t>> || std::same_as<T, std::vector<std::string>> ||
           std::same_as<T, std::vector<Phrase>>
Argument as_argument(T value) {
  return value;
}
template <std::integral T>
  requires(!std::same_as<T, bool> && !std::same_as<T, char>)
Argument as_argument(T value) {
  if constexpr (std::signed_integral<T>) {
    return static_cast<std::int64_t>(value);
  } else {
    return static_cast<std::uint64_t>(value);
  }
}
template <std::floating_point T>
Argument as_argument(T value) {
  return static_cast<double>(value);
}
template <std::same_as<Phrase> T>
Argument as_argument(T value) {
  return std::vector<Phrase>{std::move(value)};
}
// An enumerator, by the phrase_of() of its namespace.
template <class T>
  requires std::is_enum_v<T>
Argument as_argument(T value) {
  return as_argument(phrase_of(value));
}

}  // namespace fovea
