// Shorthands for returning errors.
#pragma once

#include <string>
#include <utility>

#include "engine/api/error.h"

namespace fovea {

// where: a phrase of engine/api/errors.h or of the folder's errors.h.
inline std::unexpected<Error> fail(Phrase where, Error error) {
  return std::unexpected(std::move(error).at(std::move(where)));
}

inline std::unexpected<Error> fail(Error error) {
  return std::unexpected(std::move(error));
}

}  // namespace fovea

#define FOVEA_CONCAT_INNER(a, b) a##b
#define FOVEA_CONCAT(a, b) FOVEA_CONCAT_INNER(a, b)

// FOVEA_TRY(auto x, f());  declares x from the value of a Result, or returns its error.
#define FOVEA_TRY(declaration, expression) \
  FOVEA_TRY_NAMED(FOVEA_CONCAT(fovea_result_, __LINE__), declaration, expression)
#define FOVEA_TRY_NAMED(name, declaration, expression)        \
  auto name = (expression);                                   \
  if (!name) return std::unexpected(std::move(name).error()); \
  declaration = *std::move(name)

// FOVEA_CHECK(f());  returns the error of a Result<void>.
#define FOVEA_CHECK(expression)                                \
  do {                                                         \
    if (auto fovea_status = (expression); !fovea_status)       \
      return std::unexpected(std::move(fovea_status).error()); \
  } while (false)
