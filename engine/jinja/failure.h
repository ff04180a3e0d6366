// How lexer, parser and evaluator give up; caught at the module's door and turned into an Error.
#pragma once

#include <string>
#include <utility>

#include "engine/api/error.h"

namespace fovea::jinja {

struct Failure {
  ErrorKind kind = ErrorKind::format;
  int line = 0;
  std::string what;
  std::string advice;
};

[[noreturn]] inline void fail_at(int line, std::string what, ErrorKind kind = ErrorKind::format) {
  throw Failure{kind, line, std::move(what), {}};
}

}  // namespace fovea::jinja
