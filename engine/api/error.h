// Errors are values: a code with a kind to act on and typed arguments, where it was, and what to do about it.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/api/sentence.h"

namespace fovea {

// In English "where: what. advice": for example
//   model.gguf, offset 1204: the tensor count is 9223372036854775807, the file can hold at most 31.
//   Download the file again.
struct Error {
  ErrorKind kind = ErrorKind::internal;
  Phrase where;   // file and offset, line, option, device; may be empty
  Phrase what;    // the error's code and arguments
  Phrase advice;  // in place of the code's own advice

  bool is(const Code& code) const { return what.is(code); }
  // The whole number that the sentence calls so; nothing: it has none.
  std::optional<std::int64_t> number(std::string_view name) const;
  // The file or folder that it is about.
  std::optional<std::filesystem::path> file() const;

  Error at(Phrase place) && {
    where = std::move(place);
    return std::move(*this);
  }
  Error advise(Phrase what_to_do) && {
    advice = std::move(what_to_do);
    return std::move(*this);
  }
  bool has_advice() const { return !advice.empty() || (!what.empty() && !what.code->advice.empty()); }

  std::string message(const Wording& wording = Wording()) const;
  std::string where_words(const Wording& wording = Wording()) const { return wording.words(where); }
  std::string what_words(const Wording& wording = Wording()) const { return wording.words(what); }
  std::string advice_words(const Wording& wording = Wording()) const {
    return advice.empty() ? wording.advice_words(what) : wording.words(advice);
  }

  bool operator==(const Error&) const = default;
};

template <class T>
using Result = std::expected<T, Error>;

}  // namespace fovea

// A row of the table of errors, in a folder's errors.h, within namespace fovea::errors:
//   FOVEA_ERROR(format, tensor_count, "the tensor count is {count}, the file can hold at most {limit}",
//               "Download the file again");
// makes errors::tensor_count(count, limit), which is an Error, and errors::tensor_count.code. Its id is its
// name, so that one name may stand in the whole program only once; tests/structure and the build see to it.
#define FOVEA_ERROR(kind_, name_, text_, advice_)                                                           \
  struct name_##_error {                                                                                    \
    static constexpr Code code{#name_, text_, advice_, ErrorKind::kind_};                                   \
    template <class... Arguments>                                                                           \
    Error operator()(Arguments... arguments) const {                                                        \
      constexpr ArgumentNames names(code);                                                                  \
      static_assert(names.is_sound, "a brace is open");                                                     \
      static_assert(names.count == sizeof...(Arguments), "the sentence names another number of arguments"); \
      return {ErrorKind::kind_, {}, Phrase(&code, {as_argument(std::move(arguments))...}), {}};             \
    }                                                                                                       \
  };                                                                                                        \
  inline constexpr name_##_error name_ {}

// Likewise a piece of a sentence: a place, an expectation, an enumerator's word, an advice that varies.
//   FOVEA_PHRASE(option_place, "{option}");  makes phrases::option_place(option), a Phrase.
#define FOVEA_PHRASE(name_, text_)                                                                          \
  struct name_##_phrase {                                                                                   \
    static constexpr Code code{#name_, text_, "", ErrorKind::internal};                                     \
    template <class... Arguments>                                                                           \
    Phrase operator()(Arguments... arguments) const {                                                       \
      constexpr ArgumentNames names(code);                                                                  \
      static_assert(names.is_sound, "a brace is open");                                                     \
      static_assert(names.count == sizeof...(Arguments), "the sentence names another number of arguments"); \
      return Phrase(&code, {as_argument(std::move(arguments))...});                                         \
    }                                                                                                       \
  };                                                                                                        \
  inline constexpr name_##_phrase name_ {}
