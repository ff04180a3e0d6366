// Errors are values: a kind to act on, and a sentence in three parts for people.
#pragma once

#include <cstdint>
#include <expected>
#include <string>

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

// "where: what. advice": for example
//   model.gguf, offset 1204: the tensor count is 9223372036854775807, the file can hold at most 31.
//   Download the file again.
struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string where;   // file and offset, line, argument
  std::string what;    // what was found and what was expected
  std::string advice;  // what the user can do

  std::string message() const {
    std::string text = where.empty() ? what : where + ": " + what;
    if (!advice.empty()) text += ". " + advice;
    return text;
  }
};

template <class T>
using Result = std::expected<T, Error>;

}  // namespace fovea
