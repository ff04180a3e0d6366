// What to do about an error of a model's file, where its reader has left it open.
#pragma once

#include <utility>

#include "engine/api/error.h"

namespace fovea {

inline Error with_file_advice(Error error) {
  if (error.has_advice()) return error;
  if (error.kind == ErrorKind::format) error.advice = "The file is damaged or cut off: download it again";
  if (error.kind == ErrorKind::unsupported)
    error.advice = "Choose another model, or another version of this one";
  return error;
}

}  // namespace fovea
