// What to do about an error of a model's file, where its reader has left it open.
#pragma once

#include <utility>

#include "engine/core/errors.h"

namespace fovea {

inline Error with_file_advice(Error error) {
  if (error.has_advice()) return error;
  if (error.kind == ErrorKind::format) error.advice = phrases::damaged_or_cut_off();
  if (error.kind == ErrorKind::unsupported) error.advice = phrases::choose_another_model();
  return error;
}

}  // namespace fovea
